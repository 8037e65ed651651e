//! What people see: the timeline, and tables like those of `juju status`.

mod page;
mod tables;
mod timeline;

pub use page::{Run, page};
pub use tables::{databags, places, status};
pub use timeline::{story, timeline};
