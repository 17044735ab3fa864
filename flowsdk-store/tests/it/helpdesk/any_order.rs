//! Whatever people and contacts do, in whatever order, and wherever the process ends meanwhile: what holds of tickets,
//! sessions and news afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use flowsdk_core::id::{ChatId, TicketId, UserId};
use flowsdk_core::session::Mode;
use flowsdk_core::store::Store as _;
use flowsdk_helpdesk::agent::PresenceStatus;
use flowsdk_helpdesk::desk::{CloseTicket, ReplyToContact, TransferTicket};
use flowsdk_helpdesk::news::HasNews as _;
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup, RoundRobin};
use flowsdk_helpdesk::queue::{ServiceLevel, Survey};
use flowsdk_helpdesk::ticket::{CloseKind, HasTickets as _, Ticket, TicketError, TicketFilter, TicketStatus};
use flowsdk_store::sql::SqlStore;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::desk::{Helpdesk, queue_of};
use crate::support::databases::on_every_database;

on_every_database! { any_order_of_commands_keeps_the_desk_whole, a_crash_anywhere_keeps_the_desk_whole }

const VISITORS: usize = 4;
const AGENTS: usize = 3;
const QUEUES: [&str; 3] = ["q1", "q2", "offers"];
/// Most tickets that an agent is given.
const LIMIT: u32 = 2;

/// Broken now and then within the time that the acts take.
const LEVEL: ServiceLevel =
    ServiceLevel { first_response_minutes: Some(5), resolution_minutes: Some(20), warn_at_percent: 50 };

fn survey() -> Survey {
    Survey { question: "1 to 5?".to_owned(), comment_question: None, thanks: None, within_minutes: 10 }
}

/// What somebody does. Numbers choose among visitors, agents, queues and open tickets.
#[derive(Debug, Clone)]
enum Act {
    Write(usize),
    HandOver(usize),
    BeThere(usize, PresenceStatus),
    PickUp(usize),
    Accept(usize, usize),
    Decline(usize, usize),
    Assign(usize, Option<usize>),
    Reply(usize, usize),
    ToUser(usize, usize),
    ToQueue(usize, usize),
    Close(usize, usize),
    Wait(u64),
    Sweep,
    GoOn,
    /// The process ends in the middle of it: after so many steps.
    Crash(Box<Act>, usize),
}

/// Most steps before a crash. Every command has one before each of its transactions; the longest have about forty on a
/// database of another process.
const STEPS: usize = 40;

/// Any act, or one during which the process ends.
fn act_or_crash() -> impl Strategy<Value = Act> {
    let steps = prop_oneof![1 => 1_usize..4, 1 => 1..STEPS];
    let crash = (act(), steps).prop_map(|(act, steps)| Act::Crash(Box::new(act), steps));
    prop_oneof![1 => act(), 2 => crash]
}

/// Polls a future, and drops it when it has made so many steps, as the end of its process does. Returns what it returned, if
/// it came to its end before.
async fn until_crash<F: Future>(steps: Option<usize>, future: F) -> Option<F::Output> {
    let Some(mut left) = steps else { return Some(future.await) };
    let mut future = pin!(future);
    poll_fn(|cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(cx).map(Some)
    })
    .await
}

fn act() -> impl Strategy<Value = Act> {
    let status = prop::sample::select(PresenceStatus::ALL.to_vec());
    let ticket = 0..VISITORS;
    prop_oneof![
        2 => (0..VISITORS).prop_map(Act::Write),
        4 => (0..VISITORS).prop_map(Act::HandOver),
        3 => (0..AGENTS, status).prop_map(|(agent, status)| Act::BeThere(agent, status)),
        3 => (0..AGENTS).prop_map(Act::PickUp),
        3 => (ticket.clone(), 0..AGENTS).prop_map(|(ticket, agent)| Act::Accept(ticket, agent)),
        1 => (ticket.clone(), 0..AGENTS).prop_map(|(ticket, agent)| Act::Decline(ticket, agent)),
        2 => (ticket.clone(), prop::option::of(0..AGENTS)).prop_map(|(ticket, agent)| Act::Assign(ticket, agent)),
        2 => (ticket.clone(), 0..AGENTS).prop_map(|(ticket, agent)| Act::Reply(ticket, agent)),
        2 => (ticket.clone(), 0..AGENTS).prop_map(|(ticket, agent)| Act::ToUser(ticket, agent)),
        2 => (ticket.clone(), 0..QUEUES.len()).prop_map(|(ticket, queue)| Act::ToQueue(ticket, queue)),
        3 => (ticket, 0..AGENTS).prop_map(|(ticket, agent)| Act::Close(ticket, agent)),
        2 => (1_u64..600).prop_map(Act::Wait),
        2 => Just(Act::Sweep),
        2 => Just(Act::GoOn),
    ]
}

