use serde_json::Value;

use super::model::{Access, Api, ApiMore, ApiWord, Kubectl, NodeIs, NodeWord, Part, Pod};
use crate::snapd::{Client, Reply, Starter, Turn};
use crate::world::{Machine, Model, Time, Version, World};

/// A control plane on machine 0 with an admin's kubeconfig, a worker on machine 1 with its kubelet's.
fn cluster() -> World {
    let model = Model { name: "m".to_owned(), uuid: "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0C41".to_owned() };
    let mut world = World::new(Version::parse("3.6.9").unwrap(), model, 1);
    for (number, part) in [(0, Part::ControlPlane), (1, Part::Worker)] {
        let mut machine = Machine::new(number.to_string(), number);
        machine.kube.part = Some(part);
        machine.kube.kubectl = Kubectl::Present;
        world.machines.insert(number.to_string(), machine);
    }
    world.set_kubeconfig("0", None, Access::Admin);
    world.set_kubeconfig("1", None, Access::Node);
    world
}

/// Calls to the end; gives also how long it took.
fn timed(world: &mut World, machine: &str, line: &str) -> (Reply, u64) {
    let client = Client { machine: machine.to_owned(), columns: 80, by: Starter::default() };
    let args: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let begin = world.clock;
    let mut turn = super::call(world, &client, "kubectl", &args);
    loop {
        match turn {
            Turn::Done(reply) => return (reply, world.clock.0 - begin.0),
            Turn::Until(at, then) => {
                world.clock = at;
                turn = then(world);
            }
        }
    }
}

fn call(world: &mut World, machine: &str, line: &str) -> Reply {
    timed(world, machine, line).0
}

fn said(world: &mut World, machine: &str, line: &str) -> String {
    let reply = call(world, machine, line);
    assert_eq!((reply.code, reply.problem), (1, None), "{}", reply.stdout);
    reply.stderr.trim_end().to_owned()
}

fn json(world: &mut World, machine: &str, line: &str) -> Value {
    let reply = call(world, machine, line);
    assert_eq!((reply.code, reply.stderr.as_str(), reply.problem), (0, "", None));
    serde_json::from_str(&reply.stdout).unwrap()
}

fn of<'a>(world: &'a mut World, machine: &str) -> &'a mut super::KubeMachine {
    &mut world.machines.get_mut(machine).unwrap().kube
}

const ADMIN: &str = "--kubeconfig=/root/.kube/config --request-timeout=8s";
const NODE: &str = "--kubeconfig=/root/cdk/kubeconfig";

