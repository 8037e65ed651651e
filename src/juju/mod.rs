//! Juju's vocabulary: names, endpoints, relation ids, events, statuses. No I/O, and no concern is
//! known here.

mod context;
mod endpoint;
mod event;
mod names;
mod status;
mod time;

pub use context::{Context, JujuVersion, Variables};
pub use endpoint::{Endpoint, RelationId, Scope};
pub use event::{Event, HookName, PlainHook, RelationEvent, RelationHook, relation_hook_name};
pub use names::{AppName, NameError, UnitName};
pub use status::{Level, Status};
pub use time::Timestamp;
