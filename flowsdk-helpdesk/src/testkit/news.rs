//! Stuck handoffs, and news.

use flowsdk_core::event::{HandoffContact, HandoffEvent};
use flowsdk_core::id::UserId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::session::SessionId;
use flowsdk_core::store::Store;
use flowsdk_core::testkit::store::StoreUnderTest;
use serde_json::{Map, json};

use super::{HelpdeskTx, World, later};
use crate::intake::{HasStuckHandoffs as _, StuckHandoff};
use crate::news::{DeskEvent, HasNews as _, News};

/// Of a session the last handoff is kept, until it is removed; those that are due come first.
pub async fn a_stuck_handoff_is_kept_once_a_session<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    let stuck = |visitor: &str, attempts: u32, due: u64| {
        let session_id = SessionId::parse(format!("wc-c1-{visitor}")).expect("an id");
        let event = HandoffEvent {
            session_id: session_id.clone(),
            chat_id: "chat1".parse().expect("an id"),
            phone_number_id: "wc-c1".to_owned(),
            router_id: world.router.clone(),
            contact: HandoffContact {
                id: "contact1".parse().expect("an id"),
                name: "Ação".to_owned(),
                phone_number: "wc-c1-ana".to_owned(),
                variables: Map::new(),
            },
            context_variables: json!({ "a": [1, "ã"] }).as_object().cloned().unwrap_or_default(),
            preset_queue_id: None,
            preset_user_id: None,
            ai_ticket_id: None,
            sentiment: None,
            requested_by: None,
            epoch: Some(7),
            timestamp: later(0),
        };
        let (router_id, due_at) = (world.router.clone(), later(due));
        StuckHandoff {
            session_id,
            router_id,
            event,
            attempts,
            due_at,
            created_at: later(u64::from(attempts)),
        }
    };
    let (ana, bia, again) = (stuck("ana", 1, 30), stuck("bia", 2, 20), stuck("ana", 3, 10));
    tx.stuck_handoffs().put_many(&[ana, bia.clone()]).await.expect("put");
    tx.stuck_handoffs().put_many(std::slice::from_ref(&again)).await.expect("put");
    assert_eq!(tx.stuck_handoffs().count().await.expect("count"), 2);
    for (now, limit, expected) in
        [(5, 9, vec![]), (15, 9, vec![&again]), (25, 9, vec![&again, &bia]), (25, 1, vec![&again])]
    {
        let due = tx.stuck_handoffs().due(later(now), limit).await.expect("due");
        assert_eq!(due.iter().collect::<Vec<_>>(), expected, "{now} {limit}");
    }
    let page = PageRequest::default();
    let listed = tx.stuck_handoffs().list(Some(&world.router), None, &page).await.expect("list");
    assert_eq!(listed.items, [again.clone(), bia.clone()]);
    assert_eq!(tx.stuck_handoffs().list(None, Some(&[]), &page).await.expect("list").items, []);
    tx.stuck_handoffs().remove_many(&[again.session_id]).await.expect("removed");
    assert_eq!(tx.stuck_handoffs().list(None, None, &page).await.expect("list").items, [bia]);
}

/// News are numbered from 1 for each user; one whose key is known is left out, and old ones are forgotten.
pub async fn news_are_numbered_for_each_user<S: Store>(subject: StoreUnderTest<S>)
where
    S::Tx: HelpdeskTx,
{
    let world = World::new(&subject).await;
    let mut tx = world.begin().await;
    let ticket = world.ticket(&mut tx, "t1", "q1", 0).await;
    let user = |id: &str| id.parse::<UserId>().expect("an id");
    let news = |id: &str, key: Option<&str>| {
        let one = News::new(&user(id), DeskEvent::Closed(Box::new(ticket.clone())));
        News { key: key.map(str::to_owned), ..one }
    };
    assert_eq!(tx.news().last(&user("ana")).await.expect("last"), 0);
    let batches = [
        (vec![news("bia", None), news("ana", Some("k1")), news("ana", None)], 0),
        (vec![news("ana", Some("k1")), news("ana", Some("k2"))], 5),
        // Whoever it is for.
        (vec![news("caio", Some("k1"))], 6),
    ];
    for (batch, at) in &batches {
        tx.news().append(batch, later(*at)).await.expect("appended");
    }
    let seen = |rows: Vec<crate::news::NewsRow>| {
        rows.into_iter().map(|row| (row.user_id.to_string(), row.seq)).collect::<Vec<_>>()
    };
    let of = |id: &str, seq| (id.to_owned(), seq);
    let all = [(user("ana"), 0), (user("bia"), 0), (user("caio"), 0)];
    let rows = tx.news().unseen(&all, 9).await.expect("news");
    assert_eq!(rows[0].event, "ticket:closed");
    assert_eq!(rows[0].payload["ticket"]["id"], "t1");
    assert_eq!(seen(rows), [of("ana", 1), of("ana", 2), of("ana", 3), of("bia", 1)]);
    let some = [(user("ana"), 1), (user("bia"), 1)];
    assert_eq!(seen(tx.news().unseen(&some, 9).await.expect("news")), [of("ana", 2), of("ana", 3)]);
    assert_eq!(seen(tx.news().unseen(&some, 1).await.expect("news")), [of("ana", 2)]);
    assert_eq!(tx.news().purge(later(5)).await.expect("purged"), 3);
    assert_eq!(seen(tx.news().unseen(&all, 9).await.expect("news")), [of("ana", 3)]);
    assert_eq!(tx.news().last(&user("ana")).await.expect("last"), 3, "the count goes on");
}
