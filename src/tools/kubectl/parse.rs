//! Nodes and pods as the API server writes them in JSON. Only what is used is read; a field that is
//! absent or null is one that says nothing.

use crate::kube::{Node, Pods, Trouble, TroubleKind};
use crate::tools::line::line;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;

/// Characters of an error that quotes an answer.
const ERROR_LIMIT: usize = 100;

#[derive(Deserialize)]
struct List<T> {
    items: Option<Vec<T>>,
}

#[derive(Deserialize)]
struct RawNode {
    metadata: Metadata,
    status: Option<NodeStatus>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    name: String,
    labels: Option<BTreeMap<String, String>>,
    deletion_timestamp: Option<String>,
}

#[derive(Default, Deserialize)]
struct NodeStatus {
    addresses: Option<Vec<Address>>,
    conditions: Option<Vec<Condition>>,
}

#[derive(Deserialize)]
struct Address {
    address: Option<String>,
    r#type: Option<String>,
}

#[derive(Deserialize)]
struct Condition {
    r#type: Option<String>,
    status: Option<String>,
    reason: Option<String>,
}

#[derive(Deserialize)]
struct RawPod {
    metadata: Metadata,
    status: Option<PodStatus>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PodStatus {
    phase: Option<String>,
    reason: Option<String>,
    conditions: Option<Vec<Condition>>,
    init_container_statuses: Option<Vec<Container>>,
    container_statuses: Option<Vec<Container>>,
}

#[derive(Deserialize)]
struct Container {
    ready: Option<bool>,
    state: Option<ContainerState>,
}

#[derive(Deserialize)]
struct ContainerState {
    waiting: Option<Waiting>,
    terminated: Option<Terminated>,
}

#[derive(Deserialize)]
struct Waiting {
    reason: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Terminated {
    exit_code: Option<i64>,
    reason: Option<String>,
}

/// Reads `get nodes`: by name.
pub fn parse_nodes(json: &[u8]) -> Result<Vec<Node>, Trouble> {
    let list: List<RawNode> = read(json)?;
    let mut nodes: Vec<Node> = list.items.unwrap_or_default().into_iter().map(node).collect();
    nodes.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(nodes)
}

/// Reads `get node NAME`.
pub fn parse_node(json: &[u8]) -> Result<Node, Trouble> {
    read(json).map(node)
}

/// Reads `get pods`.
pub fn parse_pods(json: &[u8]) -> Result<Pods, Trouble> {
    let list: List<RawPod> = read(json)?;
    let pods = list.items.unwrap_or_default();
    let count = pods.len();
    let mut troubled: Vec<(String, String)> =
        pods.into_iter().filter_map(|pod| Some((pod.metadata.name.clone(), trouble(&pod)?))).collect();
    troubled.sort();
    Ok(Pods { count, troubled })
}

fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, Trouble> {
    serde_json::from_slice(json).map_err(|error| Trouble {
        kind: TroubleKind::NotUnderstood,
        text: format!("answer not understood: {}", line(&error.to_string(), ERROR_LIMIT)),
    })
}

fn node(raw: RawNode) -> Node {
    let status = raw.status.unwrap_or_default();
    let is = |what: &Option<String>, name: &str| what.as_deref() == Some(name);
    let addresses = status.addresses.unwrap_or_default().into_iter();
    let condition = status.conditions.unwrap_or_default().into_iter().find(|one| is(&one.r#type, "Ready"));
    Node {
        name: raw.metadata.name,
        host: raw.metadata.labels.and_then(|mut labels| labels.remove("kubernetes.io/hostname")),
        addresses: addresses
            .filter(|one| is(&one.r#type, "InternalIP"))
            .filter_map(|one| one.address)
            .collect(),
        ready: condition.as_ref().is_some_and(|one| is(&one.status, "True")),
        reason: condition
            .and_then(|one| one.reason.or(one.status))
            .unwrap_or_else(|| "NoCondition".to_owned()),
    }
}

/// Why a pod does not run as it should; none where it does, has ended well, or is on its way out. A pod
/// that its node gave up (`Evicted`, `Shutdown`: it has a reason of its own) was replaced by then.
fn trouble(pod: &RawPod) -> Option<String> {
    let none = PodStatus::default();
    let status = pod.status.as_ref().unwrap_or(&none);
    let phase = status.phase.as_deref().unwrap_or("Unknown");
    if phase == "Succeeded" || pod.metadata.deletion_timestamp.is_some() {
        return None;
    }
    if phase == "Failed" {
        return if status.reason.is_some() { None } else { Some(phase.to_owned()) };
    }
    let containers = status.container_statuses.as_deref().unwrap_or_default();
    let starting = status.init_container_statuses.as_deref().unwrap_or_default();
    if phase == "Running" && !containers.is_empty() && containers.iter().all(Container::is_fine) {
        return None;
    }
    let stuck = starting.iter().chain(containers).filter(|one| !one.is_fine()).find_map(Container::reason);
    let unscheduled = || {
        let all = status.conditions.iter().flatten();
        let mut open = all.filter(|one| one.status.as_deref() == Some("False"));
        open.find(|one| one.r#type.as_deref() == Some("PodScheduled"))?.reason.clone()
    };
    let otherwise = if phase == "Running" { "NotReady" } else { phase };
    Some(stuck.or_else(|| status.reason.clone()).or_else(unscheduled).unwrap_or_else(|| otherwise.to_owned()))
}

impl Container {
    /// Ready, or ended as it should.
    fn is_fine(&self) -> bool {
        let ended = self.state.as_ref().and_then(|state| state.terminated.as_ref());
        self.ready == Some(true) || ended.is_some_and(|ended| ended.exit_code == Some(0))
    }

    fn reason(&self) -> Option<String> {
        let state = self.state.as_ref()?;
        let waiting = state.waiting.as_ref().and_then(|waiting| waiting.reason.clone());
        waiting.or_else(|| state.terminated.as_ref()?.reason.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn pod(status: Value) -> Value {
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "namespace": "kube-system"}, "status": status})
    }

    fn told(status: Value) -> Option<String> {
        let text = json!({"kind": "List", "items": [pod(status)]}).to_string();
        parse_pods(text.as_bytes()).unwrap().troubled.pop().map(|(_, why)| why)
    }

    fn container(ready: bool, state: Value) -> Value {
        json!({"name": "c", "ready": ready, "restartCount": 4, "state": state, "lastState": {}})
    }

    #[test]
    fn a_pod_is_fine_when_all_its_containers_are_or_it_has_ended() {
        let running = json!({"running": {"startedAt": "2025-11-05T12:00:00Z"}});
        let waits = |reason: &str| json!({"waiting": {"reason": reason, "message": "back-off"}});
        let ended = |code: i64, reason: &str| json!({"terminated": {"exitCode": code, "reason": reason}});
        let good = container(true, running.clone());
        let table = [
            (json!({"phase": "Running", "containerStatuses": [good, good]}), None),
            (
                json!({"phase": "Running", "containerStatuses": [good, container(false, ended(0, "Completed"))]}),
                None,
            ),
            (
                json!({"phase": "Running", "containerStatuses": [good, container(false, waits("CrashLoopBackOff"))]}),
                Some("CrashLoopBackOff"),
            ),
            (json!({"phase": "Running", "containerStatuses": [container(false, running)]}), Some("NotReady")),
            (
                json!({"phase": "Running", "containerStatuses": [container(false, ended(1, "Error"))]}),
                Some("Error"),
            ),
            (json!({"phase": "Running"}), Some("NotReady")),
            (
                json!({"phase": "Succeeded", "containerStatuses": [container(false, ended(0, "Completed"))]}),
                None,
            ),
            (json!({"phase": "Failed", "reason": "Evicted"}), None),
            (
                json!({"phase": "Failed", "containerStatuses": [container(false, ended(1, "Error"))]}),
                Some("Failed"),
            ),
            (
                json!({"phase": "Pending", "conditions": [
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}),
                Some("Unschedulable"),
            ),
            (
                json!({"phase": "Pending", "containerStatuses": [container(false, waits("PodInitializing"))],
                    "initContainerStatuses": [container(false, waits("ImagePullBackOff"))]}),
                Some("ImagePullBackOff"),
            ),
            (json!({"phase": "Pending", "conditions": null, "containerStatuses": null}), Some("Pending")),
            (json!({}), Some("Unknown")),
        ];
        for (status, expected) in table {
            assert_eq!(told(status.clone()).as_deref(), expected, "{status}");
        }
        let leaving =
            json!({"items": [{"metadata": {"name": "p", "deletionTimestamp": "2025-11-05T12:00:00Z"}}]});
        assert_eq!(parse_pods(leaving.to_string().as_bytes()).unwrap(), Pods { count: 1, troubled: vec![] });
    }

    #[test]
    fn a_node_is_ready_only_if_it_says_so() {
        let node = |conditions: Value| {
            let text = json!({"kind": "Node", "metadata": {"name": "n", "labels": {"kubernetes.io/hostname": "h"}},
                "status": {"addresses": [{"type": "Hostname", "address": "n"}, {"type": "InternalIP", "address": "10.0.0.1"}],
                    "conditions": conditions}});
            parse_node(text.to_string().as_bytes()).unwrap()
        };
        let ready = node(json!([
            {"type": "MemoryPressure", "status": "False", "reason": "KubeletHasSufficientMemory"},
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status"},
        ]));
        assert_eq!(
            (ready.ready, ready.reason.as_str(), ready.host.as_deref()),
            (true, "KubeletReady", Some("h"))
        );
        assert_eq!(ready.addresses, ["10.0.0.1"]);
        for (conditions, reason) in [
            (json!([{"type": "Ready", "status": "False", "reason": "KubeletNotReady"}]), "KubeletNotReady"),
            (json!([{"type": "Ready", "status": "Unknown"}]), "Unknown"),
            (json!([{"type": "Ready", "status": null, "reason": null}]), "NoCondition"),
            (json!(null), "NoCondition"),
        ] {
            let node = node(conditions);
            assert_eq!((node.ready, node.reason.as_str()), (false, reason));
        }
        let bare = parse_node(br#"{"metadata": {"name": "n", "labels": null}}"#).unwrap();
        assert_eq!((bare.ready, bare.addresses.len()), (false, 0));
    }

    #[test]
    fn what_is_no_list_is_not_understood_and_an_empty_one_is_empty() {
        for text in ["", "ok", "{\"items\": [{}]}", "{\"items\": 3}", "[]"] {
            assert_eq!(parse_nodes(text.as_bytes()).unwrap_err().kind, TroubleKind::NotUnderstood, "{text}");
        }
        for text in ["{}", "{\"items\": null}", "{\"items\": []}"] {
            assert_eq!(parse_nodes(text.as_bytes()).unwrap(), []);
            assert_eq!(parse_pods(text.as_bytes()).unwrap(), Pods::default());
        }
    }

    #[test]
    fn thousands_of_pods_are_read_and_the_troubled_ones_told_in_order() {
        let one = |number: usize| {
            let ready = !number.is_multiple_of(1000);
            json!({"metadata": {"name": format!("p{number:04}")}, "spec": {"containers": [{"name": "c"}]},
                "status": {"phase": "Running", "containerStatuses": [{"ready": ready, "state": {"running": {}}}]}})
        };
        let all: Vec<Value> = (0..5000).rev().map(one).collect();
        let pods = parse_pods(json!({"items": all}).to_string().as_bytes()).unwrap();
        let names: Vec<&str> = pods.troubled.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!((pods.count, names), (5000, vec!["p0000", "p1000", "p2000", "p3000", "p4000"]));
    }
}
