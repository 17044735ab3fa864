//! Who looks at a ticket.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::conversation::{Handover, OutgoingSink};
use flowsdk_core::event::{Notice, NoticeKind};
use flowsdk_core::id::UserId;
use flowsdk_core::message::SenderKind;
use flowsdk_core::router::Reach;
use flowsdk_core::store::Store as _;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_helpdesk::queue::DistributionStrategy::ManualPickup;
use flowsdk_helpdesk::ticket::{Ticket, TicketError};
use flowsdk_helpdesk::viewer::{HasViewers as _, TYPING_LASTS, VIEW_LIFETIME, Viewers};
use flowsdk_store::sql::SqlStore;

use super::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! {
    a_desk_looks_at_one_ticket_until_it_looks_away,
    a_look_holds_while_it_is_renewed,
    whoever_has_the_ticket_is_shown_typing,
    looks_go_with_their_ticket,
}

fn viewers(desk: &Helpdesk, handover: Handover) -> Viewers<SqlStore> {
    Viewers::new(Arc::clone(&desk.world.store), desk.world.cx.clone(), handover)
}

fn direct(desk: &Helpdesk) -> Handover {
    Handover::Direct(Arc::clone(&desk.world.sink) as Arc<dyn OutgoingSink>)
}

/// The names of those who look at a ticket, and whether they have typed.
async fn seen(viewers: &Viewers<SqlStore>, ticket: &Ticket) -> Vec<(String, bool)> {
    let found = viewers.of(std::slice::from_ref(&ticket.id)).await.expect("viewers");
    found.into_iter().map(|one| (one.name, one.typing_until.is_some())).collect()
}

/// What visitors were told of somebody who types.
fn typing(desk: &Helpdesk) -> Vec<Notice> {
    let told = desk.world.sink.told().into_iter();
    told.filter(|notice| matches!(notice.kind, NoticeKind::Typing { .. })).collect()
}

fn all(names: &[(&str, bool)]) -> Vec<(String, bool)> {
    names.iter().map(|(name, typed)| ((*name).to_owned(), *typed)).collect()
}

/// Two agents, and the tickets of two visitors.
async fn scene(store: SqlStore) -> (Helpdesk, UserId, UserId, Ticket, Ticket) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let (eva, ivo) = (desk.add_agent("eva", &["q1"]).await, desk.add_agent("ivo", &["q1"]).await);
    let first = desk.hand_over("v1", "bill").await.expect("a ticket");
    let second = desk.hand_over("v2", "bill").await.expect("a ticket");
    (desk, eva, ivo, first, second)
}

async fn a_desk_looks_at_one_ticket_until_it_looks_away(store: SqlStore) {
    let (desk, eva, ivo, first, second) = scene(store).await;
    let viewers = viewers(&desk, direct(&desk));
    for (place, user, ticket) in [("a", &eva, &first), ("b", &ivo, &first), ("c", &ivo, &first)] {
        let found = viewers.look(place, user, Reach::ALL, &ticket.id).await.expect("a look");
        assert_eq!(found.id, ticket.id);
    }
    // A user at two desks is one of those who look.
    assert_eq!(seen(&viewers, &first).await, all(&[("EVA", false), ("IVO", false)]));
    assert_eq!(seen(&viewers, &second).await, []);
    viewers.look("b", &ivo, Reach::ALL, &second.id).await.expect("a look");
    assert_eq!(seen(&viewers, &second).await, all(&[("IVO", false)]));
    assert_eq!(seen(&viewers, &first).await.len(), 2, "at the other desk");
    viewers.look_away("c").await.expect("away");
    viewers.look_away("nobody's").await.expect("away");
    assert_eq!(seen(&viewers, &first).await, all(&[("EVA", false)]));
    // What is out of reach is not there.
    let nothing = Reach::only(&[]);
    for outcome in [
        viewers.look("d", &eva, nothing, &first.id).await,
        viewers.typing("d", &eva, nothing, &first.id).await,
        viewers.look("d", &eva, Reach::ALL, &"cnothing".parse().expect("an id")).await,
    ] {
        assert!(matches!(outcome, Err(TicketError::NotFound)), "{outcome:?}");
    }
}

