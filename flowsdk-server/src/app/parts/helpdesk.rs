//! The helpdesk: handoffs become tickets, tickets go to agents, and what nobody closes is closed.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::stream::consumer::ConsumerConfig;
use flowsdk_core::stream::topic::TopicName;
use flowsdk_helpdesk::desk::{DeskSweep, WaitingNotices};
use flowsdk_helpdesk::dispatch::Dispatcher;
use flowsdk_helpdesk::intake::{HELPDESK_GROUP, HelpdeskIntake, StuckHandoffs};
use flowsdk_store::sql::SqlStore;

use super::{Part, Reads};
use crate::app::ground::Ground;
use crate::config::Role;

/// How long a ticket may wait beside room that nobody was told of.
const SWEEP_PERIOD: Duration = Duration::from_secs(5);
/// Most handoffs that are tried again at once.
const RETRIED_AT_ONCE: u32 = 200;

/// The role of the consumer.
const HELPDESK: Role = Role { names: &["helpdesk"], together: None, sections: &[] };

const HANDOFFS: Reads = Reads { topics: &[TopicName::Helpdesk], group: HELPDESK_GROUP, watched_as: None };

pub(super) const PART: Part =
    Part { role: HELPDESK, reads: &[HANDOFFS], start: |ground| Box::pin(async { start(ground) }) };

#[allow(clippy::unnecessary_wraps, reason = "as every part starts")]
fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let store = || Arc::clone(&ground.store);
    let dispatcher = Arc::new(Dispatcher::new(store(), ground.cx.clone()));
    let language = ground.config.default_language;
    let intake = || {
        HelpdeskIntake::new(store(), ground.cx.clone(), Arc::clone(&dispatcher), ground.handover(), language)
    };
    // Its one source of events is the stream.
    drop(ground.consume(
        intake(),
        &HANDOFFS,
        ConsumerConfig { max_batch: 128, ..ConsumerConfig::named("helpdesk") },
    ));
    let rounds = Rounds {
        intake: intake(),
        stuck: StuckHandoffs::new(store()),
        sweep: DeskSweep::new(store(), ground.cx.clone()),
        notices: WaitingNotices::new(store(), ground.cx.clone(), ground.handover()),
        dispatcher,
    };
    let rounds = Arc::new(rounds);
    ground.every_alone("helpdesk-sweep", "helpdesk sweep", SWEEP_PERIOD, move || {
        let rounds = Arc::clone(&rounds);
        async move { rounds.go().await }
    });
    Ok(())
}

/// What is done again and again, in one process at a time.
struct Rounds {
    intake: HelpdeskIntake<SqlStore>,
    stuck: StuckHandoffs<SqlStore>,
    sweep: DeskSweep<SqlStore>,
    notices: WaitingNotices<SqlStore>,
    dispatcher: Arc<Dispatcher<SqlStore>>,
}

impl Rounds {
    async fn go(&self) {
        if let Err(error) = self.intake.retry_stuck(RETRIED_AT_ONCE).await {
            tracing::warn!(error = %Chain(&error), "handoffs without a queue wait for the next round");
        }
        match self.intake.take_forgotten(RETRIED_AT_ONCE).await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "conversations that people have had no ticket"),
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "forgotten conversations wait for the next round")
            }
        }
        match self.stuck.count().await {
            Ok(count) => metrics::gauge!("flowsdk_stuck_handoffs").set(count as f64),
            Err(error) => tracing::debug!(error = %Chain(&error), "stuck handoffs are not counted"),
        }
        if let Err(error) = self.sweep.tick().await {
            tracing::warn!(error = %Chain(&error), "tickets that nobody closes stay open for now");
        }
        if let Err(error) = self.sweep.end_offers().await {
            tracing::warn!(error = %Chain(&error), "offers that nobody answered last until the next round");
        }
        if let Err(error) = self.sweep.pass_time().await {
            tracing::warn!(error = %Chain(&error), "service levels are told of in the next round");
        }
        if let Err(error) = self.sweep.end_surveys().await {
            tracing::warn!(error = %Chain(&error), "surveys that nobody answered last until the next round");
        }
        match self.sweep.take_back().await {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "tickets of agents who are gone wait again"),
            Err(error) => {
                tracing::warn!(error = %Chain(&error), "tickets of agents who are gone stay theirs for now")
            }
        }
        if let Err(error) = self.dispatcher.sweep().await {
            tracing::warn!(error = %Chain(&error), "tickets wait for the next round");
        }
        // Whoever was given a ticket now need not be told of a wait.
        if let Err(error) = self.notices.tick().await {
            tracing::warn!(error = %Chain(&error), "contacts hear of their wait in the next round");
        }
    }
}