/// A desk, and who is at it.
struct Scene {
    desk: Helpdesk,
    agents: Vec<UserId>,
    /// How often each visitor has written.
    written: Vec<usize>,
    /// How many acts were cut off by a crash.
    crashes: usize,
}

impl Scene {
    async fn new(store: SqlStore) -> Self {
        let desk = Helpdesk::new(store).await;
        for (queue, strategy) in QUEUES.into_iter().zip([LeastLoaded, ManualPickup, RoundRobin]) {
            desk.add_queue(queue, strategy).await;
            desk.change_queue(queue, |queue| {
                queue.max_concurrent_tickets_per_agent = LIMIT;
                queue.abandon_after_minutes = Some(4);
                queue.reassign_after_minutes = Some(3);
                queue.accept_within_seconds = (queue.id.as_str() == "offers").then_some(30);
                queue.survey = (queue.id.as_str() == "q2").then(survey);
                queue.service_level = Some(LEVEL);
            })
            .await;
        }
        let mut agents = Vec::new();
        for at in 0..AGENTS {
            agents.push(desk.add_agent(&format!("agent{at}"), &QUEUES).await);
        }
        for at in 0..VISITORS {
            desk.world.add_visitor(&visitor(at)).await;
        }
        Self { desk, agents, written: vec![0; VISITORS], crashes: 0 }
    }

    /// A visitor writes. What they write to a survey is a number every third time.
    async fn write(&mut self, at: usize, crash: Option<usize>) {
        self.written[at] += 1;
        let key = format!("{}-{}", visitor(at), self.written[at]);
        let text = if self.written[at].is_multiple_of(3) { "5" } else { "bill" };
        self.desk.world.say(&visitor(at), &key, text).await;
        let events = self.desk.events().await;
        let events: Vec<_> = events.iter().collect();
        let taken = until_crash(crash, self.desk.intake.take(&events)).await;
        if !matches!(taken, Some(Ok(()))) {
            self.crashes += 1;
            // The stream has them still.
            self.desk.intake.take(&events).await.expect("taken");
        }
    }

    async fn open(&self) -> Vec<Ticket> {
        let all = self.desk.tickets(TicketFilter::default()).await;
        all.into_iter().filter(Ticket::is_open).collect()
    }

    /// The id of an open ticket, or of none.
    async fn ticket(&self, at: usize) -> TicketId {
        let open = self.open().await;
        let ticket = open.get(at % open.len().max(1)).map(|ticket| ticket.id.clone());
        ticket.unwrap_or_else(|| "cnothing".parse().expect("an id"))
    }

    async fn act(&mut self, act: &Act) {
        match act {
            Act::Crash(act, steps) => self.run(act, Some(*steps)).await,
            act => self.run(act, None).await,
        }
    }

    /// Does it, up to a crash after so many steps.
    async fn run(&mut self, act: &Act, crash: Option<usize>) {
        let outcome = match act {
            Act::Write(at) => {
                self.write(*at, crash).await;
                Ok(())
            }
            // Twice brings a visitor who is with the flow to the block that hands over.
            Act::HandOver(at) => {
                self.write(*at, crash).await;
                self.write(*at, crash).await;
                Ok(())
            }
            Act::Wait(seconds) => {
                self.desk.world.clock.advance(Duration::from_secs(*seconds));
                Ok(())
            }
            Act::Sweep => {
                self.crashes += usize::from(until_crash(crash, self.sweep()).await.is_none());
                Ok(())
            }
            Act::GoOn => {
                self.desk.go_on().await;
                Ok(())
            }
            Act::BeThere(at, status) => {
                let set = until_crash(crash, self.desk.presence.set(&self.agents[*at], *status)).await;
                set.map_or(Ok(()), |set| set.map(drop).map_err(TicketError::from))
            }
            other => {
                let done = until_crash(crash, self.command(other)).await;
                self.crashes += usize::from(done.is_none());
                done.unwrap_or(Ok(()))
            }
        };
        if let Err(TicketError::Storage(error)) = outcome {
            panic!("{act:?}: {error}");
        }
    }

