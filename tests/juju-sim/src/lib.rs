//! A simulated Juju model that runs real charm executables.
//!
//! In reading order: [`world`] is the model as plain data; [`controller`] is what `juju` commands do to it; [`agent`]
//! decides which hook a unit runs next and what becomes of it; [`tools`] are the hook tools; [`process`] runs a charm's
//! executable; [`machine`] are programs that are not Juju's, among them `snap` with its [`snapd`] and its [`store`], and
//! `kubectl` with its cluster [`kube`];
//! [`sim`] ties these together; [`scenario`] reads YAML and judges; [`show`] prints.

pub mod agent;
pub mod charm;
pub mod charm_files;
pub mod controller;
pub mod kube;
pub mod machine;
pub mod process;
pub mod protocol;
pub mod rng;
pub mod scenario;
pub mod show;
pub mod sim;
pub mod snapd;
pub mod store;
pub mod tools;
pub mod wire;
pub mod world;
