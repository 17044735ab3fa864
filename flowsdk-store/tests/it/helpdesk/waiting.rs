//! What contacts are told while nobody has their ticket.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::conversation::Handover;
use flowsdk_core::router::HasRouterCatalog as _;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::agent::PresenceStatus;
use flowsdk_helpdesk::desk::WaitingNotices;
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::queue::{DeflectReason, WaitingNotice};
use flowsdk_store::sql::SqlStore;

use super::desk::Helpdesk;
use crate::conversations::world::{MINUTE, body};
use crate::support::databases::on_every_database;

on_every_database! {
    contacts_hear_their_place_and_their_wait,
    a_notice_is_given_once_or_again,
    two_processes_tell_a_contact_once,
    nobody_is_told_who_is_served_or_has_left,
    a_flow_reads_the_place_of_a_handoff_that_was_turned_away,
    a_contact_without_a_queue_is_told_once,
}

const SECOND: Duration = Duration::from_secs(1);

fn notice(every_minutes: Option<u32>) -> WaitingNotice {
    WaitingNotice {
        text: "No. {{position}}, {{waitMinutes}} min".to_owned(),
        text_without_wait: Some("No. {{position}}".to_owned()),
        after_seconds: 10,
        every_minutes,
    }
}

impl Helpdesk {
    async fn give_notice(&self, queue: &str, notice: WaitingNotice) {
        self.change_queue(queue, |queue| queue.waiting_notice = Some(notice)).await;
    }

    /// What contacts are told now, each by their session.
    async fn notify(&self) -> Vec<String> {
        self.world.sink.0.lock().expect("the sink").clear();
        self.notices.tick().await.expect("a round");
        self.said()
    }

    fn said(&self) -> Vec<String> {
        let mut said = self.world.sink.0.lock().expect("the sink");
        let mut told: Vec<String> =
            said.drain(..).map(|event| format!("{}: {}", event.session_id.party(), body(&event))).collect();
        told.sort();
        told
    }
}

async fn contacts_hear_their_place_and_their_wait(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    for queue in ["q1", "q2"] {
        desk.add_queue(queue, ManualPickup).await;
    }
    desk.give_notice("q1", notice(None)).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    for visitor in ["ana", "bia", "caio"] {
        desk.hand_over(visitor, "bill").await.expect("a ticket");
        desk.world.clock.advance(SECOND);
    }
    desk.world.clock.advance(7 * SECOND - Duration::from_millis(1));
    assert_eq!(desk.notify().await, [""; 0], "not before its time");
    desk.world.clock.advance(Duration::from_millis(1));
    assert_eq!(desk.notify().await, ["ana: No. 1"], "nobody has taken a ticket yet");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    desk.world.clock.advance(10 * SECOND);
    assert_eq!(desk.notify().await, ["bia: No. 1, 60 min", "caio: No. 2, 120 min"]);
    let chat = desk.session("bia").await.chat_id;
    let transcript = desk.world.transcript(&chat).await;
    assert!(transcript.last().is_some_and(|last| last.ends_with("No. 1, 60 min")), "{transcript:?}");
    // A queue without a notice says nothing, and one that is given a notice tells those who wait.
    desk.give_notice("q2", notice(None)).await;
    desk.change_queue("q1", |queue| queue.waiting_notice = None).await;
    desk.world.clock.advance(61 * MINUTE);
    assert_eq!(desk.notify().await, [""; 0]);
    desk.hand_over("davi", "bill").await.expect("a ticket");
    desk.give_notice("q1", notice(None)).await;
    desk.world.clock.advance(10 * SECOND);
    assert_eq!(desk.notify().await, ["davi: No. 3"], "the pace is that of the last hour");
}

async fn a_notice_is_given_once_or_again(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.give_notice("q1", notice(None)).await;
    desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.world.clock.advance(10 * SECOND);
    assert_eq!(desk.notify().await, ["ana: No. 1"]);
    desk.world.clock.advance(60 * MINUTE);
    assert_eq!(desk.notify().await, [""; 0]);
    desk.give_notice("q1", notice(Some(5))).await;
    assert_eq!(desk.notify().await, ["ana: No. 1"]);
    desk.world.clock.advance(5 * MINUTE - Duration::from_millis(1));
    assert_eq!(desk.notify().await, [""; 0]);
    desk.world.clock.advance(Duration::from_millis(1));
    assert_eq!(desk.notify().await, ["ana: No. 1"]);
    // Where the wait cannot be told and nothing else is to be said, it is looked at again in five minutes.
    desk.give_notice("q1", WaitingNotice { text_without_wait: None, ..notice(Some(5)) }).await;
    desk.world.clock.advance(5 * MINUTE);
    assert_eq!(desk.notify().await, [""; 0]);
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.hand_over("bia", "bill").await.expect("a ticket");
    desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    desk.world.clock.advance(5 * MINUTE);
    assert_eq!(desk.notify().await, ["bia: No. 1, 60 min"]);
}

