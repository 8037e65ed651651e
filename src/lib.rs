//! lockstep.