#[test]
fn nodes_are_named_by_their_hosts_and_ready_until_their_kubelet_is_not() {
    let mut world = cluster();
    let nodes = json(&mut world, "0", &format!("get nodes -o json {ADMIN}"));
    let names: Vec<&str> =
        nodes["items"].as_array().unwrap().iter().map(|n| n["metadata"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["juju-9d0c41-0", "juju-9d0c41-1"]);
    let ready = |world: &mut World| {
        let node = json(world, "0", &format!("get node juju-9d0c41-1 -o json {ADMIN}"));
        let conditions = node["status"]["conditions"].as_array().unwrap().clone();
        let ready = conditions.into_iter().find(|c| c["type"] == "Ready").unwrap();
        format!("{} {}", ready["status"].as_str().unwrap(), ready["reason"].as_str().unwrap())
    };
    assert_eq!(ready(&mut world), "True KubeletReady");
    of(&mut world, "1").node = NodeIs::Word(NodeWord::NotReady);
    assert_eq!(ready(&mut world), "False KubeletNotReady");
    of(&mut world, "1").node = NodeIs::AsItsKubelet;
    world.machines.get_mut("1").unwrap().up = false;
    assert_eq!(ready(&mut world), "Unknown NodeStatusUnknown");
    of(&mut world, "1").node = NodeIs::Word(NodeWord::Absent);
    assert_eq!(
        said(&mut world, "0", &format!("get node juju-9d0c41-1 -o json {ADMIN}")),
        "Error from server (NotFound): nodes \"juju-9d0c41-1\" not found"
    );
}

#[test]
fn a_kubelet_may_read_its_own_node_alone() {
    let mut world = cluster();
    let node = json(&mut world, "1", &format!("get node juju-9d0c41-1 -o json {NODE}"));
    assert_eq!(node["status"]["addresses"][0]["address"], "10.1.0.11");
    for (line, text) in [
        (
            "get nodes -o json",
            "nodes is forbidden: User \"system:node:juju-9d0c41-1\" cannot list resource \"nodes\" in API group \"\" at \
             the cluster scope: node 'juju-9d0c41-1' cannot read all nodes, only its own Node object",
        ),
        (
            "get node juju-9d0c41-0 -o json",
            "nodes \"juju-9d0c41-0\" is forbidden: User \"system:node:juju-9d0c41-1\" cannot get resource \"nodes\" in \
             API group \"\" at the cluster scope: node 'juju-9d0c41-1' cannot read 'juju-9d0c41-0', only its own Node \
             object",
        ),
        (
            "get pods -n kube-system -o json",
            "pods is forbidden: User \"system:node:juju-9d0c41-1\" cannot list resource \"pods\" in API group \"\" in the \
             namespace \"kube-system\": can only list/watch pods with spec.nodeName field selector",
        ),
    ] {
        let expected = format!("Error from server (Forbidden): {text}");
        assert_eq!(said(&mut world, "1", &format!("{line} {NODE}")), expected);
    }
    assert_eq!(call(&mut world, "1", &format!("get --raw /readyz {NODE}")).stdout, "ok");
}

#[test]
fn a_server_that_is_down_refuses_and_one_that_is_slow_is_given_up() {
    let mut world = cluster();
    let ready = format!("get --raw=/readyz {ADMIN}");
    of(&mut world, "0").api = Api::More(ApiMore::Failing(vec!["etcd".to_owned()]));
    assert_eq!(
        said(&mut world, "0", &ready),
        "Error from server (InternalError): an error on the server (\"[+]ping ok\\n[+]log ok\\n[-]etcd failed: reason \
         withheld\\n[+]informer-sync ok\\n[+]shutdown ok\\nreadyz check failed\") has prevented the request from \
         succeeding"
    );
    of(&mut world, "0").api = Api::Word(ApiWord::Down);
    let refused =
        "The connection to the server 127.0.0.1:6443 was refused - did you specify the right host or port?";
    assert_eq!(said(&mut world, "0", &ready), refused);
    let listed = said(&mut world, "0", &format!("get nodes -o json {ADMIN}"));
    assert!(listed.ends_with(refused) && listed.contains("memcache.go:265] couldn't get current server API"));
    assert!(
        said(&mut world, "1", &format!("get --raw=/readyz {NODE}"))
            .contains("server 10.1.0.10:6443 was refused")
    );
    of(&mut world, "0").api = Api::More(ApiMore::Slow(5));
    let (reply, took) = timed(&mut world, "0", &ready);
    assert_eq!((reply.stdout.as_str(), took), ("ok", 5000));
    of(&mut world, "0").api = Api::More(ApiMore::Slow(60));
    let (reply, took) = timed(&mut world, "0", &ready);
    assert_eq!((reply.code, took), (1, 8000));
    assert!(reply.stderr.contains("Client.Timeout exceeded while awaiting headers"));
}

#[test]
fn a_kubeconfig_is_needed_and_may_not_be_known() {
    let mut world = cluster();
    assert_eq!(
        said(&mut world, "0", "get nodes -o json --kubeconfig=/root/nope"),
        "error: stat /root/nope: no such file or directory"
    );
    world.set_kubeconfig("0", None, Access::Unauthorized);
    assert_eq!(
        said(&mut world, "0", &format!("get nodes -o json {ADMIN}")),
        "error: You must be logged in to the server (Unauthorized)"
    );
    let reply = call(&mut world, "0", "delete node juju-9d0c41-1 -o json");
    assert!(reply.problem.is_none(), "without a kubeconfig nothing is reached");
    world.set_kubeconfig("0", None, Access::Admin);
    assert!(call(&mut world, "0", &format!("delete node x -o json {ADMIN}")).problem.is_some());
}

#[test]
fn pods_are_what_the_scenario_says() {
    let mut world = cluster();
    let mut put = |pod: Pod| world.kube.pods.insert(pod.name.clone(), pod);
    put(Pod {
        name: "a".to_owned(),
        waiting: Some("CrashLoopBackOff".to_owned()),
        restarts: 7,
        ..Pod::default()
    });
    put(Pod { name: "b".to_owned(), phase: "Pending".to_owned(), ..Pod::default() });
    put(Pod { name: "c".to_owned(), phase: "Succeeded".to_owned(), ..Pod::default() });
    put(Pod {
        name: "d".to_owned(),
        phase: "Failed".to_owned(),
        reason: Some("Evicted".to_owned()),
        ..Pod::default()
    });
    let pods = json(&mut world, "0", &format!("get pods -n kube-system -o json {ADMIN}"));
    let shown: Vec<String> = pods["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| {
            let of = &pod["status"]["containerStatuses"][0];
            let waits = of["state"]["waiting"]["reason"].as_str().unwrap_or("-");
            format!("{} {} {} {waits}", pod["metadata"]["name"], pod["status"]["phase"], of["ready"])
        })
        .collect();
    assert_eq!(
        shown,
        [
            "\"a\" \"Running\" false CrashLoopBackOff",
            "\"b\" \"Pending\" null -",
            "\"c\" \"Succeeded\" false -",
            "\"coredns-59b8f9c7d-x2lqn\" \"Running\" true -",
            "\"d\" \"Failed\" null -",
            "\"metrics-server-6b8f9d7c4-9kqzd\" \"Running\" true -",
        ]
    );
    assert_eq!(world.clock, Time::START);
}
