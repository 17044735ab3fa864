//! Every change of a ticket, as functions of its state (spec B 3.2). What follows from a change, such as the hand-back
//! to the flow, is a value that whoever stores the ticket publishes with it.

use std::time::Duration;

use flowsdk_core::event::{FlowEvent, HandBack, JumpTarget, SummaryReason, SummaryRequest};
use flowsdk_core::id::{IdSource, QueueId, TicketId, UserId};
use flowsdk_core::time::Timestamp;
use serde_json::{Map, Value, json};

use super::{
    AskedSurvey, CloseKind, OpenReason, OpenedByKind, Pass, ServiceChange, ServiceClocks, Ticket, TicketKind,
    TicketStatus,
};

/// A ticket that is closed changes no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ticket is closed")]
pub struct NotOpen;

/// How long a ticket is not offered again to an agent who has declined it, or let the offer end.
pub const PASSED_FOR: Duration = Duration::from_mins(1);

/// A ticket that is not offered to this user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the ticket is not offered to the user")]
pub struct NotOffered;

/// How a ticket is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Closing {
    /// How it ends.
    pub kind: CloseKind,
    /// The user who closes it.
    pub by: Option<UserId>,
    /// Why, in their words.
    pub reason: Option<String>,
    /// Where the flow goes on instead of the outputs of its block.
    pub jump_target: Option<JumpTarget>,
}

impl Closing {
    /// Returns a close that no user has asked for.
    pub fn by_system(kind: CloseKind) -> Self {
        Self { kind, by: None, reason: None, jump_target: None }
    }
}

/// Where a ticket goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransferTarget {
    /// At a user. It stays in its queue.
    User(UserId),
    /// In a queue, where it waits.
    Queue(QueueId),
}

impl TransferTarget {
    /// Returns how the ticket before ends.
    pub fn close_kind(&self) -> CloseKind {
        match self {
            Self::User(_) => CloseKind::AgentTransfer,
            Self::Queue(_) => CloseKind::QueueTransfer,
        }
    }
}

impl Ticket {
    /// Gives an open ticket to a user.
    ///
    /// # Errors
    /// [`NotOpen`].
    pub fn assign(&mut self, user: UserId, now: Timestamp) -> Result<(), NotOpen> {
        self.must_be_open()?;
        self.status = TicketStatus::Assigned;
        self.assigned_user_id = Some(user);
        self.assigned_at = Some(now);
        self.withdraw();
        self.updated_at = now;
        Ok(())
    }

    /// Offers a waiting ticket, which is offered to nobody, to a user until `ends_at`.
    ///
    /// # Errors
    /// [`NotOpen`] when it is closed, assigned or offered.
    pub fn offer(&mut self, user: UserId, ends_at: Timestamp, now: Timestamp) -> Result<(), NotOpen> {
        if self.status != TicketStatus::Waiting || self.offered_user_id.is_some() {
            return Err(NotOpen);
        }
        self.offered_user_id = Some(user);
        self.offer_ends_at = Some(ends_at);
        self.updated_at = now;
        Ok(())
    }

    /// Ends the offer of a waiting ticket: its user has declined it, or has not answered. It is not offered to them again
    /// for [`PASSED_FOR`]. Returns the user.
    ///
    /// # Errors
    /// [`NotOffered`] when it is offered to nobody.
    pub fn pass(&mut self, now: Timestamp) -> Result<UserId, NotOffered> {
        let user = self.offered_to().cloned().ok_or(NotOffered)?;
        self.offered_user_id = None;
        self.offer_ends_at = None;
        self.passed_by.retain(|pass| pass.user != user && pass.until > now);
        self.passed_by.push(Pass { user: user.clone(), until: now + PASSED_FOR });
        self.updated_at = now;
        Ok(user)
    }

    /// Returns who is told what becomes of it: who has it, or is offered it.
    pub fn addressee(&self) -> Option<&UserId> {
        self.assigned_user_id.as_ref().or(self.offered_user_id.as_ref())
    }

    /// Returns to whom it is offered.
    pub fn offered_to(&self) -> Option<&UserId> {
        self.offered_user_id.as_ref().filter(|_| self.status == TicketStatus::Waiting)
    }

    /// Returns who has passed on it lately, at `now`.
    pub fn passed_at(&self, now: Timestamp) -> Vec<UserId> {
        self.passed_by.iter().filter(|pass| pass.until > now).map(|pass| pass.user.clone()).collect()
    }

    /// Forgets its offers.
    fn withdraw(&mut self) {
        self.offered_user_id = None;
        self.offer_ends_at = None;
        self.passed_by.clear();
    }

