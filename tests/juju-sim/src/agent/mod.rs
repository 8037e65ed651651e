//! A unit agent: which hook comes next, what a hook is given, and what becomes of what it wrote.

pub mod commit;
pub mod context;
pub mod environment;
pub mod files;
pub mod next;
pub mod outcome;
