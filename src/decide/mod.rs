//! The pure core: [`Observed`](crate::observed) data in, a plan out. No I/O, no clock, no randomness.

pub mod observability;
