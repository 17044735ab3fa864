//! What desks are told (spec B 4.8).

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::id::UserId;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::news::{DeskEvent, DeskNews, HasNews as _, KEPT_FOR, Missed, News, NewsRow};
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::ticket::Ticket;
use flowsdk_store::sql::SqlStore;
use serde_json::json;
use tokio::task::JoinSet;

use super::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! {
    whoever_has_a_ticket_is_told_of_it,
    a_message_that_comes_again_is_told_once,
    numbers_have_no_gaps_however_many_write,
    a_desk_begins_where_it_was,
}

impl Helpdesk {
    fn news(&self) -> DeskNews<SqlStore> {
        DeskNews::new(Arc::clone(&self.world.store), self.world.cx.clone())
    }

    async fn told(&self, user: &UserId) -> Vec<NewsRow> {
        self.news().unseen(&[(user.clone(), 0)]).await.expect("news")
    }

    async fn names(&self, user: &UserId) -> Vec<String> {
        let told = self.told(user).await;
        for (at, row) in (1..).zip(&told) {
            assert_eq!(row.seq, at, "without gaps");
        }
        told.into_iter().map(|row| row.event).collect()
    }
}

async fn whoever_has_a_ticket_is_told_of_it(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", LeastLoaded).await;
    let (eva, ivo) = (desk.add_agent("eva", &["q1"]).await, desk.add_agent("ivo", &["q1"]).await);
    desk.online("eva").await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    desk.world.say("ana", "ana-more", "hello?").await;
    desk.take().await;
    let command = serde_json::from_value(json!({ "toUserId": "ivo" })).expect("a command");
    let next = desk.desk.transfer(desk.by(&eva), &ticket.id, command).await.expect("transferred");
    desk.desk.close(desk.by(&ivo), &next.id, Default::default()).await.expect("closed");
    assert_eq!(desk.names(&eva).await, ["ticket:assigned", "ticket:message", "ticket:transferred"]);
    assert_eq!(desk.names(&ivo).await, ["ticket:assigned", "ticket:closed"]);
    let told = desk.told(&eva).await;
    assert_eq!(told[0].payload["ticket"]["id"], json!(ticket.id));
    assert_eq!(told[1].payload["messages"][0]["text"]["body"], "hello?");
    assert_eq!(told[2].payload["nextTicketId"], json!(next.id));
    // What waits is told to nobody.
    let bia = desk.hand_over("bia", "bill").await.expect("a ticket");
    assert_eq!(bia.assigned_user_id.as_ref(), Some(&eva));
    desk.queues
        .delete(
            &Default::default(),
            flowsdk_core::router::Reach::ALL,
            bia.queue_id.as_ref().expect("a queue"),
            true,
        )
        .await
        .expect("gone");
    assert_eq!(desk.names(&eva).await[3..], ["ticket:assigned", "ticket:closed"]);
}

async fn a_message_that_comes_again_is_told_once(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let (eva, ivo) = (desk.add_agent("eva", &["q1"]).await, desk.add_agent("ivo", &["q1"]).await);
    desk.hand_over("ana", "bill").await.expect("a ticket");
    let ticket = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
    // Two messages of one moment are two news.
    for id in ["one", "two"] {
        desk.world.say("ana", &format!("ana-{id}"), id).await;
    }
    let events = desk.events().await;
    let take = async || {
        for event in &events {
            desk.intake.take(&[event]).await.expect("taken");
        }
    };
    take().await;
    take().await;
    assert_eq!(desk.names(&eva).await, ["ticket:assigned", "ticket:message", "ticket:message"]);
    // Nor is it told to who has the ticket by then.
    let command = serde_json::from_value(json!({ "toUserId": "ivo" })).expect("a command");
    desk.desk.transfer(desk.by(&eva), &ticket.id, command).await.expect("transferred");
    take().await;
    assert_eq!(desk.names(&ivo).await, ["ticket:assigned"]);
}

async fn numbers_have_no_gaps_however_many_write(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let users: Vec<UserId> = ["u1", "u2", "u3"].map(|id| id.parse().expect("an id")).into();
    let mut writing = JoinSet::new();
    for writer in 0..12_usize {
        let (store, users, ticket) = (Arc::clone(&desk.world.store), users.clone(), ticket.clone());
        let now = desk.world.cx.now();
        writing.spawn(async move {
            for round in 0..5 {
                let mut tx = store.begin().await.expect("begin");
                // Each in another order.
                let told = |at: usize| {
                    let user = &users[(at + writer) % 3];
                    News::new(user, DeskEvent::Closed(Box::new(Ticket::clone(&ticket))))
                };
                let news: Vec<News> = (0..3).map(told).collect();
                tx.news().append(&news, now).await.expect("appended");
                // What is rolled back leaves no gap.
                if round != 2 {
                    tx.commit().await.expect("commit");
                }
            }
        });
    }
    writing.join_all().await;
    for user in &users {
        assert_eq!(desk.names(user).await.len(), 48, "{user}");
    }
}

async fn a_desk_begins_where_it_was(store: SqlStore) {
    let desk = Helpdesk::new(store).await;
    desk.add_queue("q1", ManualPickup).await;
    let ticket = desk.hand_over("ana", "bill").await.expect("a ticket");
    let eva: UserId = "eva".parse().expect("an id");
    let news = desk.news();
    let missed = async |since| news.missed(&eva, since).await.expect("read");
    assert_eq!((missed(None).await, missed(Some(0)).await), (Missed::From(0), Missed::From(0)));
    assert_eq!(missed(Some(3)).await, Missed::Everything(0));
    let append = async |count: usize| {
        let mut tx = desk.world.store.begin().await.expect("begin");
        let one = News::new(&eva, DeskEvent::Closed(Box::new(ticket.clone())));
        tx.news().append(&vec![one; count], desk.world.cx.now()).await.expect("appended");
        tx.commit().await.expect("commit");
    };
    append(3).await;
    for (since, expected) in [
        (None, Missed::From(3)),
        (Some(3), Missed::From(3)),
        (Some(0), Missed::From(0)),
        (Some(2), Missed::From(2)),
        (Some(4), Missed::Everything(3)),
        (Some(-1), Missed::Everything(3)),
    ] {
        assert_eq!(missed(since).await, expected, "{since:?}");
    }
    desk.world.clock.advance(KEPT_FOR + Duration::from_millis(1));
    append(2).await;
    assert_eq!(news.forget().await.expect("forgotten"), 3);
    for (since, expected) in [
        (Some(1), Missed::Everything(5)),
        (Some(2), Missed::Everything(5)),
        (Some(3), Missed::From(3)),
        (Some(4), Missed::From(4)),
        (Some(5), Missed::From(5)),
    ] {
        assert_eq!(missed(since).await, expected, "{since:?}");
    }
    // The count goes on behind what is forgotten.
    assert_eq!(news.unseen(&[(eva.clone(), 3)]).await.expect("news").len(), 2);
}
