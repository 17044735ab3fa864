//! Conformance suite for stores of the helpdesk: the promises of its repositories, as tests that the store's own crate
//! runs.
//!
//! ```text
//! mod my_store {
//!     async fn make() -> flowsdk_core::testkit::store::StoreUnderTest<MyStore> { .. }
//!     flowsdk_helpdesk::helpdesk_store_conformance!(make);
//! }
//! ```
#![allow(clippy::expect_used, reason = "a failed expectation is a failed test")]

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::chat::{Chat, HasChats};
use flowsdk_core::contact::{Contact, HasContacts};
use flowsdk_core::context::OpContext;
use flowsdk_core::id::{Cuids, QueueId, RouterId, TicketId};
use flowsdk_core::record::HasRecords;
use flowsdk_core::router::{HasRouterCatalog, HasRouters, Router};
use flowsdk_core::session::{Channel, SessionId};
use flowsdk_core::store::{Store, Transaction};
use flowsdk_core::testkit::store::StoreUnderTest;
use flowsdk_core::time::{ManualClock, Timestamp};

use crate::close_reason::{CloseReason, HasCloseReasons};
use crate::intake::HasStuckHandoffs;
use crate::news::HasNews;
use crate::queue::{
    DeflectReason, DistributionStrategy, HasQueues, Queue, ServiceLevel, Survey, WaitingNotice,
};
use crate::quick_reply::{HasQuickReplies, QuickReply};
use crate::rule::{DistributionRule, HasRules};
use crate::tag::{HasTags, Tag};
use crate::ticket::{HasTickets, Ticket};

#[doc(hidden)]
pub use flowsdk_core;

/// A transaction with every repository that the cases use. Every transaction with those accessors is one.
pub trait HelpdeskTx:
    Transaction
    + HasRouters
    + HasRouterCatalog
    + HasContacts
    + HasChats
    + HasRecords<Queue>
    + HasRecords<DistributionRule>
    + HasRecords<Tag>
    + HasRecords<QuickReply>
    + HasRecords<CloseReason>
    + HasCloseReasons
    + HasTags
    + HasQuickReplies
    + HasQueues
    + HasRules
    + HasTickets
    + HasStuckHandoffs
    + HasNews
{
}

impl<
    T: Transaction
        + HasRouters
        + HasRouterCatalog
        + HasContacts
        + HasChats
        + HasRecords<Queue>
        + HasRecords<DistributionRule>
        + HasRecords<Tag>
        + HasRecords<QuickReply>
        + HasRecords<CloseReason>
        + HasCloseReasons
        + HasTags
        + HasQuickReplies
        + HasQueues
        + HasRules
        + HasTickets
        + HasStuckHandoffs
        + HasNews,
> HelpdeskTx for T
{
}

