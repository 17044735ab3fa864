//! Conversations over HTTP: one message under way on each connection, every answer checked.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::task::JoinSet;

use super::channel::Channel;
use crate::http::{Connection, Request};
use crate::load::{self, Outcome, says};

/// The request of message `n` (from 1) of a conversation, with this text.
pub(super) type Requests = Box<dyn Fn(u64, &str) -> Request>;

/// The work of one measurement.
pub(super) struct Plan {
    pub(super) address: SocketAddr,
    /// By name. One after the other in each, beside each other over all.
    pub(super) conversations: Vec<(String, Requests)>,
    /// Where answers come that are not in the answer to the request.
    pub(super) channel: Option<Channel>,
    /// The answer to message `n` with this text.
    pub(super) answer: fn(u64, &str) -> String,
    pub(super) window: Duration,
    /// The process whose processor time is counted.
    pub(super) pid: u32,
}

#[derive(Default)]
struct Shared {
    outcome: RefCell<Outcome>,
    in_window: Cell<bool>,
    stop: Cell<bool>,
}

/// Carries out `plan`.
pub(super) async fn run(plan: Plan) -> Result<Outcome> {
    tokio::task::LocalSet::new().run_until(conduct(plan)).await
}

async fn conduct(plan: Plan) -> Result<Outcome> {
    let shared = Rc::new(Shared::default());
    let channel = Rc::new(plan.channel);
    let mut talking = JoinSet::new();
    for (number, (name, request)) in plan.conversations.into_iter().enumerate() {
        let connection = Connection::open(plan.address).await?;
        let (shared, channel) = (Rc::clone(&shared), Rc::clone(&channel));
        talking.spawn_local(async move {
            let posted = || channel.as_ref().as_ref().map(|channel| channel.take(&name));
            let done = talk(connection, number, &request, posted, plan.answer, &shared).await;
            shared.outcome.borrow_mut().note_end(done);
        });
    }
    let (seconds, cpu) = load::measure(plan.window, &[plan.pid], &shared.in_window).await?;
    shared.stop.set(true);
    load::drain(talking).await;
    let mut outcome = shared.outcome.take();
    if outcome.answered_in_window == 0 {
        bail!("nothing was answered: {:?}", outcome.wrong);
    }
    (outcome.seconds, outcome.cpu) = (seconds, cpu);
    outcome.latencies.sort_unstable();
    Ok(outcome)
}

async fn talk(
    mut connection: Connection,
    number: usize,
    request: &dyn Fn(u64, &str) -> Request,
    posted: impl Fn() -> Option<String>,
    answer: fn(u64, &str) -> String,
    shared: &Shared,
) -> Result<()> {
    for n in 1.. {
        if shared.stop.get() {
            break;
        }
        let text = format!("hello from the load generator {number:05} {n:08}");
        let request = request(n, &text);
        let began = Instant::now();
        shared.outcome.borrow_mut().written += 1;
        let status = connection.ask(&request).await?;
        let body = posted().unwrap_or_else(|| String::from_utf8_lossy(connection.body()).into_owned());
        let expected = answer(n, &text);
        let right = status == 200 && says(&body, &expected);
        let wrong = (!right).then(|| format!("expected {expected:?}, got {status} {body}"));
        shared.outcome.borrow_mut().note(began, shared.in_window.get(), wrong);
    }
    Ok(())
}
