//! Relations: who may be related with whom, and their ids.

use std::collections::BTreeMap;

use super::Refused;
use crate::world::{Bag, EndpointDef, Life, Relation, RelationEnd, Role, World};

/// `app:endpoint`, or `app` where the endpoint follows from the other side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndSpec {
    app: String,
    endpoint: Option<String>,
}

impl EndSpec {
    /// Reads `k8s:cos-agent` or `k8s`.
    pub fn parse(text: &str) -> Self {
        match text.split_once(':') {
            Some((app, endpoint)) => Self { app: app.to_owned(), endpoint: Some(endpoint.to_owned()) },
            None => Self { app: text.to_owned(), endpoint: None },
        }
    }
}

impl World {
    pub(crate) fn add_peer_relation(&mut self, app: &str, endpoint: &str, def: &EndpointDef) {
        let end = RelationEnd {
            application: app.to_owned(),
            name: endpoint.to_owned(),
            role: Role::Peer,
            interface: def.interface.clone(),
            implicit: false,
        };
        self.add_relation(vec![end], false);
    }

    fn add_relation(&mut self, mut endpoints: Vec<RelationEnd>, container: bool) -> u32 {
        endpoints.sort_by_key(|end| end.role);
        let id = self.next_relation;
        self.next_relation += 1;
        let names: Vec<String> =
            endpoints.iter().map(|end| format!("{}:{}", end.application, end.name)).collect();
        let apps = endpoints.iter().map(|end| (end.application.clone(), Bag::default())).collect();
        self.relations.insert(
            id,
            Relation {
                id,
                key: names.join(" "),
                endpoints,
                container,
                life: Life::Alive,
                units: BTreeMap::new(),
                apps,
            },
        );
        id
    }

    /// `juju integrate`; gives the relation's id.
    pub fn integrate(&mut self, one: &str, two: &str) -> Result<u32, Refused> {
        let (one, two) = (EndSpec::parse(one), EndSpec::parse(two));
        if one.app == two.app {
            return Err(format!("cannot relate application \"{}\" with itself", one.app));
        }
        let mut fitting = Vec::new();
        for a in self.ends(&one)? {
            for b in self.ends(&two)? {
                let roles = (a.0.role, b.0.role);
                let fits =
                    matches!(roles, (Role::Requires, Role::Provides) | (Role::Provides, Role::Requires));
                // `juju-info` is only inferred where the other side requires that interface.
                if fits && a.0.interface == b.0.interface {
                    fitting.push((a.clone(), b));
                }
            }
        }
        let explicit = |(a, b): &((RelationEnd, EndpointDef), (RelationEnd, EndpointDef))| {
            !a.0.implicit && !b.0.implicit
        };
        if fitting.iter().any(explicit) {
            fitting.retain(explicit);
        }
        let ((a, a_def), (b, b_def)) = match fitting.len() {
            0 => return Err(format!("no relations found between \"{}\" and \"{}\"", show(&one), show(&two))),
            1 => fitting.swap_remove(0),
            _ => {
                return Err(format!(
                    "ambiguous relation: \"{} {}\" could refer to several",
                    show(&one),
                    show(&two)
                ));
            }
        };
        self.check_new_relation(&a, &a_def, &b)?;
        self.check_new_relation(&b, &b_def, &a)?;
        let container = a_def.container || b_def.container;
        let subordinate = |w: &Self, app: &str| w.applications.get(app).is_some_and(|x| x.charm.subordinate);
        if container && !subordinate(self, &a.application) && !subordinate(self, &b.application) {
            return Err(
                "cannot add relation: container scoped relation needs a subordinate application".to_owned()
            );
        }
        let apps = [a.application.clone(), b.application.clone()];
        let id = self.add_relation(vec![a, b], container);
        let scripted: Vec<String> = self
            .units
            .values()
            .filter(|u| u.scripted && apps.contains(&u.application))
            .map(|u| u.name.clone())
            .collect();
        for unit in scripted {
            self.enter_scopes(&unit);
        }
        Ok(id)
    }

    fn check_new_relation(
        &self,
        end: &RelationEnd,
        def: &EndpointDef,
        other: &RelationEnd,
    ) -> Result<(), Refused> {
        if self.application(&end.application)?.life == Life::Dying {
            return Err(format!("application \"{}\" is not alive", end.application));
        }
        let related: Vec<&Relation> = self
            .relations
            .values()
            .filter(|r| r.end_of(&end.application).is_some_and(|e| e.name == end.name) && !r.is_peer())
            .collect();
        if related.iter().any(|r| r.end_of(&other.application).is_some_and(|e| e.name == other.name)) {
            return Err(format!(
                "cannot add relation \"{}:{} {}:{}\": relation already exists",
                end.application, end.name, other.application, other.name
            ));
        }
        match def.limit {
            Some(limit) if related.len() as i64 >= limit => Err(format!(
                "establishing a new relation for {}:{} would exceed its maximum relation limit of {limit}",
                end.application, end.name
            )),
            _ => Ok(()),
        }
    }

    fn ends(&self, spec: &EndSpec) -> Result<Vec<(RelationEnd, EndpointDef)>, Refused> {
        let application = self.application(&spec.app)?;
        let implicit = EndpointDef {
            role: Role::Provides,
            interface: "juju-info".to_owned(),
            container: false,
            limit: None,
        };
        let declared =
            application.charm.endpoints.iter().map(|(name, def)| (name.clone(), def.clone(), false));
        let all = declared.chain(std::iter::once(("juju-info".to_owned(), implicit, true)));
        let ends: Vec<(RelationEnd, EndpointDef)> = all
            .filter(|(name, def, _)| match &spec.endpoint {
                Some(wanted) => wanted == name && def.role != Role::Peer,
                None => def.role != Role::Peer,
            })
            .map(|(name, def, implicit)| {
                let end = RelationEnd {
                    application: spec.app.clone(),
                    name,
                    role: def.role,
                    interface: def.interface.clone(),
                    implicit,
                };
                (end, def)
            })
            .collect();
        match &spec.endpoint {
            Some(endpoint) if ends.is_empty() => {
                Err(format!("application \"{}\" has no \"{endpoint}\" relation", spec.app))
            }
            _ => Ok(ends),
        }
    }
}

fn show(spec: &EndSpec) -> String {
    match &spec.endpoint {
        Some(endpoint) => format!("{}:{endpoint}", spec.app),
        None => spec.app.clone(),
    }
}
