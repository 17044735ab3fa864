//! How far outgoing messages came.

use super::StoreUnderTest;
use super::world::{World, later, session_id};
use crate::message::MessageStatus::{self, Delivered, Failed, Pending, Played, Read, Sent};
use crate::message::{Direction, Message, NewMessage, StatusWrite, advance};
use crate::prelude::*;
use crate::store::Store;
use crate::testkit::store::StoreTx;

const ALL: [MessageStatus; 6] = [Pending, Sent, Delivered, Read, Played, Failed];

async fn apply<S: Store>(world: &World<S>, writes: &[StatusWrite])
where
    S::Tx: StoreTx,
{
    let mut tx = world.store.begin().await.expect("begin");
    tx.messages().apply_statuses(writes).await.expect("apply");
    tx.commit().await.expect("commit");
}

/// The table of every status and report, for reporters that are trusted and for visitors.
pub async fn a_status_only_goes_forward<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    apply(&world, &[]).await;
    for session in [None, Some(session_id(1))] {
        let pairs: Vec<_> = ALL.iter().flat_map(|&from| ALL[1..].iter().map(move |&to| (from, to))).collect();
        let messages: Vec<_> = pairs
            .iter()
            .map(|&(from, _)| Message { status: Some(from), ..world.message(Direction::Out, 1, "") })
            .collect();
        world.insert(&messages).await;
        let write = |(message, &(_, status)): (&NewMessage, &(MessageStatus, MessageStatus))| StatusWrite {
            id: message.id.clone(),
            status,
            at: later(9),
            session: session.clone(),
        };
        let writes: Vec<_> = messages.iter().zip(&pairs).map(write).collect();
        // Twice, as everything that comes at least once.
        for _ in 0..2 {
            apply(&world, &writes).await;
            let stored = world.messages().await;
            for (message, (from, to)) in messages.iter().zip(&pairs) {
                let row = stored.iter().find(|row| row.id == message.id).expect("stored");
                assert_eq!(row.status, Some(advance(*from, *to)), "{from:?} and {to:?}");
                let changed = advance(*from, *to) != *from;
                assert_eq!(row.status_updated_at == later(9), changed, "{from:?} and {to:?}");
            }
        }
    }
}

/// The reports of a visitor count for messages of their session only; nobody reports of incoming ones.
pub async fn a_visitor_reports_of_his_session_only<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let messages = [
        world.message(Direction::Out, 1, ""),
        world.message(Direction::Out, 2, ""),
        world.message(Direction::In, 1, ""),
    ];
    world.insert(&messages).await;
    let report = |id: &crate::id::MessageId, session| StatusWrite {
        id: id.clone(),
        status: Read,
        at: later(1),
        session,
    };
    let mut writes: Vec<_> =
        messages.iter().map(|message| report(&message.id, Some(session_id(1)))).collect();
    writes.push(report(&messages[2].id, None));
    writes.push(report(&"unknown".parse().expect("an id"), None));
    apply(&world, &writes).await;
    let statuses: Vec<_> = world.messages().await.into_iter().map(|message| message.status).collect();
    assert_eq!(statuses, [Some(Read), Some(Pending), None]);
}

/// Several reports of one message in one batch come to the furthest of them.
pub async fn reports_of_a_batch_come_to_the_furthest<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let messages: Vec<_> = (0..300).map(|_| world.message(Direction::Out, 1, "")).collect();
    world.insert(&messages).await;
    let mut writes = Vec::new();
    for message in &messages {
        for status in [Read, Sent, Delivered] {
            writes.push(StatusWrite { id: message.id.clone(), status, at: later(1), session: None });
        }
    }
    apply(&world, &writes).await;
    assert!(world.messages().await.iter().all(|message| message.status == Some(Read)));
    let played: Vec<_> = (2..).zip(&messages).map(|(at, message)| (message.id.clone(), later(at))).collect();
    let writes: Vec<_> = played
        .iter()
        .map(|(id, at)| StatusWrite { id: id.clone(), status: Played, at: *at, session: Some(session_id(1)) })
        .collect();
    apply(&world, &writes).await;
    let stored = world.messages().await;
    for (id, at) in played {
        let row = stored.iter().find(|row| row.id == id).expect("stored");
        assert_eq!((row.status, row.status_updated_at), (Some(Played), at), "each at its own time");
    }
}
