//! Tags and quick replies.

use flowsdk_core::record::HasRecords;
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::testkit::store::StoreUnderTest;

use super::{HelpdeskTx, World, later, queue_id};
use crate::quick_reply::{HasQuickReplies as _, QuickReply};
use crate::tag::{HasTags as _, Tag, TagId};
use crate::ticket::HasTickets as _;

fn tag(id: &str) -> TagId {
    id.parse().expect("an id")
}

/// Only tags of the router count. One that is taken off leaves the others, in order.
pub async fn a_tag_is_taken_off_the_tickets_that_have_it<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    for name in ["a", "b", "c"] {
        let record = Tag {
            id: tag(name),
            router_id: world.router.clone(),
            name: name.to_owned(),
            color: (name == "a").then(|| "#d0342c".to_owned()),
            created_at: later(0),
            updated_at: later(1),
        };
        HasRecords::<Tag>::records(&mut tx).insert(&record).await.expect("insert");
        let found = HasRecords::<Tag>::records(&mut tx).find(&record.id).await.expect("find");
        assert_eq!(found.as_ref(), Some(&record));
    }
    let mut known = tx.tags().among(&world.router, &[tag("c"), tag("x"), tag("a")]).await.expect("among");
    known.sort();
    assert_eq!(known, [tag("a"), tag("c")]);
    let elsewhere = "nowhere".parse().expect("an id");
    assert_eq!(tx.tags().among(&elsewhere, &[tag("a")]).await.expect("among"), []);
    let mut tickets = Vec::new();
    for (id, tags) in [("t1", &["a", "b", "c"][..]), ("t2", &["b"]), ("t3", &["c"]), ("t4", &[])] {
        let mut ticket = world.ticket(&mut tx, id, "q1", 0).await;
        ticket.tag_ids = tags.iter().map(|name| tag(name)).collect();
        tickets.push(ticket);
    }
    tx.tickets().insert_many(&tickets).await.expect("insert");
    tx.tags().take_off(&elsewhere, &tag("b")).await.expect("taken off");
    assert_eq!(tx.tickets().find(&tickets[1].id).await.expect("find").as_ref(), Some(&tickets[1]));
    tx.tags().take_off(&world.router, &tag("b")).await.expect("taken off");
    for (ticket, expected) in tickets.iter().zip([&["a", "c"][..], &[], &["c"], &[]]) {
        let found = tx.tickets().find(&ticket.id).await.expect("find").expect("a ticket");
        assert_eq!(found.tag_ids, expected.iter().map(|name| tag(name)).collect::<Vec<_>>(), "{}", ticket.id);
    }
}

/// Those of all queues and those of the asked one come by name; a router has one of each shortcut.
pub async fn quick_replies_are_those_of_a_queue_by_name<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let reply = |id: &str, shortcut: Option<&str>, queue: Option<&str>| QuickReply {
        id: id.parse().expect("an id"),
        router_id: world.router.clone(),
        name: format!("Nome {id}"),
        shortcut: shortcut.map(str::to_owned),
        text: "Olá {{contact.name}} 👋".to_owned(),
        queue_id: queue.map(queue_id),
        created_at: later(0),
        updated_at: later(1),
    };
    let mut tx = world.begin().await;
    for one in [reply("c", None, None), reply("a", Some("oi"), Some("q1")), reply("b", None, Some("q2"))] {
        HasRecords::<QuickReply>::records(&mut tx).insert(&one).await.expect("insert");
    }
    tx.commit().await.expect("commit");
    let mut tx = world.begin().await;
    let found = tx.quick_replies().for_queue(&world.router, Some(&queue_id("q1")), 10).await.expect("found");
    assert_eq!(found, [reply("a", Some("oi"), Some("q1")), reply("c", None, None)]);
    let one = tx.quick_replies().for_queue(&world.router, Some(&queue_id("q1")), 1).await.expect("found");
    assert_eq!(one.len(), 1);
    let again = HasRecords::<QuickReply>::records(&mut tx).insert(&reply("d", Some("oi"), None)).await;
    assert!(matches!(again, Err(flowsdk_core::fault::StorageError::Unique { .. })), "{again:?}");
}
