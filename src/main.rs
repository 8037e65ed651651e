//! The lockstep executable.
fn main() {}
