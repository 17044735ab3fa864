//! The tickets of AI agents: the executor says what happens to them (spec B 3.2, 4.9).

use std::time::Duration;

use flowsdk_core::event::{AiTicketChange, AiTicketEnd, AiTicketEvent};
use flowsdk_core::time::Timestamp;

use super::{CloseKind, Closing, OpenReason, OpenedByKind, Ticket, TicketError, TicketKind, TicketStatus};

/// How long agents may take to hand a ticket to people.
pub const HANDOFF_TAKES: Duration = Duration::from_mins(1);

impl Ticket {
    /// Returns the ticket that an event opens; `None` for one that opens none.
    pub fn of_ai_session(event: &AiTicketEvent) -> Option<Self> {
        let AiTicketChange::Created { contact_id, agent_id, epoch } = &event.change else {
            return None;
        };
        let of = (event.chat_id.clone(), contact_id.clone());
        Some(Self {
            kind: TicketKind::Ai,
            session_id: Some(event.session_id.clone()),
            agent_id: Some(agent_id.clone()),
            status: TicketStatus::Assigned,
            assigned_at: Some(event.timestamp),
            opened_by_kind: OpenedByKind::AiAgent,
            open_reason: OpenReason::AiSession,
            epoch: Some(*epoch),
            ..Self::of_no_queue(event.ticket_id.clone(), event.router_id.clone(), of, event.timestamp)
        })
    }

    /// Notes that its agents are asked to hand it to people.
    ///
    /// # Errors
    /// [`TicketError::Closed`], [`TicketError::HandedOver`].
    pub fn ask_for_handoff(&mut self, now: Timestamp) -> Result<(), TicketError> {
        if !self.is_open() {
            return Err(TicketError::Closed);
        }
        if self.is_handed_over(now) {
            return Err(TicketError::HandedOver);
        }
        self.handoff_asked_at = Some(now);
        self.updated_at = self.updated_at.max(now);
        Ok(())
    }

    /// Returns whether its agents are about to hand it to people. After [`HANDOFF_TAKES`] they may be asked again.
    pub fn is_handed_over(&self, now: Timestamp) -> bool {
        self.is_open() && self.handoff_asked_at.is_some_and(|asked| now < asked + HANDOFF_TAKES)
    }