    /// Lets the clocks of a service level run for it.
    pub fn start_service(&mut self, clocks: Option<ServiceClocks>) {
        self.change_service(|service| *service = clocks.unwrap_or_default());
    }

    /// Notes that an agent answers its contact. The first answer counts.
    pub fn answer(&mut self, now: Timestamp) {
        if self.first_replied_at.is_none() {
            self.first_replied_at = Some(now);
            self.updated_at = now;
            self.change_service(|service| service.answer(now));
        }
    }

    /// Notes what became of its service level by itself until `now`, and returns that.
    pub fn pass_time(&mut self, now: Timestamp) -> Vec<ServiceChange> {
        self.change_service(|service| service.pass_time(now))
    }

    fn change_service<R>(&mut self, change: impl FnOnce(&mut ServiceClocks) -> R) -> R {
        let result = change(&mut self.service_clocks);
        self.service_next_at = self.service_clocks.next_at();
        result
    }

    /// Closes an open ticket.
    ///
    /// # Errors
    /// [`NotOpen`].
    pub fn close(&mut self, closing: &Closing, now: Timestamp) -> Result<(), NotOpen> {
        self.must_be_open()?;
        self.status = TicketStatus::Closed;
        self.close_kind = Some(closing.kind);
        self.closed_by_user_id.clone_from(&closing.by);
        self.close_reason.clone_from(&closing.reason);
        self.closed_at = Some(now);
        self.offer_ends_at = None;
        self.updated_at = now;
        // What nobody resolves in its time was promised for nothing.
        self.change_service(|service| match closing.kind {
            CloseKind::Resolved => service.resolve(now),
            _ => drop(service.split_undecided(now)),
        });
        Ok(())
    }

    /// Closes an open ticket and returns the one with which it goes on. Within its queue the clocks of its service level run
    /// on; those of another queue are to be started.
    ///
    /// # Errors
    /// [`NotOpen`].
    pub fn transfer(
        &mut self,
        to: &TransferTarget,
        by: Option<UserId>,
        ids: &dyn IdSource,
        now: Timestamp,
    ) -> Result<Self, NotOpen> {
        let closing = Closing { by: by.clone(), ..Closing::by_system(to.close_kind()) };
        let mut before = self.service_clocks;
        self.close(&closing, now)?;
        let mut next = Self {
            id: TicketId::generate(ids),
            kind: TicketKind::Human,
            previous_ticket_id: Some(self.id.clone()),
            status: TicketStatus::Waiting,
            assigned_user_id: None,
            assigned_at: None,
            offered_user_id: None,
            offer_ends_at: None,
            passed_by: Vec::new(),
            opened_by_kind: if by.is_some() { OpenedByKind::Agent } else { OpenedByKind::System },
            open_reason: OpenReason::AgentTransfer,
            opened_by_user_id: by,
            closed_at: None,
            closed_by_user_id: None,
            close_kind: None,
            close_reason: None,
            summary: None,
            first_replied_at: None,
            survey: None,
            survey_ends_at: None,
            created_at: now,
            ..self.clone()
        };
        match to {
            TransferTarget::User(user) => next.assign(user.clone(), now)?,
            TransferTarget::Queue(queue) => {
                next.queue_id = Some(queue.clone());
                next.open_reason = OpenReason::QueueTransfer;
            }
        }
        let goes_on = next.queue_id == self.queue_id;
        next.start_service(goes_on.then(|| before.split_undecided(now)));
        Ok(next)
    }

    /// Returns the event that gives the session of a closed ticket back to its flow; `None` for a ticket that goes on as
    /// another one, has no session, or waits for the answer to a survey. It does nothing to a session that has changed its
    /// owner since.
    pub fn hand_back(&self, jump_target: Option<JumpTarget>) -> Option<FlowEvent> {
        if self.goes_on() || self.survey_ends_at.is_some() {
            return None;
        }
        let session = self.session_id.as_ref()?;
        let back = HandBack {
            session_id: session.clone(),
            chat_id: self.chat_id.clone(),
            to: session.party().to_owned(),
            phone_number_id: session.phone_number_id().to_owned(),
            jump_target,
            agent_end_reason: None,
            ticket: None,
            handoff_deflect: None,
            epoch: self.epoch,
            timestamp: self.updated_at,
        };
        Some(match self.kind {
            TicketKind::Human => FlowEvent::HumanSessionEnded(HandBack { ticket: Some(self.exit()), ..back }),
            TicketKind::Ai => {
                let reason =
                    self.close_reason.clone().unwrap_or_else(|| CloseKind::Resolved.name().to_owned());
                FlowEvent::AgentSessionEnded(HandBack { agent_end_reason: Some(reason), ..back })
            }
        })
    }

