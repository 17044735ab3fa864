//! How far outgoing messages came.

use super::StoreUnderTest;
use super::world::{SIZES, World, later, session_id};
use crate::message::MessageStatus::{self, Delivered, Failed, Pending, Played, Read, Sent};
use crate::message::{
    Direction, Message, NewMessage, ParkedStatus, StatusError, StatusReached, StatusWrite, advance,
};
use crate::prelude::*;
use crate::store::Store;
use crate::testkit::store::StoreTx;

const ALL: [MessageStatus; 6] = [Pending, Sent, Delivered, Read, Played, Failed];

async fn apply<S: Store>(world: &World<S>, writes: &[StatusWrite]) -> Vec<StatusReached>
where
    S::Tx: StoreTx,
{
    let mut tx = world.store.begin().await.expect("begin");
    let reached = tx.messages().apply_statuses(writes).await.expect("apply");
    tx.commit().await.expect("commit");
    reached
}

/// The table of every status and report, for reporters that are trusted and for visitors.
pub async fn a_status_only_goes_forward<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    assert_eq!(apply(&world, &[]).await, []);
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
            error: None,
        };
        let writes: Vec<_> = messages.iter().zip(&pairs).map(write).collect();
        // Twice, as everything that comes at least once.
        for is_first in [true, false] {
            let reached = apply(&world, &writes).await;
            let stored = world.messages().await;
            let news = messages.iter().zip(&pairs).filter(|(_, (from, to))| advance(*from, *to) != *from);
            assert_eq!(reached.len(), if is_first { news.count() } else { 0 });
            for status in reached {
                let row = stored.iter().find(|row| row.id == status.id).expect("stored");
                let of_row = StatusReached {
                    id: row.id.clone(),
                    chat_id: row.chat_id.clone(),
                    seq: row.seq,
                    session_id: row.session_id.clone(),
                    status: row.status.expect("a status"),
                    at: row.status_updated_at,
                    error: None,
                };
                assert_eq!(status, of_row);
            }
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
        error: None,
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
            writes.push(StatusWrite {
                id: message.id.clone(),
                status,
                at: later(1),
                session: None,
                error: None,
            });
        }
    }
    let reached = apply(&world, &writes).await;
    assert!(world.messages().await.iter().all(|message| message.status == Some(Read)));
    for message in &messages {
        let of_message = reached.iter().filter(|status| status.id == message.id);
        let steps: Vec<MessageStatus> = of_message.map(|status| status.status).collect();
        assert_eq!(steps, [Sent, Delivered, Read], "each is told in its order");
    }
    let played: Vec<_> = (2..).zip(&messages).map(|(at, message)| (message.id.clone(), later(at))).collect();
    let writes: Vec<_> = played
        .iter()
        .map(|(id, at)| StatusWrite {
            id: id.clone(),
            status: Played,
            at: *at,
            session: Some(session_id(1)),
            error: None,
        })
        .collect();
    apply(&world, &writes).await;
    let stored = world.messages().await;
    for (id, at) in played {
        let row = stored.iter().find(|row| row.id == id).expect("stored");
        assert_eq!((row.status, row.status_updated_at), (Some(Played), at), "each at its own time");
    }
}

/// A failure has the reason of its write.
pub async fn a_failure_keeps_its_reason<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let errors = [
        None,
        Some(StatusError { code: 131_026, title: None }),
        Some(StatusError { code: i64::MIN, title: Some("não 👋 '\"\\".to_owned()) }),
        Some(StatusError { code: 0, title: Some(String::new()) }),
    ];
    let messages: Vec<_> = errors.iter().map(|_| world.message(Direction::Out, 1, "")).collect();
    world.insert(&messages).await;
    let write = |(message, error): (&NewMessage, &Option<StatusError>)| StatusWrite {
        id: message.id.clone(),
        status: Failed,
        at: later(7),
        session: None,
        error: error.clone(),
    };
    let writes: Vec<_> = messages.iter().zip(&errors).map(write).collect();
    let mut reached = apply(&world, &writes).await;
    reached.sort_by_key(|status| status.seq);
    assert_eq!(reached.into_iter().map(|status| status.error).collect::<Vec<_>>(), errors);
    // A second reason comes too late.
    let error = Some(StatusError { code: 1, title: None });
    assert_eq!(apply(&world, &[StatusWrite { error, ..writes[1].clone() }]).await, []);
    let found: Vec<_> = world
        .messages()
        .await
        .into_iter()
        .map(|row| (row.status, row.status_updated_at, row.error))
        .collect();
    let expected: Vec<_> = errors.into_iter().map(|error| (Some(Failed), later(7), error)).collect();
    assert_eq!(found, expected);
}

