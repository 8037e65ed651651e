//! A point in time.

use serde::{Deserialize, Serialize};

/// Seconds since 1970 began, UTC.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Timestamp(pub u64);