    /// Returns the event that gives the session of a closed ticket back to its flow when its survey is over.
    pub fn hand_back_after_survey(&self) -> Option<FlowEvent> {
        self.hand_back(self.survey.as_ref()?.jump_target.clone())
    }

    /// Returns the request for a summary of a ticket that somebody worked; `None` for one that goes on as another one.
    pub fn summary_request(&self) -> Option<SummaryRequest> {
        let is_wanted = !self.goes_on() && self.assigned_at.is_some();
        is_wanted.then(|| SummaryRequest {
            chat_id: self.chat_id.clone(),
            ticket_id: Some(self.id.clone()),
            contact_id: self.contact_id.clone(),
            reason: SummaryReason::TicketClosed,
            timestamp: self.updated_at,
        })
    }

    /// Returns whether it is open, or its conversation goes on as another ticket. One of AI agents that they have not ended
    /// themselves was taken from them: whoever has the session has it already.
    fn goes_on(&self) -> bool {
        use CloseKind::{AgentTransfer, QueueTransfer, Resolved};
        let Some(kind) = self.close_kind else { return true };
        matches!(kind, AgentTransfer | QueueTransfer) || (self.kind == TicketKind::Ai && kind != Resolved)
    }

    /// Returns what flows read as `ticket` after the attendance (spec A 9): `exit.key` is the reason of whoever closed
    /// it, or else how it ended, and `exit.survey` what its contact said to the survey.
    fn exit(&self) -> Map<String, Value> {
        let kind = self.close_kind.map(CloseKind::name);
        let key = self.close_reason.as_deref().or(kind);
        let exit = json!({
            "id": self.id,
            "queueId": self.queue_id,
            "assignedUserId": self.assigned_user_id,
            "closeKind": kind,
            "closeReason": self.close_reason,
            "exit": { "key": key, "survey": self.survey.as_ref().map(AskedSurvey::exit) },
        });
        exit.as_object().cloned().unwrap_or_default()
    }

    fn must_be_open(&self) -> Result<(), NotOpen> {
        if self.is_open() { Ok(()) } else { Err(NotOpen) }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::id::Cuids;
    use flowsdk_core::session::SessionId;
    use flowsdk_core::time::ManualClock;
    use proptest::prelude::*;

    use super::*;
    use crate::ticket::ServiceClock;

    const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);

    fn id<T: std::str::FromStr<Err: std::fmt::Debug>>(text: &str) -> T {
        text.parse().expect("an id")
    }

    fn waiting() -> Ticket {
        let of = (id("chat1"), id("contact1"));
        Ticket {
            session_id: Some(SessionId::parse("wc-c1-ana").expect("an id")),
            epoch: Some(7),
            ..Ticket::opened(id("t1"), id("router1"), of, id("queue1"), NOW)
        }
    }

    fn assigned() -> Ticket {
        let mut ticket = waiting();
        ticket.assign(id("ana"), NOW).expect("open");
        ticket
    }

    fn closed() -> Ticket {
        let mut ticket = assigned();
        ticket.close(&Closing::by_system(CloseKind::Resolved), NOW).expect("open");
        ticket
    }

    fn ids() -> Cuids<ManualClock> {
        Cuids::new(ManualClock::at(NOW.as_millis()))
    }

