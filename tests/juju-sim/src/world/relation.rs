//! Relations, their scopes and databags.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use super::{Life, Role};

/// A databag with the version that agents compare.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Bag {
    /// Grows with every commit that changes a value, and with no other.
    pub version: u64,
    /// All values are strings; an empty one cannot exist.
    pub values: BTreeMap<String, String>,
}

impl Bag {
    /// Keys and values together.
    pub fn size(&self) -> usize {
        self.values.iter().map(|(key, value)| key.len() + value.len()).sum()
    }
}

/// Whose databag.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Owner {
    /// Of one unit.
    Unit(String),
    /// Of an application.
    App(String),
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unit(name) | Self::App(name) => f.write_str(name),
        }
    }
}

/// One side of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelationEnd {
    /// Which application.
    pub application: String,
    /// Name of the endpoint.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// What is spoken.
    pub interface: String,
    /// `juju-info`, which every application provides and no charm sees.
    pub implicit: bool,
}

/// Where a unit is in a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Seen by the others.
    In,
    /// Still there, but the others are told that it departed.
    Departing,
    /// Gone; its bag stays readable until the relation is removed.
    Left,
}

/// A unit that is or was in the scope of a relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RelationUnit {
    /// Whether others see it.
    pub scope: Scope,
    /// The principal unit, in a container scope.
    pub container: Option<String>,
    /// Its databag.
    pub bag: Bag,
}

/// A relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Relation {
    /// The number.
    pub id: u32,
    /// As Juju's messages name it.
    pub key: String,
    /// One for peers, else two.
    pub endpoints: Vec<RelationEnd>,
    /// Whether one side has container scope.
    pub container: bool,
    /// Alive, or dying until the last unit left.
    pub life: Life,
    /// By unit.
    pub units: BTreeMap<String, RelationUnit>,
    /// By application.
    pub apps: BTreeMap<String, Bag>,
}

impl Relation {
    /// Whether this is the relation of an application with itself.
    pub fn is_peer(&self) -> bool {
        self.endpoints.len() == 1
    }

    /// The side of an application.
    pub fn end_of(&self, app: &str) -> Option<&RelationEnd> {
        self.endpoints.iter().find(|end| end.application == app)
    }

    /// The other side; for peers the own one.
    pub fn other_end(&self, app: &str) -> Option<&RelationEnd> {
        if self.is_peer() {
            return self.endpoints.first();
        }
        self.endpoints.iter().find(|end| end.application != app)
    }

    /// A databag, if it is there.
    pub fn bag(&self, owner: &Owner) -> Option<&Bag> {
        match owner {
            Owner::Unit(unit) => self.units.get(unit).map(|state| &state.bag),
            Owner::App(app) => self.apps.get(app),
        }
    }

    /// A databag to write to.
    pub fn bag_mut(&mut self, owner: &Owner) -> Option<&mut Bag> {
        match owner {
            Owner::Unit(unit) => self.units.get_mut(unit).map(|state| &mut state.bag),
            Owner::App(app) => self.apps.get_mut(app),
        }
    }
}
