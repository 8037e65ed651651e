//! What `kubectl` means by what it prints on standard error: the one place that knows its words
//! (kubernetes/kubernetes `staging/src/k8s.io/kubectl/pkg/cmd/util/helpers.go`, 1.24 to 1.32).
//! What is not known keeps its last line.

use crate::kube::{Trouble, TroubleKind};
use crate::tools::line::line;

/// Characters of an unknown error that are kept.
const KEPT: usize = 100;

/// Part of an error, its kind, and what is said instead: the same each time, and short.
const KNOWN: [(&str, TroubleKind, &str); 13] = [
    ("(Forbidden)", TroubleKind::Forbidden, "the kubeconfig may not read it"),
    ("(NotFound)", TroubleKind::NotFound, "not found"),
    ("(Unauthorized)", TroubleKind::Unauthorized, "the kubeconfig is not accepted"),
    // With the server's own words in the parentheses.
    ("You must be logged in to the server", TroubleKind::Unauthorized, "the kubeconfig is not accepted"),
    ("certificate signed by unknown authority", TroubleKind::Unauthorized, "its certificate is not accepted"),
    ("connection refused", TroubleKind::Refused, "connection refused"),
    ("was refused - did you specify", TroubleKind::Refused, "connection refused"),
    ("Client.Timeout", TroubleKind::NoAnswer, "no answer in time"),
    ("context deadline exceeded", TroubleKind::NoAnswer, "no answer in time"),
    ("i/o timeout", TroubleKind::NoAnswer, "no answer in time"),
    ("(Timeout)", TroubleKind::NoAnswer, "no answer in time"),
    ("no such file or directory", TroubleKind::Other, "the kubeconfig is not there"),
    ("Unable to connect to the server", TroubleKind::NoAnswer, "cannot be reached"),
];

/// The trouble that these words tell.
pub fn classify(stderr: &str) -> Trouble {
    if stderr.contains("readyz check failed") {
        return Trouble { kind: TroubleKind::NotReady, text: failed_checks(stderr) };
    }
    let known = KNOWN.iter().find(|(part, _, _)| stderr.contains(part));
    if let Some((_, kind, text)) = known {
        return Trouble { kind: *kind, text: (*text).to_owned() };
    }
    let mut lines = stderr.lines().rev().map(|text| line(text, KEPT));
    let last = lines.find(|line| !line.is_empty()).unwrap_or_else(|| "it says nothing".to_owned());
    Trouble { kind: TroubleKind::Other, text: last }
}

/// `etcd failed` of `[+]ping ok\n[-]etcd failed: reason withheld\n...`.
fn failed_checks(stderr: &str) -> String {
    let failed = stderr.split("[-]").skip(1).filter_map(|part| part.split_whitespace().next());
    let failed: Vec<&str> = failed.take(3).collect();
    if failed.is_empty() {
        "not ready".to_owned()
    } else {
        line(&format!("{} failed", failed.join(", ")), KEPT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_says_is_told_apart() {
        use TroubleKind as K;
        let refused = "E1105 12:00:00.218431   20831 memcache.go:265] couldn't get current server API group list: \
                       Get \"https://127.0.0.1:6443/api?timeout=32s\": dial tcp 127.0.0.1:6443: connect: connection \
                       refused\nThe connection to the server 127.0.0.1:6443 was refused - did you specify the right \
                       host or port?\n";
        let table = [
            (refused, K::Refused, "connection refused"),
            (
                "Error from server (InternalError): an error on the server (\"[+]ping ok\\n[-]etcd failed: reason \
                 withheld\\n[-]poststarthook/rbac failed: reason withheld\\nreadyz check failed\") has prevented the \
                 request from succeeding\n",
                K::NotReady,
                "etcd, poststarthook/rbac failed",
            ),
            (
                "Error from server (Forbidden): nodes is forbidden: User \"system:node:x\" cannot list resource \
                 \"nodes\" in API group \"\" at the cluster scope\n",
                K::Forbidden,
                "the kubeconfig may not read it",
            ),
            ("Error from server (NotFound): nodes \"x\" not found\n", K::NotFound, "not found"),
            (
                "error: You must be logged in to the server (Unauthorized)\n",
                K::Unauthorized,
                "the kubeconfig is not accepted",
            ),
            (
                "error: You must be logged in to the server (the server has asked for the client to provide \
                 credentials)\n",
                K::Unauthorized,
                "the kubeconfig is not accepted",
            ),
            (
                "Unable to connect to the server: net/http: request canceled (Client.Timeout exceeded while awaiting \
                 headers)\n",
                K::NoAnswer,
                "no answer in time",
            ),
            (
                "Unable to connect to the server: dial tcp 10.1.255.1:6443: connect: no route to host\n",
                K::NoAnswer,
                "cannot be reached",
            ),
            ("error: stat /root/x: no such file or directory\n", K::Other, "the kubeconfig is not there"),
            ("first\nerror: something new\n\n", K::Other, "error: something new"),
            ("", K::Other, "it says nothing"),
        ];
        for (stderr, kind, text) in table {
            assert_eq!(classify(stderr), Trouble { kind, text: text.to_owned() }, "{stderr}");
        }
    }
}
