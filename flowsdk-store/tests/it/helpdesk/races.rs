//! Many who want the same tickets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use flowsdk_core::chat::{Chat, HasChats as _};
use flowsdk_core::contact::{Contact, HasContacts as _};
use flowsdk_core::id::{QueueId, TicketId, UserId};
use flowsdk_core::session::Channel;
use flowsdk_core::store::{Store as _, Transaction as _};
use flowsdk_helpdesk::agent::{HasPresence as _, PRESENCE_LIFETIME, PresenceStatus};
use flowsdk_helpdesk::queue::DistributionStrategy::{LeastLoaded, ManualPickup};
use flowsdk_helpdesk::ticket::{HasTickets as _, Ticket, TicketError, TicketStatus};
use flowsdk_store::sql::SqlStore;
use tokio::task::JoinSet;

use super::desk::Helpdesk;
use crate::support::databases::on_every_database;

on_every_database! {
    agents_that_pick_up_at_once_get_a_ticket_each,
    dispatchers_side_by_side_keep_to_the_limit,
    a_ticket_is_closed_or_transferred_once,
}

/// Puts tickets like `first` into a queue, each of a contact of its own.
async fn fill(desk: &Helpdesk, first: &Ticket, queue: &str, count: usize) {
    let cx = &desk.world.cx;
    let queue: QueueId = queue.parse().expect("an id");
    let mut tickets = Vec::new();
    let mut tx = desk.world.store.begin().await.expect("begin");
    for at in 0..count {
        let contact = Contact::create(cx, format!("wc-c1-{queue}-{at}"), "X".to_owned(), Channel::Webchat);
        let contact = tx.contacts().insert_or_get(&contact).await.expect("a contact");
        let chat = Chat::open(cx, contact.id.clone(), first.router_id.clone());
        let chat = tx.chats().open_or_get_many(&[chat]).await.expect("a chat").remove(0);
        tickets.push(Ticket {
            id: TicketId::generate(cx.ids()),
            chat_id: chat.id,
            contact_id: contact.id,
            session_id: None,
            queue_id: Some(queue.clone()),
            ..first.clone()
        });
    }
    tx.tickets().insert_many(&tickets).await.expect("tickets");
    tx.commit().await.expect("commit");
}

async fn agents_that_pick_up_at_once_get_a_ticket_each(store: SqlStore) {
    const AGENTS: usize = 8;
    let desk = Arc::new(Helpdesk::new(store).await);
    desk.add_queue("q1", ManualPickup).await;
    desk.change_queue("q1", |queue| queue.max_concurrent_tickets_per_agent = 1_000).await;
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    fill(&desk, &first, "q1", 99).await;
    let mut agents = Vec::new();
    for at in 0..AGENTS {
        agents.push(desk.add_agent(&format!("agent{at}"), &["q1"]).await);
    }
    let mut working = JoinSet::new();
    for user in agents {
        let desk = Arc::clone(&desk);
        working.spawn(async move {
            let mut mine = Vec::new();
            while let Some(ticket) = desk.desk.pick_up(desk.by(&user), &user).await.expect("picked up") {
                mine.push(ticket.id);
            }
            mine
        });
    }
    let all: Vec<TicketId> = working.join_all().await.into_iter().flatten().collect();
    assert_eq!((all.len(), all.iter().collect::<BTreeSet<_>>().len()), (100, 100), "each once");
    let tickets = desk.tickets(Default::default()).await;
    assert!(tickets.iter().all(|ticket| ticket.status == TicketStatus::Assigned));
}

async fn dispatchers_side_by_side_keep_to_the_limit(store: SqlStore) {
    let desk = Arc::new(Helpdesk::new(store).await);
    desk.add_queue("q1", LeastLoaded).await;
    desk.add_queue("q2", LeastLoaded).await;
    let first = desk.hand_over("ana", "bill").await.expect("a ticket");
    fill(&desk, &first, "q1", 15).await;
    fill(&desk, &first, "q2", 15).await;
    for at in 0..4 {
        let user = desk.add_agent(&format!("agent{at}"), &["q1", "q2"]).await;
        // Not by the service, which would give them tickets already.
        let mut tx = desk.world.store.begin().await.expect("begin");
        let until = desk.world.cx.now() + PRESENCE_LIFETIME;
        tx.presence().set(&user, PresenceStatus::Online, until).await.expect("set");
        tx.commit().await.expect("commit");
    }
    let mut racing = JoinSet::new();
    for _ in 0..8 {
        let desk = Arc::clone(&desk);
        racing.spawn(async move { desk.dispatcher.sweep().await.expect("swept") });
    }
    racing.join_all().await;
    let mut held: BTreeMap<UserId, usize> = BTreeMap::new();
    for ticket in desk.tickets(Default::default()).await {
        if let Some(user) = ticket.assigned_user_id {
            *held.entry(user).or_default() += 1;
        }
    }
    // Nobody beyond the limit of three, and nobody with room while tickets wait.
    assert_eq!(held.values().copied().collect::<Vec<_>>(), [3, 3, 3, 3]);
}

async fn a_ticket_is_closed_or_transferred_once(store: SqlStore) {
    let desk = Arc::new(Helpdesk::new(store).await);
    desk.add_queue("q1", ManualPickup).await;
    let eva = desk.add_agent("eva", &["q1"]).await;
    desk.add_agent("ivo", &["q1"]).await;
    for round in 0..6 {
        let visitor = format!("v{round}");
        desk.hand_over(&visitor, "bill").await.expect("a ticket");
        let ticket = desk.desk.pick_up(desk.by(&eva), &eva).await.expect("picked up").expect("a ticket");
        let mut racing = JoinSet::new();
        for at in 0..4 {
            let (desk, eva, id) = (Arc::clone(&desk), eva.clone(), ticket.id.clone());
            racing.spawn(async move {
                if at % 2 == 0 {
                    desk.desk.close(desk.by(&eva), &id, Default::default()).await.map(drop)
                } else {
                    let command =
                        serde_json::from_value(serde_json::json!({ "toUserId": "ivo" })).expect("one");
                    desk.desk.transfer(desk.by(&eva), &id, command).await.map(drop)
                }
            });
        }
        let mut done = 0;
        for outcome in racing.join_all().await {
            match outcome {
                Ok(()) => done += 1,
                Err(TicketError::Closed) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(done, 1, "round {round}");
        let open = desk.chain(&visitor).await.into_iter().filter(Ticket::is_open).count();
        assert!(open <= 1);
        // Make room for the next round.
        for ticket in desk.chain(&visitor).await.into_iter().filter(Ticket::is_open) {
            desk.desk.close(desk.by(&eva), &ticket.id, Default::default()).await.expect("closed");
        }
    }
}