    /// The rows of spec B 3.2 that begin at a ticket.
    #[test]
    fn every_change_leads_where_the_table_says() {
        use TicketStatus::{Assigned, Closed, Waiting};
        let (user, queue) = (TransferTarget::User(id("bia")), TransferTarget::Queue(id("queue2")));
        for from in [waiting(), assigned()] {
            let mut ticket = from.clone();
            ticket.assign(id("bia"), NOW).expect("open");
            assert_eq!((ticket.status, ticket.assigned_user_id), (Assigned, Some(id("bia"))), "assign");

            for (to, kind, reason, status, queue, holder) in [
                (
                    &user,
                    CloseKind::AgentTransfer,
                    OpenReason::AgentTransfer,
                    Assigned,
                    "queue1",
                    Some(id("bia")),
                ),
                (&queue, CloseKind::QueueTransfer, OpenReason::QueueTransfer, Waiting, "queue2", None),
            ] {
                let mut before = from.clone();
                let next = before.transfer(to, Some(id("caio")), &ids(), NOW).expect("open");
                assert_eq!((before.status, before.close_kind), (Closed, Some(kind)));
                assert_eq!((next.status, next.open_reason), (status, reason));
                assert_eq!(
                    (next.opened_by_kind, next.opened_by_user_id),
                    (OpenedByKind::Agent, Some(id("caio")))
                );
                assert_eq!((next.queue_id, next.assigned_user_id), (Some(id(queue)), holder));
                assert_eq!(next.previous_ticket_id.as_ref(), Some(&from.id));
                assert_eq!((next.epoch, &next.session_id), (from.epoch, &from.session_id));
                assert_eq!(before.hand_back(None), None, "the conversation stays with people");
                assert_eq!(before.summary_request(), None);
            }

            for kind in CloseKind::ALL.iter().copied() {
                let mut ticket = from.clone();
                ticket.close(&Closing::by_system(kind), NOW).expect("open");
                assert_eq!((ticket.status, ticket.close_kind), (Closed, Some(kind)));
                let goes_on = matches!(kind, CloseKind::AgentTransfer | CloseKind::QueueTransfer);
                assert_eq!(ticket.hand_back(None).is_none(), goes_on, "{kind:?}");
            }
        }
        let mut ticket = closed();
        assert_eq!(ticket.assign(id("bia"), NOW), Err(NotOpen));
        assert_eq!(ticket.close(&Closing::by_system(CloseKind::System), NOW), Err(NotOpen));
        assert_eq!(ticket.transfer(&user, None, &ids(), NOW), Err(NotOpen));
        assert_eq!(ticket, closed(), "nothing of it changed");
    }

    #[test]
    fn a_ticket_is_offered_while_it_waits() {
        let ends_at = NOW + Duration::from_secs(30);
        let offered = || {
            let mut ticket = waiting();
            ticket.offer(id("ana"), ends_at, NOW).expect("waiting");
            ticket
        };
        assert_eq!((offered().offered_to(), offered().offer_ends_at), (Some(&id("ana")), Some(ends_at)));
        for mut ticket in [offered(), assigned(), closed()] {
            let before = ticket.clone();
            assert_eq!(ticket.offer(id("bia"), ends_at, NOW), Err(NotOpen));
            assert_eq!(ticket, before);
        }
        for mut ticket in [waiting(), assigned(), closed()] {
            assert_eq!(ticket.pass(NOW), Err(NotOffered));
        }
        // Whoever passes is not asked again for a while, however often they pass.
        let mut ticket = offered();
        for round in 0..3 {
            let now = NOW + round * PASSED_FOR;
            assert_eq!(ticket.pass(now), Ok(id("ana")));
            assert_eq!((ticket.offered_to(), ticket.passed_at(now)), (None, vec![id("ana")]));
            assert_eq!(ticket.passed_at(now + PASSED_FOR), []);
            assert_eq!(ticket.passed_by.len(), 1);
            ticket.offer(id("ana"), ends_at, now).expect("offered to nobody");
        }
        let mut accepted = offered();
        accepted.assign(id("ana"), NOW).expect("open");
        assert_eq!(accepted, assigned(), "nothing of the offer is left");
        // Who was offered it hears that it is closed, or goes on elsewhere.
        let mut ended = offered();
        let next = ended.transfer(&TransferTarget::Queue(id("q2")), None, &ids(), NOW).expect("open");
        assert_eq!(
            (ended.offered_to(), ended.addressee(), ended.offer_ends_at),
            (None, Some(&id("ana")), None)
        );
        assert_eq!((next.addressee(), next.passed_by.len()), (None, 0));
    }

    #[test]
    fn a_promise_ends_with_its_ticket_or_goes_on_with_the_next() {
        let clock = |minutes: u64| {
            let at = |minutes: u64| NOW + Duration::from_mins(minutes);
            Some(ServiceClock::new(at(minutes / 2), at(minutes)))
        };
        let promised = || {
            let mut ticket = assigned();
            ticket.start_service(Some(ServiceClocks { first_response: clock(10), resolution: clock(60) }));
            ticket
        };
        let late = NOW + Duration::from_mins(20);
        for (kind, first, resolution) in [
            (CloseKind::Resolved, true, true),
            (CloseKind::System, true, false),
            (CloseKind::Abandoned, true, false),
            (CloseKind::HandoffReplaced, true, false),
        ] {
            let mut ticket = promised();
            ticket.close(&Closing::by_system(kind), late).expect("open");
            let clocks = ticket.service_clocks;
            assert_eq!(
                (clocks.first_response.is_some(), clocks.resolution.is_some()),
                (first, resolution),
                "{kind:?}"
            );
        }
        for (to, goes_on) in [
            (TransferTarget::User(id("bia")), true),
            (TransferTarget::Queue(id("queue1")), true),
            (TransferTarget::Queue(id("queue2")), false),
        ] {
            let mut ticket = promised();
            let next = ticket.transfer(&to, None, &ids(), late).expect("open");
            assert_eq!(ticket.service_clocks.resolution, None, "{to:?}");
            assert!(ticket.service_clocks.first_response.is_some(), "what was broken stays");
            let expected = goes_on.then(|| clock(60)).flatten();
            assert_eq!(
                (next.service_clocks.first_response, next.service_clocks.resolution),
                (None, expected),
                "{to:?}"
            );
            assert_eq!(next.service_next_at, expected.map(|clock| clock.warn_at));
        }
    }

