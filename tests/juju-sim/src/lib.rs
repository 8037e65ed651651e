//! A simulated Juju model that runs real charm executables.
