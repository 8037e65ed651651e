//! Files of a charm.
