//! Juju's vocabulary: names, endpoints, relation ids, statuses. No I/O, and no concern is known here.

mod endpoint;
mod names;
mod status;

pub use endpoint::{Endpoint, RelationId};
pub use names::{AppName, NameError, UnitName};
pub use status::{Level, Status};
