//! A connection of a snap's plug.

/// A plug of a snap, and the slot that it is connected to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection {
    /// The plug's own name.
    pub plug: String,
    /// The slot as `snap:name`; `:name` of snapd's own.
    pub slot: String,
}