    async fn command(&self, act: &Act) -> Result<(), TicketError> {
        let (desk, by) = (&self.desk.desk, |at: usize| self.desk.by(&self.agents[at]));
        match *act {
            Act::PickUp(at) => desk.pick_up(by(at), &self.agents[at]).await.map(drop),
            Act::Accept(at, by_whom) => {
                desk.accept(by(by_whom), &self.agents[by_whom], &self.ticket(at).await).await.map(drop)
            }
            Act::Decline(at, by_whom) => {
                desk.decline(by(by_whom), &self.agents[by_whom], &self.ticket(at).await).await.map(drop)
            }
            Act::Assign(at, to) => {
                let to = to.map(|to| &self.agents[to]);
                desk.assign(by(0), &self.ticket(at).await, to).await.map(drop)
            }
            Act::Reply(at, from) => {
                desk.reply(by(from), &self.ticket(at).await, ReplyToContact::text("hi"), None).await.map(drop)
            }
            Act::ToUser(at, to) => {
                let to = TransferTicket { to_user_id: Some(self.agents[to].clone()), to_queue_id: None };
                desk.transfer(by(0), &self.ticket(at).await, to).await.map(drop)
            }
            Act::ToQueue(at, to) => {
                let to = TransferTicket { to_user_id: None, to_queue_id: QUEUES[to].parse().ok() };
                desk.transfer(by(0), &self.ticket(at).await, to).await.map(drop)
            }
            Act::Close(at, by_whom) => {
                desk.close(by(by_whom), &self.ticket(at).await, CloseTicket::default()).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    async fn sweep(&self) {
        self.desk.sweep.tick().await.expect("swept");
        self.desk.sweep.end_offers().await.expect("swept");
        self.desk.sweep.pass_time().await.expect("swept");
        self.desk.sweep.end_surveys().await.expect("swept");
        self.desk.sweep.take_back().await.expect("swept");
        self.desk.dispatcher.sweep().await.expect("swept");
    }

    /// What always holds.
    async fn check(&self) {
        let all = self.desk.tickets(TicketFilter::default()).await;
        let known: BTreeMap<&TicketId, &Ticket> = all.iter().map(|ticket| (&ticket.id, ticket)).collect();
        let mut open: BTreeSet<&ChatId> = BTreeSet::new();
        let mut followed: BTreeSet<&TicketId> = BTreeSet::new();
        for ticket in &all {
            assert!(
                !ticket.is_open() || open.insert(&ticket.chat_id),
                "two open tickets of a chat: {ticket:?}"
            );
            let has_user = ticket.assigned_user_id.is_some();
            match ticket.status {
                TicketStatus::Waiting => {
                    let is_offered = ticket.offered_user_id.is_some();
                    assert!(!has_user && is_offered == ticket.offer_ends_at.is_some(), "{ticket:?}");
                    assert!(!is_offered || queue_of(ticket) == "offers", "{ticket:?}");
                }
                TicketStatus::Assigned => assert!(has_user && ticket.assigned_at.is_some(), "{ticket:?}"),
                TicketStatus::Closed => assert!(ticket.closed_at.is_some(), "{ticket:?}"),
            }
            assert_eq!(ticket.is_open(), ticket.close_kind.is_none(), "{ticket:?}");
            assert_eq!(ticket.service_next_at, ticket.service_clocks.next_at(), "{ticket:?}");
            assert!(ticket.survey.is_some() || ticket.survey_ends_at.is_none(), "{ticket:?}");
            if let Some(before) = &ticket.previous_ticket_id {
                assert!(followed.insert(before), "two tickets follow one: {ticket:?}");
                let before = known[before];
                assert!(!before.is_open() && before.chat_id == ticket.chat_id, "{before:?} {ticket:?}");
            }
        }
        for ticket in &all {
            use CloseKind::{AgentTransfer, HandoffReplaced, QueueTransfer};
            let goes_on = matches!(ticket.close_kind, Some(AgentTransfer | QueueTransfer | HandoffReplaced));
            assert!(!goes_on || followed.contains(&ticket.id), "the chain is broken: {ticket:?}");
        }
        self.check_sessions(&all).await;
        self.check_news().await;
    }

    /// A session that people have has an open ticket, and points to it.
    async fn check_sessions(&self, all: &[Ticket]) {
        for at in 0..VISITORS {
            let Some(stored) = self.desk.world.stored(&visitor(at)).await else { continue };
            let session = stored.session;
            let of_session = |ticket: &&Ticket| ticket.session_id.as_ref() == Some(&session.id);
            let open = all.iter().filter(of_session).find(|ticket| ticket.is_open());
            if let Some(ticket) = open {
                assert_eq!((session.mode, Some(session.epoch)), (Mode::Human, ticket.epoch), "{ticket:?}");
                let pointed = session.helpdesk.as_ref().and_then(|state| state.ticket_id.as_ref());
                assert_eq!(pointed, Some(&ticket.id), "{session:?}");
            }
        }
    }

    /// News are numbered from 1, without gaps.
    async fn check_news(&self) {
        let mut tx = self.desk.world.store.read().await.expect("read");
        for agent in &self.agents {
            let news = tx.news().unseen(&[(agent.clone(), 0)], 1_000).await.expect("news");
            let numbers: Vec<i64> = news.iter().map(|row| row.seq).collect();
            assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>(), "{agent}");
        }
    }

    /// What holds once everything has been done that was asked for.
    async fn check_at_rest(&self) {
        self.desk.go_on().await;
        self.sweep().await;
        self.desk.go_on().await;
        self.check().await;
        let all = self.desk.tickets(TicketFilter::default()).await;
        let open: Vec<&Ticket> = all.iter().filter(|ticket| ticket.is_open()).collect();
        for at in 0..VISITORS {
            let Some(stored) = self.desk.world.stored(&visitor(at)).await else { continue };
            let session = stored.session;
            let is_its = |ticket: &&Ticket| ticket.session_id.as_ref() == Some(&session.id);
            let asked = all.iter().filter(is_its).find(|ticket| ticket.survey_ends_at.is_some());
            let is_asked = asked.is_some_and(|ticket| ticket.epoch == Some(session.epoch));
            let has_ticket = open.iter().any(is_its);
            assert_eq!(session.mode == Mode::Human, has_ticket || is_asked, "{session:?} {open:?} {asked:?}");
            assert!(!(has_ticket && is_asked), "{session:?} {open:?} {asked:?}");
        }
        let now = self.desk.world.cx.now();
        let load = |user: &UserId| open.iter().filter(|ticket| ticket.addressee() == Some(user)).count();
        for queue in ["q1", "offers"] {
            let mut tx = self.desk.world.store.begin().await.expect("begin");
            let queues = [queue.parse().expect("an id")];
            let online = tx.tickets().lock_online_agents(&queues, now).await.expect("agents");
            let has_room = |ticket: &Ticket| {
                let passed = ticket.passed_at(now);
                online.iter().any(|(_, user)| load(user) < LIMIT as usize && !passed.contains(user))
            };
            let waits = |one: &&&Ticket| one.status == TicketStatus::Waiting && queue_of(one) == queue;
            let mut waiting = open.iter().filter(waits).filter(|ticket| ticket.offered_to().is_none());
            let forgotten = waiting.find(|ticket| has_room(ticket));
            assert_eq!(forgotten, None, "a ticket waits beside an agent with room: {open:?}");
        }
    }
}

fn visitor(at: usize) -> String {
    format!("v{at}")
}

async fn any_order_of_commands_keeps_the_desk_whole(store: SqlStore) {
    assert_eq!(keeps_the_desk_whole(store, act()).await, 0);
}

async fn a_crash_anywhere_keeps_the_desk_whole(store: SqlStore) {
    let crashes = keeps_the_desk_whole(store, act_or_crash()).await;
    assert!(crashes > 40, "{crashes} crashes: the steps are too many");
}

/// Returns how many of the acts were cut off.
async fn keeps_the_desk_whole(store: SqlStore, act: impl Strategy<Value = Act>) -> usize {
    let mut runner = TestRunner::deterministic();
    let acts = prop::collection::vec(act, 400).new_tree(&mut runner).expect("acts").current();
    let mut scene = Scene::new(store).await;
    for (at, act) in acts.iter().enumerate() {
        scene.act(act).await;
        scene.check().await;
        if at % 25 == 24 {
            scene.check_at_rest().await;
        }
    }
    let all = scene.desk.tickets(TicketFilter::default()).await;
    let kinds: BTreeSet<&str> =
        all.iter().filter_map(|ticket| ticket.close_kind).map(CloseKind::name).collect();
    for kind in
        [CloseKind::Resolved, CloseKind::AgentTransfer, CloseKind::QueueTransfer, CloseKind::Abandoned]
    {
        assert!(kinds.contains(kind.name()), "{kinds:?} of {} tickets: the acts miss something", all.len());
    }
    scene.crashes
}
