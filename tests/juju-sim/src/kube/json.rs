//! Nodes and pods as the API server writes them, with fields that most readers do not look at.

use serde_json::{Map, Value, json};

use super::model::{Part, Pod};
use crate::world::{Machine, Time, World};

/// What the server answers to a list.
pub(super) fn list(items: Vec<Value>) -> Value {
    json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}})
}

/// A UID that stays the same for one name.
fn uid(name: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in name.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    let low = hash & 0xffff_ffff_ffff;
    format!("{:08x}-{:04x}-4{:03x}-9f02-{low:012x}", hash >> 32, hash >> 16 & 0xffff, hash & 0xfff)
}

fn condition(kind: &str, status: &str, reason: &str, message: &str, now: Time) -> Value {
    json!({
        "lastHeartbeatTime": now.rfc3339(), "lastTransitionTime": Time::START.rfc3339(),
        "message": message, "reason": reason, "status": status, "type": kind,
    })
}

/// A node.
pub(super) fn node(world: &World, name: &str, machine: &Machine) -> Value {
    let (ready, reason, message) = machine.readiness();
    let mut labels = Map::new();
    for (key, value) in [
        ("beta.kubernetes.io/arch", machine.arch.as_str()),
        ("kubernetes.io/arch", &machine.arch),
        ("kubernetes.io/hostname", name),
        ("kubernetes.io/os", "linux"),
    ] {
        labels.insert(key.to_owned(), value.into());
    }
    let role = if machine.part() == Part::ControlPlane { "control-plane" } else { "worker" };
    labels.insert(format!("node-role.kubernetes.io/{role}"), "".into());
    let version = machine.kubelet_version();
    let silent = ready == "Unknown";
    let pressure = |kind: &str, reason: &str, message: &str| match silent {
        true => condition(
            kind,
            "Unknown",
            "NodeStatusUnknown",
            "Kubelet stopped posting node status.",
            world.clock,
        ),
        false => condition(kind, "False", reason, message, world.clock),
    };
    let mut spec = Map::new();
    if ready != "True" {
        let word = if silent { "unreachable" } else { "not-ready" };
        let taint = json!({"effect": "NoSchedule", "key": format!("node.kubernetes.io/{word}")});
        spec.insert("taints".to_owned(), json!([taint]));
    }
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "creationTimestamp": Time::START.rfc3339(),
            "labels": labels,
            "name": name,
            "resourceVersion": (world.clock.0 / 1000).to_string(),
            "uid": uid(name),
        },
        "spec": spec,
        "status": {
            "addresses": [
                {"address": machine.address, "type": "InternalIP"},
                {"address": name, "type": "Hostname"},
            ],
            "allocatable": {"cpu": "4", "ephemeral-storage": "18246644784", "memory": "7990612Ki", "pods": "110"},
            "capacity": {"cpu": "4", "ephemeral-storage": "19798876Ki", "memory": "8093012Ki", "pods": "110"},
            "conditions": [
                pressure("MemoryPressure", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
                pressure("DiskPressure", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
                pressure("PIDPressure", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
                condition("Ready", ready, &reason, &message, world.clock),
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "images": [],
            "nodeInfo": {
                "architecture": machine.arch,
                "bootID": uid(&format!("boot {} of {name}", machine.boots)),
                "containerRuntimeVersion": "containerd://1.7.12",
                "kernelVersion": "6.8.0-51-generic",
                "kubeProxyVersion": version,
                "kubeletVersion": version,
                "machineID": uid(&machine.id).replace('-', ""),
                "operatingSystem": "linux",
                "osImage": "Ubuntu 22.04.5 LTS",
                "systemUUID": uid(&format!("system of {name}")),
            },
        },
    })
}

/// A pod of `kube-system`, on the node of that name.
pub(super) fn pod(pod: &Pod, node: &str, address: &str) -> Value {
    let scheduled = pod.phase != "Pending" || pod.waiting.is_some();
    let finished = pod.phase == "Succeeded" || (pod.phase == "Failed" && pod.reason.is_none());
    let began = Time::START.rfc3339();
    let containers: Vec<Value> = (0..pod.containers)
        .map(|number| {
            let ready = number < pod.ready();
            let over = |code: u8, reason: &str| {
                json!({"terminated": {
                    "containerID": format!("containerd://{}", uid(&pod.name)), "exitCode": code,
                    "finishedAt": began, "reason": reason, "startedAt": began,
                }})
            };
            let state = match (&pod.waiting, pod.phase.as_str()) {
                (Some(reason), _) if !ready => json!({"waiting": {
                    "message": format!("back-off restarting failed container of {}", pod.name), "reason": reason,
                }}),
                (_, "Succeeded") => over(0, "Completed"),
                (_, "Failed") => over(1, "Error"),
                (_, _) => json!({"running": {"startedAt": began}}),
            };
            json!({
                "containerID": format!("containerd://{}", uid(&format!("{number} of {}", pod.name))),
                "image": "rocks.canonical.com/cdk/pause:3.9", "imageID": "", "lastState": {},
                "name": format!("c{number}"), "ready": ready, "restartCount": pod.restarts,
                "started": ready, "state": state,
            })
        })
        .collect();
    let truth = |is: bool| if is { "True" } else { "False" };
    let mut conditions = Vec::new();
    let all = pod.ready() == pod.containers;
    if scheduled && (pod.phase != "Failed" || finished) {
        for (kind, is) in [("Initialized", true), ("Ready", all), ("ContainersReady", all)] {
            let mut one = json!({
                "lastProbeTime": null, "lastTransitionTime": began, "status": truth(is), "type": kind,
            });
            if let (false, Some(one)) = (is, one.as_object_mut()) {
                let reason = if pod.phase == "Succeeded" { "PodCompleted" } else { "ContainersNotReady" };
                one.insert("reason".to_owned(), reason.into());
            }
            conditions.push(one);
        }
    }
    let mut one = json!({
        "lastProbeTime": null, "lastTransitionTime": began, "status": truth(scheduled), "type": "PodScheduled",
    });
    if let (false, Some(one)) = (scheduled, one.as_object_mut()) {
        one.insert("reason".to_owned(), pod.reason.as_deref().unwrap_or("Unschedulable").into());
        one.insert("message".to_owned(), "0/1 nodes are available: 1 Insufficient cpu.".into());
    }
    conditions.push(one);
    let names = (0..pod.containers)
        .map(|number| json!({"image": "rocks.canonical.com/cdk/pause:3.9", "name": format!("c{number}")}));
    let mut spec = json!({
        "containers": names.collect::<Vec<_>>(), "dnsPolicy": "ClusterFirst",
        "restartPolicy": if finished { "Never" } else { "Always" }, "serviceAccountName": "default",
    });
    let mut status = json!({"conditions": conditions, "phase": pod.phase, "qosClass": "Burstable"});
    if let (true, Some(spec), Some(status)) = (scheduled, spec.as_object_mut(), status.as_object_mut()) {
        spec.insert("nodeName".to_owned(), node.into());
        status.insert("hostIP".to_owned(), address.into());
        status.insert("startTime".to_owned(), began.as_str().into());
        if pod.phase != "Failed" || finished {
            status.insert("containerStatuses".to_owned(), containers.into());
        }
        if let Some(reason) = &pod.reason {
            status.insert("reason".to_owned(), reason.as_str().into());
        }
    }
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "creationTimestamp": began,
            "labels": {"pod-template-hash": "59b8f9c7d"},
            "name": pod.name,
            "namespace": "kube-system",
            "resourceVersion": "1211",
            "uid": uid(&pod.name),
        },
        "spec": spec,
        "status": status,
    })
}
