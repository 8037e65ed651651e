//! A small world out of a seed, what one unit observes of it, and what its acting changes in it.

use lockstep::databag::charm_state::Remembered;
use lockstep::databag::dashboard::Memo;
use lockstep::databag::record::{is_record_key, read_config, read_peer};
use lockstep::databag::{Digest, Topology, Values, peers};
use lockstep::juju::{Context, Endpoint, Event, PlainHook, RelationId, Scope, Timestamp, UnitName};
use lockstep::observed::observability::{ForwardOptions, Limits, Outgoing, Principal};
use lockstep::observed::{Observability, Observed, Part, Relation};
use lockstep::plan::Plan;
use serde_json::{Value, json};
use std::collections::BTreeMap;

type Bag = BTreeMap<String, String>;

/// Numbers from a seed (splitmix64), so that an old seed means the same for ever.
#[derive(Debug, Clone)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % n as u64) as usize
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
}

const UNITS: [&str; 6] = ["db/0", "db/1", "db/10", "web/0", "web-a/0", "k8s/2"];
const OUTGOING: [Endpoint; 3] =
    [Endpoint::SendRemoteWrite, Endpoint::LoggingConsumer, Endpoint::GrafanaDashboards];

/// What one unit can see, and the databags that it writes.
#[derive(Debug, Clone)]
pub struct World {
    dice: Dice,
    leader: bool,
    event: Option<Event>,
    committed: bool,
    config: BTreeMap<String, Value>,
    relations: BTreeMap<RelationId, Relation>,
    principals: Vec<(RelationId, UnitName, Option<String>)>,
    peers: BTreeMap<UnitName, Bag>,
    events: BTreeMap<RelationId, String>,
    own: BTreeMap<(RelationId, Scope), Bag>,
    remembered: Remembered,
    memo: Memo,
    /// The order of lists; it must not matter.
    order: u64,
    /// Whether own application databags were read in this pass.
    read: bool,
}

fn id(endpoint: Endpoint, number: u32) -> RelationId {
    RelationId { endpoint, number }
}

/// What a principal may say: good, empty, partly bad, no use at all.
fn config(dice: &mut Dice) -> String {
    let rule = |name: &str| json!({"alert": name, "expr": "up{%%juju_topology%%} < 1", "labels": {"severity": "page"}});
    let group = |name: &str, rules: Vec<Value>| json!({"name": name, "rules": rules});
    let groups = |dice: &mut Dice| match dice.below(5) {
        0 => json!({}),
        1 => json!({"groups": [group("same", vec![rule("A")]), group("same", vec![rule("B")])]}),
        2 => json!({"groups": [group("g", vec![rule("A"), json!({"alert": "no expression"})])]}),
        3 => json!({"groups": [group("x_HostHealth", vec![rule("HostDown")])]}),
        _ => Value::Null,
    };
    let dashboards = match dice.below(3) {
        0 => json!([]),
        1 => json!(["not a dashboard"]),
        _ => json!([DASHBOARD, DASHBOARD]),
    };
    let value = json!({"metrics_alert_rules": groups(dice), "log_alert_rules": groups(dice), "dashboards": dashboards});
    match dice.below(8) {
        0 => "{".to_owned(),
        1 => "[]".to_owned(),
        _ => value.to_string(),
    }
}

/// A record as a peer may hold it.
fn record(dice: &mut Dice, unit: &str) -> String {
    let mut value: Value = serde_json::from_str(&config(dice)).unwrap_or_default();
    if let Some(fields) = value.as_object_mut() {
        fields.insert("unit_name".to_owned(), json!(unit));
        fields.insert("relation_id".to_owned(), json!("7"));
        fields.insert("relation_name".to_owned(), json!("cos-agent"));
    }
    value.to_string()
}

/// `{"title": "T", "tags": []}`
const DASHBOARD: &str = "/Td6WFoAAATm1rRGAgAhAQwAAACPmEGcAQAZeyJ0aXRsZSI6ICJUIiwgInRhZ3MiOiBbXX0AAADznyFmBWcKAgABMhogGJQwH7bzfQEAAAAABFla";