/// Messages are found by the provider's id that was noted first.
pub async fn provider_ids_are_noted_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    for size in SIZES {
        let messages: Vec<_> = (0..size).map(|_| world.message(Direction::Out, 1, "")).collect();
        world.insert(&messages).await;
        let ids = |text: &str| -> Vec<_> {
            let named = messages.iter().enumerate();
            named.map(|(nth, message)| (message.id.clone(), format!("{text}.{size}.{nth}"))).collect()
        };
        let (first, second) = (ids("first"), ids("second"));
        let mut tx = world.store.begin().await.expect("begin");
        tx.messages().note_provider_ids(&first).await.expect("noted");
        tx.messages().note_provider_ids(&second).await.expect("noted");
        let names = |ids: &[(crate::id::MessageId, String)]| ids.iter().map(|(_, id)| id.clone()).collect();
        let asked: Vec<String> = names(&first);
        let mut found = tx.messages().find_by_provider_ids(&asked).await.expect("found");
        let session = |nth: usize| messages[nth].session_id.clone();
        let named = first.iter().enumerate();
        let mut expected: Vec<_> =
            named.map(|(nth, (id, name))| (name.clone(), id.clone(), session(nth))).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        let known: Vec<_> = first.iter().map(|(id, _)| id.clone()).collect();
        let mut sessions = tx.messages().sessions_of(&known).await.expect("found");
        let mut expected: Vec<_> = expected.into_iter().map(|(_, id, session)| (id, session)).collect();
        sessions.sort();
        expected.sort();
        assert_eq!(sessions, expected);
        let asked: Vec<String> = names(&second);
        assert_eq!(tx.messages().find_by_provider_ids(&asked).await.expect("found"), []);
        tx.commit().await.expect("commit");
    }
}

/// Parked statuses are kept once, and come back once, until they are too old.
pub async fn parked_statuses_are_taken_once<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: StoreTx,
{
    let world = World::new(&subject).await;
    let parked = |provider: &str, status, parked_at| ParkedStatus {
        provider_id: provider.to_owned(),
        status,
        at: later(1),
        error: (status == Failed).then(|| StatusError { code: 5, title: Some("é".to_owned()) }),
        phone_number_id: if status == Read { "111" } else { "" }.to_owned(),
        parked_at: later(parked_at),
    };
    let of = |provider: &str| (provider.to_owned(), "111".to_owned());
    let statuses = [parked("a", Read, 1), parked("a", Failed, 2), parked("b", Sent, 3), parked("c", Sent, 9)];
    let mut tx = world.store.begin().await.expect("begin");
    tx.messages().park(&[]).await.expect("parked");
    tx.messages().park(&statuses).await.expect("parked");
    tx.messages().park(&[parked("a", Read, 8)]).await.expect("parked");
    assert_eq!(tx.messages().drop_parked(later(3)).await.expect("dropped"), 2);
    let mut taken = tx.messages().take_parked(&[of("a"), of("b")]).await.expect("taken");
    assert_eq!(taken, [statuses[2].clone()]);
    // What was told of another number stays.
    tx.messages().park(&statuses[..1]).await.expect("parked");
    assert_eq!(tx.messages().take_parked(&[("a".to_owned(), "222".to_owned())]).await.expect("taken"), []);
    tx.messages().park(&statuses[..2]).await.expect("parked");
    taken = tx.messages().take_parked(&[of("a"), of("b")]).await.expect("taken");
    taken.sort_by_key(|status| status.parked_at);
    assert_eq!(taken, statuses[..2]);
    assert_eq!(tx.messages().take_parked(&[of("a")]).await.expect("taken"), []);
    assert_eq!(tx.messages().take_parked(&[of("c")]).await.expect("taken"), [statuses[3].clone()]);
    tx.commit().await.expect("commit");
}
