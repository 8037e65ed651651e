//! Wire formats, one file an endpoint or value; the only place that spells a databag key.
//!
//! Nothing here does I/O or knows a concern. Reading never fails as a whole: what is not as it
//! should be is a [`Fault`] with a JSON path, so that one bad value stops nothing else.

pub mod charm_state;
mod fault;
pub mod peers;
pub mod record;
mod values;

pub use fault::Fault;
pub use values::{Digest, Values};
