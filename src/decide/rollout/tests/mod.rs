//! Rules by tables, and all of them together in a small random world.

mod admin;
pub mod fixture;
mod grants;
mod holds;
mod kube;
mod moves;
mod random;
mod targets;
mod upgrades;
mod world;
