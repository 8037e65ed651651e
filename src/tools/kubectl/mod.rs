//! One function per question to the API server. Nothing is decided here.
//!
//! `kubectl` is found through `PATH`, or else `k8s kubectl` is asked, which the snap k8s brings along.
//! All questions of one pass share a few seconds: a hook holds the machine's lock. The client is told
//! of the limit as well, so that it can say itself what it waited for.

mod classify;
mod parse;

pub use classify::classify;
pub use parse::{parse_node, parse_nodes, parse_pods};

use super::{Call, Exit, Manner, Output, Runner, ToolError};
use crate::kube::{Node, Pods, Trouble, TroubleKind};
use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

/// For all questions of one pass together.
const BUDGET: Duration = Duration::from_secs(10);
/// A node is written in 10 to 30 KiB, a pod in 5 to 20: thousands of them fit.
const OUTPUT_LIMIT: usize = 64 << 20;
/// Another cluster must not be meant by accident.
const VARIABLES: [(&str, Option<&str>); 2] = [("LC_ALL", Some("C.UTF-8")), ("KUBECONFIG", None)];

/// The `kubectl` of this machine with one kubeconfig, for one pass.
#[derive(Debug)]
pub struct Kubectl {
    runner: Runner,
    kubeconfig: PathBuf,
    left: Cell<Duration>,
}

impl Kubectl {
    /// The command that this runner finds, with that kubeconfig and a full budget.
    pub fn new(runner: Runner, kubeconfig: impl Into<PathBuf>) -> Self {
        Self { runner, kubeconfig: kubeconfig.into(), left: Cell::new(BUDGET) }
    }

    /// Whether the API server says that it is ready.
    pub fn readyz(&self) -> Result<(), Trouble> {
        self.ask(&["get", "--raw=/readyz"]).map(|_| ())
    }

    /// All nodes, by name.
    pub fn nodes(&self) -> Result<Vec<Node>, Trouble> {
        parse_nodes(&self.ask(&["get", "nodes", "--output=json"])?)
    }

    /// One node. The name is one of a host, which cannot be taken for a flag.
    pub fn node(&self, name: &str) -> Result<Node, Trouble> {
        if !is_node_name(name) {
            let text = format!("{name:?} cannot be the name of a node");
            return Err(Trouble { kind: TroubleKind::NotFound, text });
        }
        parse_node(&self.ask(&["get", "node", name, "--output=json"])?)
    }

    /// The pods of `kube-system`.
    pub fn pods(&self) -> Result<Pods, Trouble> {
        parse_pods(&self.ask(&["get", "pods", "--namespace=kube-system", "--output=json"])?)
    }

    fn ask(&self, words: &[&str]) -> Result<Vec<u8>, Trouble> {
        let left = self.left.get();
        if left < Duration::from_secs(1) {
            return Err(silent());
        }
        let begin = self.runner.clock().ticks();
        let outcome = match self.run("kubectl", &[], words, left) {
            Err(ToolError::NotFound { .. }) => self.run("k8s", &["kubectl"], words, left),
            outcome => outcome,
        };
        let took = self.runner.clock().ticks().saturating_sub(begin);
        self.left.set(left.saturating_sub(took));
        match outcome {
            Ok(Output { exit: Exit::Status(0), stdout, .. }) => Ok(stdout),
            Ok(output) => Err(classify(&output.stderr)),
            Err(error) => Err(explained(&error)),
        }
    }

    fn run(
        &self,
        program: &str,
        before: &[&str],
        words: &[&str],
        left: Duration,
    ) -> Result<Output, ToolError> {
        let mut args: Vec<String> = before.iter().chain(words).map(|word| (*word).to_owned()).collect();
        args.push(format!("--kubeconfig={}", self.kubeconfig.display()));
        args.push(format!("--request-timeout={}s", left.as_secs().saturating_sub(1).max(1)));
        let manner = Manner { variables: &VARIABLES, ..Manner::default() };
        self.runner.run(&Call { program, args, input: None, limit: left, output_limit: OUTPUT_LIMIT, manner })
    }
}

fn silent() -> Trouble {
    Trouble { kind: TroubleKind::NoAnswer, text: "no answer in time".to_owned() }
}

fn explained(error: &ToolError) -> Trouble {
    match error {
        ToolError::NotFound { .. } => {
            Trouble { kind: TroubleKind::NoKubectl, text: "no kubectl in PATH".to_owned() }
        }
        ToolError::TimedOut { .. } => silent(),
        ToolError::NotUnderstood { why, .. } => {
            Trouble { kind: TroubleKind::NotUnderstood, text: why.clone() }
        }
        ToolError::Io { why, .. } => Trouble { kind: TroubleKind::Other, text: why.clone() },
        ToolError::Failed { stderr, .. } => classify(stderr),
    }
}

/// Names of nodes are those of DNS: lower case, digits, `-` and `.`, not at either end.
fn is_node_name(name: &str) -> bool {
    let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let outer = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    (1..=253).contains(&name.len())
        && name.chars().all(inner)
        && name.starts_with(outer)
        && name.ends_with(outer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_could_be_a_flag_is_none_of_a_node() {
        for name in ["juju-9d0c41-3", "ip-10-1-2-3.ec2.internal", "a", "7"] {
            assert!(is_node_name(name), "{name}");
        }
        for name in ["", "-A", "--all", "a b", "A", "a-", ".a", "a/b", &"a".repeat(254)] {
            assert!(!is_node_name(name), "{name}");
        }
    }

    #[test]
    fn without_any_kubectl_there_is_no_answer_and_no_fault() {
        let dir = tempfile::tempdir().unwrap();
        let runner = Runner::new(crate::tools::Clock::new("".as_ref()), dir.path(), "/");
        let kubectl = Kubectl::new(runner, "/root/.kube/config");
        assert_eq!(kubectl.readyz().unwrap_err().kind, TroubleKind::NoKubectl);
        assert_eq!(kubectl.node("--all").unwrap_err().kind, TroubleKind::NotFound);
    }
}
