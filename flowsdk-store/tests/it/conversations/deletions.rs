//! What waits in sessions that froze before they began goes with what they belong to.

use flowsdk_channels::channel_number::{ChannelNumber, E164, HasChannelNumbers as _, ProviderId};
use flowsdk_core::contact::{ContactAlias, HasContactCatalog as _};
use flowsdk_core::session::{HasLiveSessions as _, HasSessions as _, SessionId, SessionsOf};
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_store::sql::{SqlStore, SqlTx};
use serde_json::json;

use super::world::World;
use crate::support::databases::on_every_database;

on_every_database! {
    frozen_sessions_that_never_began_end_with_channel_and_router,
    frozen_sessions_that_never_began_go_with_their_contact,
}

fn ids<const N: usize>(texts: [&str; N]) -> [SessionId; N] {
    texts.map(|text| SessionId::parse(text).expect("a session id"))
}

async fn add_number(world: &World, phone_number_id: &str) {
    let number = ChannelNumber {
        id: format!("n{phone_number_id}").parse().expect("an id"),
        router_id: world.router.clone(),
        name: "Loja".to_owned(),
        phone_number_id: ProviderId::parse(phone_number_id).expect("digits"),
        phone_number: E164::parse("5511987654321").expect("a number"),
        business_account_id: ProviderId::parse("77").expect("digits"),
        access_token: None,
        keys: None,
        active: true,
        created_at: world.cx.now(),
        updated_at: world.cx.now(),
    };
    let mut tx = world.store.begin().await.expect("begin");
    assert!(tx.channel_numbers().insert_if_absent(&number).await.expect("a number"));
    tx.commit().await.expect("commit");
}

/// They froze before their first commit, and more came.
async fn freeze(world: &World, sessions: &[SessionId]) {
    for session in sessions {
        let frozen = world.conversations.freeze(session.clone(), json!({ "id": "a" }), "poison_entry", "x");
        frozen.await.expect("frozen");
        let frozen = world.conversations.freeze(session.clone(), json!({ "id": "b" }), "poison_entry", "x");
        frozen.await.expect("kept");
    }
}

/// Takes all that waits in `sessions`; in which something did.
async fn take(tx: &mut SqlTx, sessions: &[SessionId]) -> Vec<SessionId> {
    let mut found = Vec::new();
    for session in sessions {
        let frozen = tx.sessions().take_frozen(session).await.expect("taken").is_some();
        let kept = tx.sessions().take_kept(session).await.expect("taken").is_some();
        assert_eq!(frozen, kept, "{session}");
        found.extend(frozen.then(|| session.clone()));
    }
    found
}

async fn frozen_sessions_that_never_began_end_with_channel_and_router(store: SqlStore) {
    let world = World::new(store).await;
    world.add_router("router2", "c2").await;
    add_number(&world, "111").await;
    // The last is of a channel that is not there.
    let all = ids(["wc-c1-ana", "wc-c1-bia", "wc-c2-other", "wa-111-5511999", "wc-c10-ana"]);
    assert_eq!(world.say("bia", "m1", "oi").await, ["Hello "]);
    freeze(&world, &all).await;
    let [ana, bia, other, phone, foreign] = all.clone();
    let (channel, second) = ("c1".parse().expect("an id"), "c2".parse().expect("an id"));
    let (number, router2) = (ProviderId::parse("111").expect("digits"), "router2".parse().expect("an id"));
    let mut tx = world.store.begin().await.expect("begin");
    for (of, count) in [
        (SessionsOf::Router(&world.router), 3),
        (SessionsOf::Router(&router2), 1),
        (SessionsOf::WebchatChannel(&channel), 2),
        (SessionsOf::WebchatChannel(&second), 1),
        (SessionsOf::PhoneNumber(number.as_str()), 1),
    ] {
        assert_eq!(tx.live_sessions().count(of).await.expect("count"), count, "{of:?}");
    }
    drop(tx);
    // In a transaction each, of which nothing stays.
    for (of, ended, left) in [
        (SessionsOf::PhoneNumber(number.as_str()), vec![&phone], vec![&ana, &bia, &other, &foreign]),
        (SessionsOf::WebchatChannel(&second), vec![&other], vec![&ana, &bia, &phone, &foreign]),
        (SessionsOf::WebchatChannel(&channel), vec![&ana, &bia], vec![&other, &phone, &foreign]),
        (SessionsOf::Router(&world.router), vec![&phone, &ana, &bia], vec![&other, &foreign]),
    ] {
        let mut tx = world.store.begin().await.expect("begin");
        let mut found = tx.live_sessions().end(of).await.expect("ended");
        found.sort_unstable();
        assert_eq!(found.iter().collect::<Vec<_>>(), ended, "{of:?}");
        assert_eq!(take(&mut tx, &all).await.iter().collect::<Vec<_>>(), left, "{of:?}");
    }
}

async fn frozen_sessions_that_never_began_go_with_their_contact(store: SqlStore) {
    let world = World::new(store).await;
    add_number(&world, "111").await;
    add_number(&world, "222").await;
    let contact = world.contact("ana").await;
    let hers =
        ids(["wc-c1-ana", "wc-c1-ana-ctx0123456789abcdef", "wa-111-5511999", "wa-222-5511999", "wc-c3-old"]);
    let others = ids([
        "wc-c1-anabel",
        "wc-c1-ana-b",
        "wc-c1-ana-ctxt",
        "wc-c1-bia",
        "wa-111-55119990",
        "wa-111-511999",
    ]);
    let mut tx = world.store.begin().await.expect("begin");
    for alias in ["5511999", "wc-c3-old"] {
        let alias = ContactAlias {
            contact_id: contact.id.clone(),
            alias: alias.to_owned(),
            created_at: world.cx.now(),
        };
        assert!(tx.contact_catalog().add_alias(&alias).await.expect("an alias"));
    }
    tx.commit().await.expect("commit");
    let all = [&hers[..], &others[..]].concat();
    freeze(&world, &all).await;
    let mut tx = world.store.begin().await.expect("begin");
    tx.contact_catalog().delete(&contact.id).await.expect("deleted");
    assert_eq!(take(&mut tx, &all).await, others);
}
