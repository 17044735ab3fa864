//! Whatever people and contacts do, in whatever order: what holds of tickets, sessions and news afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use flowsdk_core::id::{ChatId, TicketId, UserId};
use flowsdk_core::session::Mode;
use flowsdk_core::store::Store as _;
use flowsdk_helpdesk::agent::PresenceStatus;
use flowsdk_helpdesk::desk::{CloseTicket, ReplyToContact, TransferTicket};
use flowsdk_helpdesk::news::HasNews as _;
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup, RoundRobin};
use flowsdk_helpdesk::ticket::{CloseKind, HasTickets as _, Ticket, TicketError, TicketFilter, TicketStatus};
use flowsdk_store::sql::SqlStore;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;

use super::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! { any_order_of_commands_keeps_the_desk_whole }

const VISITORS: usize = 4;
const AGENTS: usize = 3;
const QUEUES: [&str; 3] = ["q1", "q2", "offers"];
/// Most tickets that an agent is given.
const LIMIT: u32 = 2;

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
        Self { desk, agents, written: vec![0; VISITORS] }
    }

    async fn write(&mut self, at: usize) {
        self.written[at] += 1;
        let key = format!("{}-{}", visitor(at), self.written[at]);
        self.desk.world.say(&visitor(at), &key, "bill").await;
        self.desk.take().await;
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
        let outcome = match act {
            Act::Write(at) => {
                self.write(*at).await;
                Ok(())
            }
            // Twice brings a visitor who is with the flow to the block that hands over.
            Act::HandOver(at) => {
                self.write(*at).await;
                self.write(*at).await;
                Ok(())
            }
            Act::Wait(seconds) => {
                self.desk.world.clock.advance(Duration::from_secs(*seconds));
                Ok(())
            }
            Act::Sweep => {
                self.sweep().await;
                Ok(())
            }
            Act::GoOn => {
                self.desk.go_on().await;
                Ok(())
            }
            Act::BeThere(at, status) => {
                self.desk.presence.set(&self.agents[*at], *status).await.map_err(TicketError::from)
            }
            other => self.command(other).await,
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
                    assert!(!is_offered || ticket.queue_id.as_str() == "offers", "{ticket:?}");
                }
                TicketStatus::Assigned => assert!(has_user && ticket.assigned_at.is_some(), "{ticket:?}"),
                TicketStatus::Closed => assert!(ticket.closed_at.is_some(), "{ticket:?}"),
            }
            assert_eq!(ticket.is_open(), ticket.close_kind.is_none(), "{ticket:?}");
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
        let open = self.open().await;
        for at in 0..VISITORS {
            let Some(stored) = self.desk.world.stored(&visitor(at)).await else { continue };
            let has_ticket = open.iter().any(|ticket| ticket.session_id.as_ref() == Some(&stored.session.id));
            assert_eq!(stored.session.mode == Mode::Human, has_ticket, "{:?} {open:?}", stored.session);
        }
        let now = self.desk.world.cx.now();
        let load = |user: &UserId| open.iter().filter(|ticket| ticket.addressee() == Some(user)).count();
        for queue in ["q1", "offers"] {
            let mut tx = self.desk.world.store.begin().await.expect("begin");
            let online =
                tx.tickets().lock_online_agents(&queue.parse().expect("an id"), now).await.expect("agents");
            let has_room = |ticket: &Ticket| {
                let passed = ticket.passed_at(now);
                online.iter().any(|user| load(user) < LIMIT as usize && !passed.contains(user))
            };
            let waits = |one: &&Ticket| one.status == TicketStatus::Waiting && one.queue_id.as_str() == queue;
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
    let mut runner = TestRunner::deterministic();
    let acts = prop::collection::vec(act(), 400).new_tree(&mut runner).expect("acts").current();
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
}