    /// Notes what an event says of this ticket. Returns whether anything of it has changed: what is closed changes no more.
    pub fn follow(&mut self, event: &AiTicketEvent) -> bool {
        if !self.is_open() {
            return false;
        }
        if let Some(at) = event.contact_wrote_at.filter(|_| !event.opens()) {
            self.contact_wrote_at = self.contact_wrote_at.max(at);
        }
        match &event.change {
            AiTicketChange::Created { .. } => false,
            AiTicketChange::Updated { agent_id, sentiment } => {
                self.agent_id = Some(agent_id.clone());
                self.sentiment_result = sentiment.clone().or(self.sentiment_result.take());
                self.updated_at = self.updated_at.max(event.timestamp);
                true
            }
            AiTicketChange::Closed { end, reason, sentiment, sentiment_history } => {
                self.learn_sentiments(sentiment.as_ref(), sentiment_history);
                let kind = match end {
                    AiTicketEnd::Resolved => CloseKind::Resolved,
                    AiTicketEnd::System => CloseKind::System,
                };
                let closing = Closing { reason: reason.clone(), ..Closing::by_system(kind) };
                self.close(&closing, self.updated_at.max(event.timestamp)).is_ok()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::event::{FlowEvent, Sentiment, SentimentResult};
    use flowsdk_core::session::{SentimentItem, SessionId};
    use flowsdk_core::time::Timestamp;

    use super::*;

    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
        text.parse().expect("an id")
    }

    fn event(at: i64, change: AiTicketChange) -> AiTicketEvent {
        AiTicketEvent {
            session_id: SessionId::parse("wc-c1-ana").expect("an id"),
            chat_id: id("chat1"),
            ticket_id: id("t1"),
            router_id: id("router1"),
            change,
            contact_wrote_at: Some(Timestamp::from_millis(at)),
            timestamp: Timestamp::from_millis(at),
        }
    }

    fn created() -> AiTicketEvent {
        event(1, AiTicketChange::Created { contact_id: id("contact1"), agent_id: id("agent1"), epoch: 2 })
    }

    fn sentiment() -> SentimentResult {
        let updated_at = Timestamp::from_millis(2);
        SentimentResult {
            item: SentimentItem { turn: 1, sentiment: Sentiment::Angry, score: 9.0, updated_at },
            signals: vec!["again!".to_owned()],
            escalation_risk: true,
            note: None,
        }
    }

    fn closed(at: i64, end: AiTicketEnd) -> AiTicketEvent {
        event(
            at,
            AiTicketChange::Closed {
                end,
                reason: Some("solved".to_owned()),
                sentiment: None,
                sentiment_history: vec![sentiment().item],
            },
        )
    }

    #[test]
    fn a_ticket_follows_the_agents_of_its_session() {
        let mut ticket = Ticket::of_ai_session(&created()).expect("a ticket");
        assert_eq!(
            (ticket.kind, ticket.status, ticket.opened_by_kind, ticket.open_reason),
            (TicketKind::Ai, TicketStatus::Assigned, OpenedByKind::AiAgent, OpenReason::AiSession)
        );
        assert_eq!((ticket.epoch, &ticket.queue_id, &ticket.assigned_user_id), (Some(2), &None, &None));
        assert_eq!(ticket.contact_wrote_at.as_millis(), 1);
        assert!(!ticket.follow(&created()), "it is open already");
        let updated = |sentiment| event(2, AiTicketChange::Updated { agent_id: id("agent2"), sentiment });
        assert!(ticket.follow(&updated(Some(sentiment()))) && ticket.follow(&updated(None)));
        assert_eq!(
            (ticket.agent_id.clone(), ticket.sentiment_result.clone()),
            (Some(id("agent2")), Some(sentiment()))
        );
        assert_eq!(ticket.contact_wrote_at.as_millis(), 2);
        assert!(ticket.follow(&closed(3, AiTicketEnd::Resolved)));
        assert_eq!(
            (ticket.close_kind, ticket.close_reason.as_deref()),
            (Some(CloseKind::Resolved), Some("solved"))
        );
        assert_eq!(ticket.sentiment_history, [sentiment().item]);
        assert_eq!(ticket.sentiment_result, Some(sentiment()), "the last one stays");
        assert!(ticket.summary_request().is_some());
        let before = ticket.clone();
        assert!(!ticket.follow(&updated(None)) && !ticket.follow(&closed(4, AiTicketEnd::System)));
        assert_eq!(ticket, before, "what is closed changes no more");
        assert_eq!(Ticket::of_ai_session(&closed(3, AiTicketEnd::System)), None);
    }

    #[test]
    fn people_are_asked_for_once_a_minute() {
        let mut ticket = Ticket::of_ai_session(&created()).expect("a ticket");
        let at = Timestamp::from_millis(1_000);
        assert!(!ticket.is_handed_over(at));
        assert!(ticket.ask_for_handoff(at).is_ok());
        assert_eq!(ticket.handoff_asked_at, Some(at));
        let (soon, later) = (at + HANDOFF_TAKES - Duration::from_millis(1), at + HANDOFF_TAKES);
        assert!(matches!(ticket.ask_for_handoff(soon), Err(TicketError::HandedOver)));
        assert!(ticket.ask_for_handoff(later).is_ok(), "nothing has come of it");
        assert!(ticket.follow(&closed(70_000, AiTicketEnd::System)));
        assert!(!ticket.is_handed_over(later));
        assert!(matches!(ticket.ask_for_handoff(later), Err(TicketError::Closed)));
    }

    #[test]
    fn a_ticket_that_people_follow_asks_for_no_summary() {
        let mut ticket = Ticket::of_ai_session(&created()).expect("a ticket");
        ticket.follow(&closed(3, AiTicketEnd::System));
        assert_eq!(ticket.close_kind, Some(CloseKind::System));
        assert_eq!((ticket.summary_request(), ticket.hand_back(None)), (None, None));
    }

    #[test]
    fn whoever_closes_it_gives_the_session_back_to_the_flow() {
        let mut ticket = Ticket::of_ai_session(&created()).expect("a ticket");
        ticket.close(&Closing::by_system(CloseKind::Resolved), Timestamp::from_millis(9)).expect("open");
        let Some(FlowEvent::AgentSessionEnded(back)) = ticket.hand_back(None) else { panic!("a hand-back") };
        assert_eq!(
            (back.epoch, back.agent_end_reason.as_deref(), back.ticket),
            (Some(2), Some("resolved"), None)
        );
    }
}
