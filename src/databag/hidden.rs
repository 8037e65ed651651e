//! A text that may hold a secret: whoever prints it by accident prints its length.

use std::fmt;

/// A text that may hold a secret. Only [`expose`](Self::expose) gives it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Hidden(String);

impl Hidden {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself: for a file of mode 0600, and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "… ({} bytes)", self.0.len())
    }
}
