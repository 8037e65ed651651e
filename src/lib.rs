//! lockstep keeps a Juju-managed Kubernetes cluster in step.
//!
//! One pass: observe (hook tools, `snap`, `kubectl`, read only) gives [`observed`] data,
//! [`decide`] turns it into a [`plan`], act carries the plan out. Rooms stand in the order in
//! which data passes through them; imports point down this list only.

pub mod databag;
pub mod decide;
pub mod juju;
pub mod log;
pub mod observed;
pub mod tools;
