//! The use cases of the helpdesk over a store.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use flowsdk_core::change::{Author, NoChangeLog};
use flowsdk_core::context::OpContext;
use flowsdk_core::conversation::Handover;
use flowsdk_core::event::HelpdeskEvent;
use flowsdk_core::router::Reach;
use flowsdk_core::text::Language;
use flowsdk_helpdesk::desk::{By, Desk};
use flowsdk_helpdesk::dispatch::Dispatcher;
use flowsdk_helpdesk::intake::HelpdeskIntake;
use flowsdk_store::sql::SqlStore;
use tokio::task::JoinSet;

use super::Picked;
use super::floor::Floor;

/// The helpdesk of a server.
#[derive(Debug)]
pub(super) struct Ours {
    desk: Arc<Desk<SqlStore>>,
    intake: HelpdeskIntake<SqlStore>,
}

impl Ours {
    pub(super) fn new(store: &SqlStore) -> Self {
        let (store, cx) = (|| Arc::new(store.clone()), OpContext::system());
        let dispatcher = Arc::new(Dispatcher::new(store(), cx.clone()));
        let desk =
            Desk::new(store(), cx.clone(), Arc::new(NoChangeLog), Handover::Stream, Arc::clone(&dispatcher));
        let intake = HelpdeskIntake::new(store(), cx, dispatcher, Handover::Stream, Language::Portuguese);
        Self { desk: Arc::new(desk), intake }
    }

    /// Every agent picks up `limit` tickets, or as many as there are.
    pub(super) async fn pick_up(&self, floor: &Arc<Floor>, limit: usize) -> Result<Vec<Picked>> {
        let mut working = JoinSet::new();
        for number in 0..floor.agents.len() {
            let (desk, floor) = (Arc::clone(&self.desk), Arc::clone(floor));
            working.spawn(async move {
                let (author, user) = (Author::default(), &floor.agents[number].user);
                let routers = std::slice::from_ref(&floor.router);
                let by = By { author: &author, user: Some(user), reach: Reach::only(routers) };
                let mut picked = Vec::with_capacity(limit);
                while picked.len() < limit {
                    let began = Instant::now();
                    let Some(ticket) = desk.pick_up(by, user).await? else { break };
                    let millis = began.elapsed().as_secs_f64() * 1e3;
                    picked.push(Picked { user: user.to_string(), ticket: ticket.id.to_string(), millis });
                }
                Ok(picked)
            });
        }
        let all: Vec<Result<Vec<Picked>>> = working.join_all().await;
        Ok(all.into_iter().collect::<Result<Vec<_>>>()?.concat())
    }

    /// Takes a batch of handoffs, and gives their tickets to agents.
    pub(super) async fn take(&self, events: &[&HelpdeskEvent]) -> Result<()> {
        Ok(self.intake.take(events).await?)
    }
}
