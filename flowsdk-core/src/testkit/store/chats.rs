//! Chats.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::StoreUnderTest;
use super::world::{World, contact, later, router};
use crate::chat::Chat;
use crate::prelude::*;
use crate::store::Store;
use crate::testkit::store::StoreTx;

async fn open<S: Store>(store: &Arc<S>, chats: &[Chat]) -> Vec<Chat>
where
    S::Tx: StoreTx,
{
    let mut tx = store.begin().await.expect("begin");
    let given = tx.chats().open_or_get_many(chats).await.expect("open");
    tx.commit().await.expect("commit");
    given
}

/// Every pair is answered in the order asked, new or not; a pair that is asked for twice gets one chat.
pub async fn chats_come_in_the_order_asked<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let mut chats = Vec::new();
    for n in 0..300 {
        let contact = tx.contacts().insert_or_get(&contact(&world.cx, n)).await.expect("a contact");
        chats.push(Chat::open(&world.cx, contact.id, world.router.clone()));
    }
    tx.commit().await.expect("commit");
    assert_eq!(open(&world.store, &[]).await, []);
    // The chat of the first contact is there already.
    let some = open(&world.store, &chats[..3]).await;
    assert_eq!((&some[0].id, &some[1..]), (&world.chat, &chats[1..3]));
    chats.reverse();
    chats.push(Chat { id: "again".parse().expect("an id"), ..chats[0].clone() });
    let given = open(&world.store, &chats).await;
    assert_eq!(given.len(), 301);
    assert_eq!((&given[299].id, &given[300].id), (&world.chat, &chats[0].id));
    assert_eq!(given[..299], chats[..299]);
}

/// A contact and router have one open chat, however many open it at once.
pub async fn many_that_open_a_chat_get_the_same<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let contact = {
        let mut tx = world.store.begin().await.expect("begin");
        let contact = tx.contacts().insert_or_get(&contact(&world.cx, 1)).await.expect("a contact");
        tx.commit().await.expect("commit");
        contact.id
    };
    let mut tasks = JoinSet::new();
    for _ in 0..16 {
        let store = Arc::clone(&world.store);
        let chat = Chat::open(&world.cx, contact.clone(), world.router.clone());
        tasks.spawn(async move { open(&store, &[chat]).await.remove(0).id });
    }
    let ids: BTreeSet<_> = tasks.join_all().await.into_iter().collect();
    assert_eq!(ids.len(), 1);
}

/// After a chat was closed the next one is new; closing it again changes nothing.
pub async fn a_closed_chat_lets_a_new_one_open<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    for _ in 0..2 {
        let mut tx = world.store.begin().await.expect("begin");
        tx.chats().close_many(std::slice::from_ref(&world.chat)).await.expect("close");
        tx.chats().close_many(&[]).await.expect("close nothing");
        tx.commit().await.expect("commit");
    }
    let next = Chat::open(&world.cx, world.contact.clone(), world.router.clone());
    assert_eq!(open(&world.store, std::slice::from_ref(&next)).await, std::slice::from_ref(&next));
    let third = Chat::open(&world.cx, world.contact.clone(), world.router.clone());
    assert_eq!(open(&world.store, &[third]).await, [next]);
}

/// A chat that was told within the time is not told again.
pub async fn chats_are_told_once_in_a_time<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    const BEFORE: Duration = Duration::from_millis(10);
    let world = World::new(&subject).await;
    let other = Chat::open(&world.cx, world.contact.clone(), world.router.clone()).id;
    let mut tx = world.store.begin().await.expect("begin");
    let asked = [world.chat.clone(), other];
    for (after, told) in [(0, 1), (9, 0), (10, 1), (19, 0), (20, 1)] {
        let ids = tx.chats().note_told(&asked, later(after), BEFORE).await.expect("noted");
        assert_eq!(ids, asked[..told], "after {after} ms");
    }
    assert_eq!(tx.chats().note_told(&[], later(99), BEFORE).await.expect("nothing"), []);
}

/// A contact may have an open chat with each router.
pub async fn chats_of_two_routers_are_apart<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let other = router("router2");
    let mut tx = world.store.begin().await.expect("begin");
    tx.routers().insert(&other).await.expect("a router");
    tx.commit().await.expect("commit");
    let chat = Chat::open(&world.cx, world.contact.clone(), other.id);
    let first = Chat::open(&world.cx, world.contact.clone(), world.router.clone());
    let given = open(&world.store, &[chat.clone(), first]).await;
    assert_eq!((&given[0].id, &given[1].id), (&chat.id, &world.chat));
}

/// The window of a chat ends at the latest of the times that were told.
pub async fn windows_only_grow<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.store.begin().await.expect("begin");
    let asked = Chat::open(&world.cx, world.contact.clone(), world.router.clone());
    for (told, expected) in [(5, 5), (3, 5), (9, 9)] {
        tx.chats().extend_windows(&[(world.chat.clone(), later(told))].into()).await.expect("extended");
        let chats = tx.chats().open_or_get_many(std::slice::from_ref(&asked)).await.expect("found");
        assert_eq!(chats[0].window_ends_at, Some(later(expected)));
    }
    tx.chats()
        .extend_windows(&[("nobody".parse().expect("an id"), later(1))].into())
        .await
        .expect("extended");
    tx.chats().extend_windows(&[].into()).await.expect("extended");
    tx.commit().await.expect("commit");
}