impl World {
    /// The world of a seed.
    pub fn of(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let leader = dice.chance(60);
        let mut world = Self {
            leader,
            event: None,
            committed: dice.chance(90),
            config: BTreeMap::new(),
            relations: BTreeMap::new(),
            principals: Vec::new(),
            peers: BTreeMap::new(),
            events: BTreeMap::new(),
            own: BTreeMap::new(),
            remembered: Remembered::default(),
            memo: Memo::default(),
            order: 0,
            read: dice.chance(50),
            dice,
        };
        if world.dice.chance(5) {
            world.event = Some(Event::Plain(world.dice.pick(&[PlainHook::Stop, PlainHook::Remove])));
        }
        if world.dice.chance(90) {
            let peers = id(Endpoint::Peers, 1);
            world.relations.insert(peers, Relation::default());
            world.own.insert((peers, Scope::Unit), Bag::new());
            if leader {
                world.own.insert((peers, Scope::App), Bag::new());
            }
        }
        for (place, endpoint) in OUTGOING.into_iter().enumerate() {
            for number in 0..world.dice.below(3) {
                let relation = id(endpoint, (100 + 10 * place + number) as u32);
                world.relations.insert(relation, Relation::default());
                if leader {
                    let old = world.dice.chance(30);
                    let bag = if old {
                        Bag::from([("alert_rules".to_owned(), "{}".to_owned())])
                    } else {
                        Bag::new()
                    };
                    world.own.insert((relation, Scope::App), bag);
                }
            }
        }
        for endpoint in [Endpoint::ControlPlane, Endpoint::Worker, Endpoint::Cohorts] {
            if world.dice.chance(20) {
                let units = [UNITS[5].parse().unwrap()].into();
                world.relations.insert(id(endpoint, 50), Relation { app: None, units });
            }
        }
        for _ in 0..4 {
            world.change();
        }
        world
    }