    #[test]
    fn a_hand_back_tells_the_flow_how_it_ended() {
        let target = JumpTarget { flow_id: id("flow1"), block_id: id("b1") };
        let mut ticket = assigned();
        let closing =
            Closing { reason: Some("solved".to_owned()), ..Closing::by_system(CloseKind::Resolved) };
        ticket.close(&closing, NOW).expect("open");
        let Some(FlowEvent::HumanSessionEnded(back)) = ticket.hand_back(Some(target.clone())) else {
            panic!("a hand-back")
        };
        assert_eq!((back.epoch, back.jump_target), (Some(7), Some(target)));
        assert_eq!((back.to.as_str(), back.phone_number_id.as_str()), ("ana", "wc-c1"));
        let told = Value::Object(back.ticket.expect("a ticket"));
        assert_eq!(told["exit"], json!({ "key": "solved", "survey": null }));
        assert_eq!(told["assignedUserId"], "ana");
        let mut abandoned = waiting();
        abandoned.close(&Closing::by_system(CloseKind::Abandoned), NOW).expect("open");
        assert_eq!(abandoned.exit()["exit"]["key"], "abandoned", "without a reason the kind");
        assert_eq!(abandoned.summary_request(), None, "nobody said anything");
        assert!(ticket.summary_request().is_some());
        let legacy = Ticket { session_id: None, ..ticket };
        assert_eq!(legacy.hand_back(None), None, "legacy tickets close without resuming a flow");
    }

    #[derive(Debug, Clone)]
    enum Command {
        Assign(u8),
        Close,
        ToUser(u8),
        ToQueue(u8),
    }

    fn command() -> impl Strategy<Value = Command> {
        prop_oneof![
            any::<u8>().prop_map(Command::Assign),
            Just(Command::Close),
            any::<u8>().prop_map(Command::ToUser),
            any::<u8>().prop_map(Command::ToQueue),
        ]
    }

    proptest! {
        /// Whatever is done to it: the chain is unbroken, one ticket at most is open, and status and user agree.
        #[test]
        fn any_sequence_of_commands_keeps_the_chain(commands in prop::collection::vec(command(), 0..40)) {
            let ids = ids();
            let mut chain = vec![waiting()];
            for command in commands {
                let last = chain.last_mut().expect("a ticket");
                let was_open = last.is_open();
                let done = match command {
                    Command::Assign(user) => last.assign(id(&format!("u{user}")), NOW).map(|()| None),
                    Command::Close => last.close(&Closing::by_system(CloseKind::Resolved), NOW).map(|()| None),
                    Command::ToUser(user) => {
                        last.transfer(&TransferTarget::User(id(&format!("u{user}"))), None, &ids, NOW).map(Some)
                    }
                    Command::ToQueue(queue) => {
                        last.transfer(&TransferTarget::Queue(id(&format!("q{queue}"))), None, &ids, NOW).map(Some)
                    }
                };
                prop_assert_eq!(done.is_ok(), was_open);
                chain.extend(done.ok().flatten());
            }
            prop_assert!(chain.iter().filter(|ticket| ticket.is_open()).count() <= 1);
            for pair in chain.windows(2) {
                prop_assert_eq!(pair[1].previous_ticket_id.as_ref(), Some(&pair[0].id));
                prop_assert!(!pair[0].is_open());
            }
            for ticket in &chain {
                prop_assert_eq!(ticket.assigned_user_id.is_some(), ticket.assigned_at.is_some());
                prop_assert_eq!(ticket.closed_at.is_some(), !ticket.is_open());
                prop_assert_eq!(ticket.close_kind.is_some(), !ticket.is_open());
                prop_assert!(ticket.status != TicketStatus::Assigned || ticket.assigned_user_id.is_some());
                prop_assert!(ticket.status != TicketStatus::Waiting || ticket.assigned_user_id.is_none());
            }
        }
    }
}
