//! lockstep keeps a Juju-managed Kubernetes cluster in step.
//!
//! One pass: [`observe`] (hook tools, `snap`, `kubectl`, read only) gives [`observed`] data, [`decide`]
//! turns it into a [`plan`], [`act`] carries the plan out. The rooms stand in the order in which data
//! passes through them; imports point down this list only, and a test keeps it so.

pub mod pass;

pub mod invocation;

pub mod cli;

pub mod observe;

pub mod act;

pub mod decide;

pub mod plan;

pub mod observed;

pub mod databag;

pub mod tools;

pub mod juju;

pub mod snap;

pub mod kube;

pub mod log;