async fn two_processes_tell_a_contact_once(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.give_notice("q1", notice(None)).await;
    let visitors: Vec<String> = (0..20).map(|number| format!("v{number}")).collect();
    for visitor in &visitors {
        desk.hand_over(visitor, "bill").await.expect("a ticket");
    }
    desk.world.clock.advance(10 * SECOND);
    desk.said();
    let other = WaitingNotices::new(
        Arc::clone(&desk.world.store),
        desk.world.cx.clone(),
        Handover::Direct(Arc::clone(&desk.world.sink) as _),
    );
    let (one, two) = tokio::join!(desk.notices.tick(), other.tick());
    // Whoever loses a race tries again in the next round.
    for lost in [one, two].into_iter().filter_map(Result::err) {
        assert!(lost.is_lost_race(), "{lost}");
    }
    desk.notices.tick().await.expect("a round");
    let said = desk.said();
    let mut told: Vec<&str> = said.iter().filter_map(|line| line.split(':').next()).collect();
    told.sort_unstable();
    let mut all: Vec<&str> = visitors.iter().map(String::as_str).collect();
    all.sort_unstable();
    assert_eq!(told, all);
}

async fn nobody_is_told_who_is_served_or_has_left(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    desk.give_notice("q1", WaitingNotice { after_seconds: 0, ..notice(Some(1)) }).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.presence.set(&eva, PresenceStatus::Online).await.expect("set");
    desk.hand_over("ana", "bill").await.expect("a ticket");
    assert_eq!(desk.notify().await, [""; 0], "an agent had room");
    desk.presence.set(&eva, PresenceStatus::Offline).await.expect("set");
    desk.hand_over("bia", "bill").await.expect("a ticket");
    assert_eq!(desk.notify().await, ["bia: No. 1, 60 min"]);
    // Who has been silent for a day has left.
    desk.world.clock.advance(24 * 60 * MINUTE);
    assert_eq!(desk.notify().await, [""; 0]);
    desk.world.say("bia", "bia-more", "hello?").await;
    desk.take().await;
    assert_eq!(desk.notify().await, ["bia: No. 1"]);
}

async fn a_flow_reads_the_place_of_a_handoff_that_was_turned_away(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    desk.change_queue("q1", |queue| {
        (queue.deflect_when, queue.max_waiting) = (vec![DeflectReason::Full], Some(2));
    })
    .await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    for visitor in ["ana", "bia", "caio"] {
        desk.hand_over(visitor, "bill").await.expect("a ticket");
        if visitor == "ana" {
            desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
        }
    }
    assert_eq!(desk.hand_over("davi", "bill").await, None);
    assert_eq!(desk.go_on().await, ["Bye full"]);
    let deflect = &desk.session("davi").await.variables["handoffDeflect"];
    assert_eq!((&deflect["position"], &deflect["waitMinutes"]), (&3.into(), &180.into()));
}

/// Rulings S20: a visitor never waits for nothing.
async fn a_contact_without_a_queue_is_told_once(store: SqlStore) {
    const STUCK: &str =
        "Ninguém pode atender você agora. O que você escrever fica guardado e será respondido.";
    let desk = Helpdesk::new(store).await;
    desk.arrive("ana", "bill").await;
    desk.said();
    let events = desk.events().await;
    for _ in 0..2 {
        desk.intake.take(&events.iter().collect::<Vec<_>>()).await.expect("taken");
    }
    assert_eq!(desk.said(), [format!("ana: {STUCK}")], "an event that comes again says nothing");
    let chat = desk.session("ana").await.chat_id;
    let transcript = desk.world.transcript(&chat).await;
    assert!(transcript.last().is_some_and(|last| last.ends_with(STUCK)), "{transcript:?}");
    for _ in 0..3 {
        desk.world.clock.advance(5 * MINUTE);
        desk.intake.retry_stuck(100).await.expect("tried");
    }
    assert_eq!(desk.said(), [""; 0]);
    // What the router says instead.
    let mut tx = desk.world.store.begin().await.expect("begin");
    let found = tx.router_catalog().find_for_update(&desk.world.router).await.expect("find");
    let mut router = found.expect("a router");
    router.fallback_texts.stuck_handoff = Some(String::new());
    tx.router_catalog().save(&router).await.expect("saved");
    tx.commit().await.expect("commit");
    desk.arrive("bia", "bill").await;
    desk.said();
    desk.take().await;
    assert_eq!(desk.said(), [""; 0], "an empty text says nothing");
}