async fn a_look_holds_while_it_is_renewed(store: SqlStore) {
    let (desk, eva, ivo, first, _) = scene(store).await;
    let viewers = viewers(&desk, direct(&desk));
    viewers.look("a", &eva, Reach::ALL, &first.id).await.expect("a look");
    viewers.look("b", &ivo, Reach::ALL, &first.id).await.expect("a look");
    let short = Duration::from_millis(1);
    desk.world.clock.advance(VIEW_LIFETIME - short);
    viewers.renew(&["a".to_owned(), "gone".to_owned()]).await.expect("renewed");
    assert_eq!(seen(&viewers, &first).await.len(), 2);
    desk.world.clock.advance(short);
    assert_eq!(seen(&viewers, &first).await, all(&[("EVA", false)]));
    desk.world.clock.advance(VIEW_LIFETIME);
    assert_eq!(seen(&viewers, &first).await, []);
    viewers.renew(&[]).await.expect("renewed");
    let mut tx = desk.world.store.begin().await.expect("begin");
    let end = desk.world.cx.now() + VIEW_LIFETIME;
    assert_eq!(tx.viewers().purge(end).await.expect("purged"), 0, "looks that have run out are deleted");
}

async fn whoever_has_the_ticket_is_shown_typing(store: SqlStore) {
    let (desk, eva, ivo, ..) = scene(store).await;
    let ticket = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    let here = viewers(&desk, direct(&desk));
    here.typing("b", &ivo, Reach::ALL, &ticket.id).await.expect("typing");
    assert_eq!(seen(&here, &ticket).await, all(&[("IVO", true)]));
    assert_eq!(typing(&desk), [], "they do not have the ticket");
    here.typing("a", &eva, Reach::ALL, &ticket.id).await.expect("typing");
    let told = typing(&desk);
    let typing_ms = u64::try_from(TYPING_LASTS.as_millis()).expect("a number");
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].kind, NoticeKind::Typing { typing_ms, by: SenderKind::Human });
    assert_eq!(Some(&told[0].session_id), ticket.session_id.as_ref());
    // Whoever looks at it again types on, and whoever looks elsewhere does not.
    here.look("a", &eva, Reach::ALL, &ticket.id).await.expect("a look");
    assert_eq!(seen(&here, &ticket).await, all(&[("EVA", true), ("IVO", true)]));
    let other = desk.hand_over("v3", "bill").await.expect("a ticket");
    here.look("a", &eva, Reach::ALL, &other.id).await.expect("a look");
    assert_eq!(seen(&here, &other).await, all(&[("EVA", false)]));
    // Where sockets are in another process, the stream carries it.
    desk.world.published(TopicName::OutgoingChat).await;
    let elsewhere = viewers(&desk, Handover::Stream);
    elsewhere.typing("a", &eva, Reach::ALL, &ticket.id).await.expect("typing");
    let published = desk.world.published(TopicName::OutgoingChat).await;
    assert_eq!(published.len(), 1, "{published:?}");
    assert_eq!((&published[0]["kind"], &published[0]["by"]), (&"typing".into(), &"human".into()));
    assert_eq!(typing(&desk).len(), 1);
}

async fn looks_go_with_their_ticket(store: SqlStore) {
    let (desk, eva, _, first, _) = scene(store).await;
    let viewers = viewers(&desk, direct(&desk));
    viewers.look("a", &eva, Reach::ALL, &first.id).await.expect("a look");
    let ticket = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    // One may look at what is over.
    desk.desk
        .close(desk.by(&eva), &ticket.id, flowsdk_helpdesk::desk::CloseTicket::default())
        .await
        .expect("closed");
    assert_eq!(seen(&viewers, &first).await.len(), 1);
    viewers.typing("a", &eva, Reach::ALL, &first.id).await.expect("typing");
    assert_eq!(typing(&desk), [], "nobody has it");
}
