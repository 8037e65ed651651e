//! What a hook costs, beside a bare loop of the same calls: `make bench`; figures in docs/performance.md.
//!
//! The packed charm runs in the simulated model. Its executable is replaced by a link to this program,
//! which starts it, waits, and reads what the kernel has counted (`probe`).

#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "a measuring program")]

#[path = "../support/crowd.rs"]
mod crowd;
mod probe;

use crowd::{Crowd, dashboard, tools};
use juju_sim::sim::{HookRecord, Settle};
use probe::Sample;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const UNIT: &str = "lockstep/0";
/// Principal applications, and the bytes of each one's dashboard.
const APPS: u32 = 40;
const DASHBOARD: usize = 20 << 10;

/// One line of the table.
struct Row {
    who: String,
    event: &'static str,
    calls: String,
    charm: Sample,
    bare: Sample,
}

struct Bench {
    crowd: Crowd,
    peers: u32,
    leader: bool,
    repeats: usize,
    rows: Vec<Row>,
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if let Some(code) = probe::run_as_hook(&args) {
        return code;
    }
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let charm = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("target/charm/lockstep_{arch}.charm"));
    println!("{}\n", Row::HEAD);
    for leader in [false, true] {
        for (peers, repeats) in [(3, 21), (30, 21), (300, 11)] {
            let bench = Bench::new(peers, leader, repeats, &charm);
            for row in bench.measure() {
                println!("{}", row.line());
            }
        }
    }
    ExitCode::SUCCESS
}

impl Bench {
    fn new(peers: u32, leader: bool, repeats: usize, charm: &Path) -> Self {
        let mut crowd = Crowd::new(peers, "3.6.9", charm);
        for n in 0..peers {
            crowd.peer(n, APPS, &dashboard(&format!("App{}", n % APPS), DASHBOARD));
        }
        if !leader {
            crowd.sim.lead("lockstep/1").unwrap();
        }
        crowd.meet();
        let mut bench = Self { crowd, peers, leader, repeats, rows: Vec::new() };
        bench.principal(0);
        bench.crowd.forget();
        bench.settle();
        let charm = bench.charm_dir();
        probe::put_before(&charm);
        bench
    }

    fn charm_dir(&self) -> PathBuf {
        self.crowd.sim.paths_of(UNIT).unwrap().charm(UNIT)
    }

    fn settle(&mut self) {
        self.crowd.sim.settle(Settle::default()).unwrap();
    }

    fn principal(&mut self, version: usize) {
        let rule = json!({"alert": "Gone", "expr": format!("up < {version}")});
        let groups = json!({"groups": [{"name": "g", "rules": [rule]}]});
        let dashboards = [dashboard("Node", DASHBOARD)];
        let config =
            json!({"metrics_alert_rules": groups, "log_alert_rules": groups, "dashboards": dashboards});
        self.crowd.principal(&config);
    }

    fn measure(mut self) -> Vec<Row> {
        self.row("update-status, nothing new", "update-status", |bench, _| bench.update_status());
        self.row("cos-agent changed", "cos-agent-relation-changed", |bench, n| bench.principal(n + 1));
        let (odd, even) = (dashboard("Odd", DASHBOARD), dashboard("Even", DASHBOARD));
        self.row("peers changed", "peers-relation-changed", move |bench, n| {
            // The unit that its application is chosen from, so that a leader has to write.
            bench.crowd.peer(0, APPS, if n % 2 == 0 { &even } else { &odd });
        });
        self.row("everything read again", "update-status", |bench, _| {
            bench.crowd.forget();
            bench.update_status();
        });
        self.rows
    }

    fn update_status(&mut self) {
        self.crowd.sim.update_status(&[UNIT.to_owned()]).unwrap();
    }

    /// Runs the same hook some times, each after a change, then a bare loop of its calls.
    fn row(&mut self, event: &'static str, hook: &str, change: impl Fn(&mut Self, usize)) {
        let mut samples = Vec::new();
        for n in 0..self.repeats {
            change(self, n);
            let before = probe::children();
            self.settle();
            samples.push(probe::last(&self.charm_dir(), before));
            // Not a full read where it is not asked for: that is every twelfth update-status.
            if n % 8 == 7 && hook == "update-status" {
                self.principal(1000 + n);
                self.settle();
            }
        }
        let record = self.crowd.last(hook).clone();
        let bare = self.bare(&record);
        let who = format!("{} of {}", if self.leader { "leader" } else { "follower" }, self.peers + 1);
        let calls = tools(&record).iter().map(|(tool, count)| format!("{count} {tool}")).collect::<Vec<_>>();
        let calls = format!("{}: {}", record.calls.len(), calls.join(", "));
        self.rows.push(Row { who, event, calls, charm: Sample::median(&samples), bare });
    }

    /// The same calls in a loop of fork and exec, by this program, in the same context.
    fn bare(&mut self, record: &HookRecord) -> Sample {
        let calls: Vec<_> =
            record.calls.iter().map(|call| json!([call.tool, call.args, call.stdin])).collect();
        let file = self.charm_dir().join("../bare.json");
        std::fs::write(&file, json!(calls).to_string()).unwrap();
        let mut samples = Vec::new();
        for _ in 0..self.repeats {
            let program = "$CHARM/lockstep".to_owned();
            let args = [program, probe::BARE.to_owned(), file.display().to_string()];
            // It ends with 1, so that nothing of what it wrote is committed.
            let before = probe::children();
            self.crowd.sim.exec(UNIT, &args).unwrap();
            samples.push(probe::last(&self.charm_dir(), before));
        }
        Sample::median(&samples)
    }
}

impl Row {
    const HEAD: &str = "| unit | event | calls | wall ms | CPU ms | of it the charm itself | peak MiB | bare loop: wall ms | CPU ms |\n|---|---|---|---|---|---|---|---|---|";

    fn line(&self) -> String {
        let ms = |micros: u64| format!("{}.{}", micros / 1000, micros % 1000 / 100);
        let all = |sample: &Sample| ms(u64::try_from(sample.all).unwrap_or(0));
        let (charm, bare) = (&self.charm, &self.bare);
        format!(
            "| {} | {} | {} | {} | {} | {} | {}.{} | {} | {} |",
            self.who,
            self.event,
            self.calls,
            ms(charm.wall),
            all(charm),
            ms(charm.own),
            charm.peak >> 10,
            (charm.peak & 1023) * 10 / 1024,
            ms(bare.wall),
            all(bare),
        )
    }
}