    /// One thing becomes different.
    pub fn change(&mut self) {
        match self.dice.below(6) {
            0 => {
                let values = [json!("on"), json!("off"), json!("auto"), json!("nonsense"), json!(7)];
                let value = self.dice.pick(&values);
                self.config.insert("forward-host-health".to_owned(), value);
            }
            1 => {
                let value = self.dice.pick(&[json!("a:b"), json!(""), json!("1:2"), json!("juju_model:x")]);
                self.config.insert("extra-alert-labels".to_owned(), value);
            }
            2 if self.leader => {
                let outgoing: Vec<RelationId> =
                    self.relations.keys().copied().filter(|id| OUTGOING.contains(&id.endpoint)).collect();
                if !outgoing.is_empty() {
                    let relation = self.dice.pick(&outgoing);
                    let event =
                        self.dice.pick(&["{}", "junk", r#"{"valid": false}"#, r#"{"errors": "bad"}"#]);
                    self.events.insert(relation, event.to_owned());
                }
            }
            3 => {
                let number = self.dice.below(3) as u32;
                let relation = id(Endpoint::CosAgent, 10 + number);
                self.principals.retain(|(other, _, _)| *other != relation);
                self.relations.remove(&relation);
                if self.dice.chance(80) {
                    let unit: UnitName = self.dice.pick(&UNITS).parse().unwrap();
                    let said = self.dice.chance(85).then(|| config(&mut self.dice));
                    let units = [unit.clone()].into();
                    self.relations
                        .insert(relation, Relation { app: Some(unit.application().clone()), units });
                    self.principals.push((relation, unit, said));
                }
            }
            _ => {
                let peer: UnitName = format!("lockstep/{}", 1 + self.dice.below(4)).parse().unwrap();
                let unit = self.dice.pick(&UNITS);
                let text = record(&mut self.dice, unit);
                let bag = self.peers.entry(peer).or_default();
                bag.insert(format!("config-{unit}"), text);
            }
        }
    }

    /// The lists in another order.
    pub fn shuffle(&mut self) {
        self.order = 1 + self.dice.below(1000) as u64;
    }

    fn context() -> Context {
        let variables = [
            ("JUJU_UNIT_NAME", "lockstep/0"),
            ("JUJU_MODEL_NAME", "harbor"),
            ("JUJU_MODEL_UUID", "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41"),
            ("JUJU_CHARM_DIR", "/var/lib/juju/agents/unit-lockstep-0/charm"),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Context::from_variables(&variables).unwrap()
    }

    fn part(&self) -> Observability {
        let mut values = Values::default();
        let records = |bag: &Bag, values: &mut Values| {
            let records = bag.iter().filter(|(key, _)| is_record_key(key));
            records.map(|(key, text)| (key.clone(), read_peer(key, text, values))).collect::<BTreeMap<_, _>>()
        };
        let own_records =
            self.own.get(&(id(Endpoint::Peers, 1), Scope::Unit)).map(|bag| records(bag, &mut values));
        let peer_records = self
            .peers
            .iter()
            .map(|(unit, bag)| (unit.clone(), records(bag, &mut values)))
            .collect::<BTreeMap<_, _>>();
        let mut principals: Vec<Principal> = self
            .principals
            .iter()
            .map(|(relation, unit, said)| Principal {
                relation: *relation,
                unit: unit.clone(),
                config: said.as_ref().map(|text| read_config(text, &mut values)),
            })
            .collect();
        let mut outgoing: Vec<Outgoing> = self
            .relations
            .keys()
            .filter(|relation| self.leader && OUTGOING.contains(&relation.endpoint))
            .map(|relation| Outgoing {
                relation: *relation,
                event: self.events.get(relation).cloned(),
                own: self.own.get(&(*relation, Scope::App)).filter(|_| self.read).cloned(),
            })
            .collect();
        let mut dice = Dice(self.order);
        for last in (1..principals.len()).rev().filter(|_| self.order > 0) {
            principals.swap(last, dice.below(last + 1));
        }
        if self.order > 0 {
            outgoing.reverse();
        }
        Observability {
            topology: Topology {
                model: "harbor".to_owned(),
                model_uuid: "7d1f3c2a-9b4e-4c55-8a10-3f6e2b9d0c41".to_owned(),
                application: "lockstep".parse().unwrap(),
                charm: "lockstep".to_owned(),
            },
            unit: "lockstep/0".parse().unwrap(),
            leader: self.leader,
            peers_related: self.relations.contains_key(&id(Endpoint::Peers, 1)),
            principals,
            own_records: own_records.unwrap_or_default(),
            peer_records: if self.leader { peer_records } else { BTreeMap::new() },
            outgoing,
            collected: Default::default(),
            strangers: Default::default(),
            options: ForwardOptions::default(),
            limits: Limits::default(),
            values,
            memo: self.memo.clone(),
            rollout: None,
        }
    }

    /// What the unit observes now.
    pub fn observed(&self) -> Observed {
        let digests = |bag: &Bag| bag.iter().map(|(key, text)| (key.clone(), Digest::of(text))).collect();
        let app = self.own.get(&(id(Endpoint::Peers, 1), Scope::App));
        Observed {
            now: Timestamp(0),
            event: self.event.clone(),
            context: Self::context(),
            build: "0.1.0-00000000".to_owned(),
            leader: self.leader,
            full_read: None,
            committed: self.committed,
            config: self.config.clone(),
            relations: self.relations.clone(),
            remembered: self.remembered.clone(),
            own: self.own.iter().map(|(bag, keys)| (*bag, digests(keys))).collect(),
            signed: app.and_then(|bag| peers::read_leader(bag).ok().flatten()),
            rollout: Box::new(lockstep::observed::Rollout::of_unit(
                "lockstep/0".parse().unwrap(),
                "0.1.0-00000000",
            )),
            observability: Part::Changed { part: Box::new(self.part()), digest: Digest::of("the same") },
            collection: Part::Unchanged,
        }
    }

    /// The same with a principal that sends nothing of use.
    pub fn with_garbage(&self) -> Part<Observability> {
        let mut part = self.part();
        let mut values = Values::default();
        let config = Some(read_config("}", &mut values));
        let (relation, unit) = (id(Endpoint::CosAgent, 99), "junk/0".parse().unwrap());
        part.principals.push(Principal { relation, unit, config });
        Part::Changed { part: Box::new(part), digest: Digest::of("another") }
    }

    /// The plan is carried out and committed.
    pub fn act(&mut self, plan: &Plan) {
        for write in &plan.writes {
            let bag = self.own.get_mut(&(write.relation, write.scope)).unwrap();
            for (key, value) in &write.changes {
                match value {
                    Some(value) => bag.insert(key.clone(), value.clone()),
                    None => bag.remove(key),
                };
            }
        }
        self.remembered = plan.remember.clone();
        self.memo = plan.memo.clone().unwrap_or_default();
        self.committed = true;
    }
}
