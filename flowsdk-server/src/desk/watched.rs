//! The ticket that a desk looks at, and what the desk knows of the others who do.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use flowsdk_core::id::{RouterId, TicketId};
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::viewer::TicketViewers;

/// The shortest time between two notes that somebody types.
const TYPING_PERIOD: Duration = Duration::from_secs(1);

/// The ticket that a desk looks at, if it does.
#[derive(Default)]
pub(super) struct Watched(Mutex<Option<Look>>);

struct Look {
    ticket: TicketId,
    router: RouterId,
    /// What the desk was last told.
    told: TicketViewers,
    /// When the user was last noted as typing.
    typed_at: Option<Timestamp>,
}

impl Watched {
    fn with<T>(&self, act: impl FnOnce(&mut Option<Look>) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks at a ticket from now on. `typed_at` is when the user typed, if they did.
    pub(super) fn look(&self, ticket: &TicketId, router: &RouterId, typed_at: Option<Timestamp>) {
        self.with(|look| match look {
            Some(look) if look.ticket == *ticket => look.typed_at = typed_at.or(look.typed_at),
            _ => {
                let told = TicketViewers { ticket_id: ticket.clone(), viewers: Vec::new() };
                *look = Some(Look { ticket: ticket.clone(), router: router.clone(), told, typed_at });
            }
        });
    }

    /// Looks at nothing. Returns whether it looked at a ticket.
    pub(super) fn look_away(&self) -> bool {
        self.with(|look| look.take().is_some())
    }

    /// Returns whether the user was noted as typing an answer to this ticket a moment ago.
    pub(super) fn has_typed(&self, ticket: &TicketId, now: Timestamp) -> bool {
        self.with(|look| {
            let look = look.as_ref().filter(|look| look.ticket == *ticket);
            look.and_then(|look| look.typed_at).is_some_and(|at| now.since(at) < TYPING_PERIOD)
        })
    }

    /// Returns the ticket, if it is of one of `routers`; `None` is all.
    pub(super) fn ticket(&self, routers: Option<&[RouterId]>) -> Option<TicketId> {
        self.with(|look| {
            let look = look.as_ref()?;
            routers.is_none_or(|routers| routers.contains(&look.router)).then(|| look.ticket.clone())
        })
    }

    /// Notes what the desk is told. Returns whether it is news to the desk.
    pub(super) fn is_news(&self, viewers: &TicketViewers) -> bool {
        self.with(|look| {
            let Some(look) = look.as_mut().filter(|look| look.ticket == viewers.ticket_id) else {
                return false;
            };
            let is_news = look.told != *viewers;
            if is_news {
                look.told = viewers.clone();
            }
            is_news
        })
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_helpdesk::viewer::ViewerView;

    use super::*;

    fn viewers(ticket: &str, names: &[&str]) -> TicketViewers {
        let viewer = |name: &&str| ViewerView {
            user_id: name.parse().expect("an id"),
            name: (*name).to_owned(),
            is_typing: false,
        };
        TicketViewers {
            ticket_id: ticket.parse().expect("an id"),
            viewers: names.iter().map(viewer).collect(),
        }
    }

    #[test]
    fn a_desk_is_told_what_it_does_not_know_of_its_ticket() {
        let (t1, t2) = ("t1".parse().expect("an id"), "t2".parse().expect("an id"));
        let router: RouterId = "r1".parse().expect("an id");
        let watched = Watched::default();
        assert!(!watched.is_news(&viewers("t1", &["ana"])), "it looks at none");
        watched.look(&t1, &router, None);
        for (told, is_news) in [
            (viewers("t1", &[]), false),
            (viewers("t2", &["ana"]), false),
            (viewers("t1", &["ana"]), true),
            (viewers("t1", &["ana"]), false),
            (viewers("t1", &[]), true),
            (viewers("t1", &["ana"]), true),
        ] {
            assert_eq!(watched.is_news(&told), is_news, "{told:?}");
        }
        watched.look(&t1, &router, None);
        assert!(!watched.is_news(&viewers("t1", &["ana"])), "it looks at the same");
        watched.look(&t2, &router, None);
        watched.look(&t1, &router, None);
        assert!(watched.is_news(&viewers("t1", &["ana"])), "it looks again");
    }

    #[test]
    fn a_desk_looks_at_tickets_within_reach() {
        let router: RouterId = "r1".parse().expect("an id");
        let watched = Watched::default();
        assert_eq!(watched.ticket(None), None);
        watched.look(&"t1".parse().expect("an id"), &router, None);
        for (routers, sees) in
            [(None, true), (Some(&["r1"][..]), true), (Some(&["r2"]), false), (Some(&[]), false)]
        {
            let routers: Option<Vec<RouterId>> =
                routers.map(|all| all.iter().map(|id| id.parse().expect("an id")).collect());
            assert_eq!(watched.ticket(routers.as_deref()).is_some(), sees, "{routers:?}");
        }
        assert!(watched.look_away() && !watched.look_away());
    }

    #[test]
    fn who_types_is_noted_once_a_second() {
        let (t1, t2) = ("t1".parse().expect("an id"), "t2".parse().expect("an id"));
        let router: RouterId = "r1".parse().expect("an id");
        let (watched, now) = (Watched::default(), Timestamp::from_millis(5_000));
        assert!(!watched.has_typed(&t1, now));
        watched.look(&t1, &router, Some(now));
        watched.look(&t1, &router, None);
        assert!(watched.has_typed(&t1, now + Duration::from_millis(999)));
        assert!(!watched.has_typed(&t1, now + TYPING_PERIOD));
        assert!(!watched.has_typed(&t2, now));
    }
}
