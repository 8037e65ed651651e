//! The model in which a run begins: how many of what, and with which options.

use juju_sim::rng::Rng;

/// The model of one run.
#[derive(Debug)]
pub struct Model {
    /// The scenario that makes it, up to its steps.
    pub text: String,
    /// Version of the agents.
    pub juju: &'static str,
    /// Whether hooks of other machines run inside tool calls.
    pub interleave: bool,
    /// Principals that send data.
    pub senders: Vec<&'static str>,
    /// Where data go.
    pub receivers: Vec<Receiver>,
}

/// An application of COS: its name, its endpoint and ours.
pub type Receiver = (&'static str, &'static str, &'static str);

/// Every receiver.
const RECEIVERS: [Receiver; 3] = [
    ("prometheus", "receive-remote-write", "send-remote-write"),
    ("loki", "logging", "logging-consumer"),
    ("grafana", "grafana-dashboard", "grafana-dashboards-provider"),
];

/// The file that a principal sends.
pub fn file(sender: &str) -> &'static str {
    match sender {
        "kubernetes-control-plane" => "data/control-plane.json",
        "kubernetes-worker" => "data/worker.json",
        _ => "data/database.json",
    }
}

/// A principal unit sends what is good.
pub fn sends(unit: &str) -> String {
    let sender = unit.split('/').next().unwrap_or_default();
    let ends = format!("[\"{sender}:cos-agent\", \"lockstep:cos-agent\"]");
    format!("databag: {{relation: {ends}, unit: {unit}, file: {{config: {}}}}}", file(sender))
}

impl Model {
    /// A small one, or one up to three control-plane units and five workers.
    pub fn draw(rng: &mut Rng, large: bool) -> Self {
        let control_plane = 1 + rng.below(3);
        let workers = rng.below(if large { 6 } else { 3 });
        let juju = rng.pick(vec!["3.1.10", "3.6.9", "4.0.1"]).unwrap();
        let interleave = rng.below(3) > 0;
        let mut senders = vec!["kubernetes-control-plane"];
        if workers > 0 {
            senders.push("kubernetes-worker");
        }
        if rng.below(2) == 0 {
            senders.push("ledger-db");
        }
        let receivers: Vec<Receiver> = RECEIVERS.into_iter().filter(|_| rng.below(3) > 0).collect();
        let mut steps = vec!["snap-times: {refresh: 20, metadata: 2}".to_owned()];
        for (minor, snap, revision) in [31, 32, 33]
            .into_iter()
            .flat_map(|minor| [(minor, "kube-apiserver", 1000), (minor, "kubelet", 2000)])
        {
            let revision = revision + (minor - 30) * 100;
            steps.push(format!(
                "store: {{publish: [{{snap: {snap}, channel: 1.{minor}/stable, revision: {revision}, version: 1.{minor}.0}}]}}"
            ));
        }
        let access = rng.pick(vec!["", ", kubeconfig: admin"]).unwrap();
        steps.push(format!(
            "deploy: {{charm: kubernetes-control-plane, units: {control_plane}, snaps: [{{name: kube-apiserver, channel: 1.31/stable}}]{access}}}"
        ));
        if workers > 0 {
            steps.push(format!(
                "deploy: {{charm: kubernetes-worker, units: {workers}, snaps: [{{name: kubelet, channel: 1.31/stable}}]}}"
            ));
        }
        if senders.contains(&"ledger-db") {
            steps.push("deploy: {charm: ledger-db}".to_owned());
        }
        let (parallel, window) = (1 + rng.below(3), rng.pick(vec!["first", "none", "none", "all"]).unwrap());
        steps.push(format!(
            "deploy: {{charm: lockstep, config: {{snaps: kube-apiserver kubelet, cohort-check-interval: 10m, \
             grant-timeout: 5m, ready-timeout: 2m, worker-parallelism: {parallel}, pause-after-unit-refresh: {window}}}}}"
        ));
        for (endpoint, sender) in
            [("control-plane", "kubernetes-control-plane"), ("worker", "kubernetes-worker")]
        {
            if senders.contains(&sender) {
                steps.push(format!("integrate: [\"{sender}:juju-info\", \"lockstep:{endpoint}\"]"));
            }
        }
        steps.extend(senders.iter().map(|sender| integrate_sender(sender)));
        for (name, theirs, ours) in &receivers {
            steps.push(format!("deploy: {{charm: {name}}}"));
            steps.push(format!("integrate: [\"lockstep:{ours}\", \"{name}:{theirs}\"]"));
        }
        // Some runs begin while units still deploy.
        let settled = rng.pick(vec!["settle: {hooks: 12}", "settle: {}", "live: {minutes: 12}"]).unwrap();
        steps.push(settled.to_owned());
        if settled != "settle: {hooks: 12}" {
            let units = [
                ("kubernetes-control-plane", control_plane),
                ("kubernetes-worker", workers),
                ("ledger-db", 1),
            ];
            for (sender, count) in units.into_iter().filter(|(sender, _)| senders.contains(sender)) {
                steps.extend((0..count).map(|number| sends(&format!("{sender}/{number}"))));
            }
            steps.push("settle: {}".to_owned());
        }
        let lines: String = steps.iter().map(|step| format!("  - {step}\n")).collect();
        let text = format!(
            "name: what a seed has drawn\njuju: {juju}\ninterleave: {interleave}\ncharms-from: charms.yaml\n\
             charms:\n  lockstep-next: {{like: lockstep, files: {{version: 0.1.1-0123abcd}}}}\nsteps:\n{lines}"
        );
        Self { text, juju, interleave, senders, receivers }
    }
}

/// A principal is observed.
pub fn integrate_sender(sender: &str) -> String {
    format!("integrate: [\"{sender}:cos-agent\", \"lockstep:cos-agent\"]")
}
