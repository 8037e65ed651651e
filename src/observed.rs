//! Everything that `decide` may look at, as plain data.