/// Tests that a [`Store`] keeps its promises about the helpdesk. The argument is the path of an async function that
/// returns a [`StoreUnderTest`], or an `Option` of one.
#[macro_export]
macro_rules! helpdesk_store_conformance {
    ($make:path) => {
        $crate::__helpdesk_store_cases! {
            ($crate::testkit::flowsdk_core::__conformance_tests)
            [$crate::testkit::flowsdk_core::testkit::store::run] [$crate::testkit] $make
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __helpdesk_store_cases {
    (($($then:tt)*) $($args:tt)*) => {
        $($then)*! {
            ($($args)*)
            a_queue_is_read_back_and_its_name_given_once
            rules_are_asked_in_their_order
            a_ticket_is_read_back
            a_chat_has_one_open_ticket_and_a_handoff_one_in_all
            tickets_are_found_by_what_is_asked
            waiting_tickets_are_claimed_oldest_first
            a_tag_is_taken_off_the_tickets_that_have_it
            quick_replies_are_those_of_a_queue_by_name
            a_reason_is_taken_while_it_is_active_or_none_is
            a_stuck_handoff_is_kept_once_a_session
            news_are_numbered_for_each_user
        }
    };
}

/// The names of the cases.
pub const CASES: &[&str] = crate::__helpdesk_store_cases! { (flowsdk_core::__conformance_names) };

const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);

fn later(millis: u64) -> Timestamp {
    NOW + Duration::from_millis(millis)
}

fn context() -> OpContext {
    let clock = ManualClock::at(NOW.as_millis());
    OpContext::new(Arc::new(clock.clone()), Arc::new(Cuids::new(clock)))
}

fn queue(id: &str, router: &RouterId, name: &str, at: Timestamp) -> Queue {
    Queue {
        id: id.parse().expect("an id"),
        router_id: router.clone(),
        name: name.to_owned(),
        distribution_strategy: DistributionStrategy::LeastLoaded,
        max_concurrent_tickets_per_agent: 3,
        abandon_after_minutes: Some(7),
        reassign_after_minutes: Some(15),
        business_hours: serde_json::from_value(serde_json::json!({
            "timeZone": "America/Sao_Paulo",
            "spans": [{ "days": ["monday", "friday"], "from": "09:00", "to": "24:00" }],
            "holidays": [{ "date": "2026-12-25", "name": "Natal", "spans": [] }],
        }))
        .expect("hours"),
        deflect_when: vec![DeflectReason::Full, DeflectReason::Closed],
        max_waiting: Some(50),
        accept_within_seconds: Some(30),
        waiting_notice: Some(WaitingNotice {
            text: "Nº {{position}} 👋".to_owned(),
            text_without_wait: Some("já".to_owned()),
            after_seconds: 0,
            every_minutes: Some(5),
        }),
        service_level: Some(ServiceLevel {
            first_response_minutes: Some(15),
            resolution_minutes: None,
            warn_at_percent: 75,
        }),
        survey: Some(Survey {
            question: "1–5?".to_owned(),
            comment_question: Some("?".to_owned()),
            thanks: None,
            within_minutes: 30,
        }),
        is_active: true,
        created_at: at,
        updated_at: at,
    }
}

/// A store with a router and two queues.
struct World<S> {
    store: Arc<S>,
    cx: OpContext,
    router: RouterId,
}

impl<S: Store> World<S>
where
    S::Tx: HelpdeskTx,
{
    async fn new(subject: &StoreUnderTest<S>) -> Self {
        let (store, cx) = (Arc::clone(&subject.store), context());
        let router = Router::new("router1".parse().expect("an id"), "Loja", NOW);
        let mut tx = store.begin().await.expect("begin");
        tx.routers().insert(&router).await.expect("a router");
        for (at, id) in (0..).zip(["q1", "q2"]) {
            tx.records().insert(&queue(id, &router.id, id, later(at))).await.expect("a queue");
        }
        tx.commit().await.expect("commit");
        Self { store, cx, router: router.id }
    }

    async fn begin(&self) -> S::Tx {
        self.store.begin().await.expect("begin")
    }

    /// A ticket that waits, of a contact of its own; not stored.
    async fn ticket(&self, tx: &mut S::Tx, id: &str, queue: &str, at: u64) -> Ticket {
        let session = SessionId::parse(format!("wc-c1-{id}")).expect("an id");
        let contact =
            Contact::create(&self.cx, session.contact_identity(), "Ana".to_owned(), Channel::Webchat);
        let contact = tx.contacts().insert_or_get(&contact).await.expect("a contact");
        let chat = Chat::open(&self.cx, contact.id.clone(), self.router.clone());
        let chat = tx.chats().open_or_get_many(&[chat]).await.expect("a chat").remove(0);
        let (id, queue) = (id.parse().expect("an id"), queue.parse().expect("an id"));
        Ticket {
            session_id: Some(session),
            epoch: Some(7),
            ..Ticket::opened(id, self.router.clone(), (chat.id, contact.id), queue, later(at))
        }
    }
}

fn ids(tickets: &[Ticket]) -> Vec<&str> {
    tickets.iter().map(|ticket| TicketId::as_str(&ticket.id)).collect()
}

fn queue_id(id: &str) -> QueueId {
    id.parse().expect("an id")
}

mod news;
mod queues;
mod reasons;
mod replies;
mod tickets;

pub use news::{a_stuck_handoff_is_kept_once_a_session, news_are_numbered_for_each_user};
pub use queues::{a_queue_is_read_back_and_its_name_given_once, rules_are_asked_in_their_order};
pub use reasons::a_reason_is_taken_while_it_is_active_or_none_is;
pub use replies::{a_tag_is_taken_off_the_tickets_that_have_it, quick_replies_are_those_of_a_queue_by_name};
pub use tickets::{
    a_chat_has_one_open_ticket_and_a_handoff_one_in_all, a_ticket_is_read_back,
    tickets_are_found_by_what_is_asked, waiting_tickets_are_claimed_oldest_first,
};

#[cfg(test)]
mod tests {
    #[test]
    fn every_case_that_is_written_is_in_the_list() {
        let files = [
            include_str!("queues.rs"),
            include_str!("tickets.rs"),
            include_str!("replies.rs"),
            include_str!("reasons.rs"),
            include_str!("news.rs"),
        ];
        let written: Vec<&str> = files.into_iter().flat_map(flowsdk_core::testkit::written).collect();
        assert_eq!(super::CASES, written);
    }
}
