//! What people see: the timeline, and tables like those of `juju status`.

mod tables;
mod timeline;

pub use tables::{databags, places, status};
pub use timeline::{story, timeline};
