//! Who is next. A total order; whether anybody may go is another room's question.
//!
//! Within a role unhealthy units go first, so that a rollback or a new revision can mend them, then
//! by number, the leader's own last: a move may cost it the lease.

use super::members::Member;
use super::view::View;
use crate::databag::granted::Granted;
use crate::databag::node::Role;
use crate::databag::target::Target;

/// The members of a role that still have to move and hold no grant, first to go first.
pub fn waiting<'v, 'a>(
    view: &'v View<'a>,
    role: Role,
    target: &Target,
    granted: &Granted,
) -> Vec<&'v Member<'a>> {
    let mut waiting: Vec<&Member<'_>> = view
        .in_role(role)
        .filter(|member| !member.has_completed(&target.id) && granted.of(member.unit).is_none())
        .collect();
    waiting.sort_by_key(|member| (member.is_healthy(target), member.itself, member.unit));
    waiting
}
