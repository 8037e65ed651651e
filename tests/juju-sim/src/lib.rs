//! A simulated Juju model that runs real charm executables.

pub mod charm;
pub mod wire;
