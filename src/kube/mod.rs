//! What a Kubernetes cluster shows of itself: nodes, pods, and why it shows nothing. No I/O.

use std::fmt;

/// A node, as far as anything here looks at it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its host name, where it tells one (the label `kubernetes.io/hostname`).
    pub host: Option<String>,
    /// Its addresses of the type InternalIP.
    pub addresses: Vec<String>,
    /// Whether its condition Ready holds.
    pub ready: bool,
    /// The reason of that condition in one word, such as `KubeletNotReady`.
    pub reason: String,
}

impl Node {
    /// Whether it is the node of a machine with that host name, or else with that address. A cloud may
    /// name a node in its own way, so an address counts where no name does.
    pub fn is_named(&self, host: &str) -> bool {
        self.name == host || self.host.as_deref() == Some(host)
    }

    /// Whether it is reached at that address.
    pub fn has_address(&self, address: &str) -> bool {
        self.addresses.iter().any(|own| own == address)
    }
}

/// The node of a machine: by its host name, else by its address.
pub fn find<'a>(nodes: &'a [Node], host: Option<&str>, address: Option<&str>) -> Option<&'a Node> {
    let named = host.and_then(|host| nodes.iter().find(|node| node.is_named(host)));
    named.or_else(|| address.and_then(|address| nodes.iter().find(|node| node.has_address(address))))
}

/// The pods of one namespace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pods {
    /// How many there are.
    pub count: usize,
    /// Those that do not run as they should, by name, each with the reason in one word.
    pub troubled: Vec<(String, String)>,
}

/// Why the cluster shows nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// Of what kind it is.
    pub kind: TroubleKind,
    /// In a few words that are the same each time.
    pub text: String,
}

/// What kind of trouble there is with a question to the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// There is no `kubectl`.
    NoKubectl,
    /// Nobody listens where the API server should be.
    Refused,
    /// The API server answers, and says that it is not ready.
    NotReady,
    /// The bearer of the kubeconfig may not read it.
    Forbidden,
    /// There is no such thing.
    NotFound,
    /// The kubeconfig is not accepted.
    Unauthorized,
    /// No answer in time, or no way there.
    NoAnswer,
    /// The answer is not in a form that is known.
    NotUnderstood,
    /// Anything else.
    Other,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, host: Option<&str>, address: &str) -> Node {
        let host = host.map(str::to_owned);
        Node {
            name: name.to_owned(),
            host,
            addresses: vec![address.to_owned()],
            ready: true,
            reason: String::new(),
        }
    }

    #[test]
    fn a_node_is_found_by_its_name_its_host_name_or_else_its_address() {
        let nodes = [
            node("a", None, "10.0.0.1"),
            node("b.cloud", Some("b"), "10.0.0.2"),
            node("c", None, "10.0.0.3"),
        ];
        let found = |host, address| find(&nodes, host, address).map(|node| node.name.as_str());
        assert_eq!(found(Some("a"), Some("10.0.0.3")), Some("a"));
        assert_eq!(found(Some("b"), None), Some("b.cloud"));
        assert_eq!(found(Some("x"), Some("10.0.0.3")), Some("c"));
        assert_eq!(found(None, Some("10.0.0.30")), None);
        assert_eq!(found(None, None), None);
    }
}
