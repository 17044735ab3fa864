//! Conversations over HTTP: one message under way on each connection, every answer checked.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::task::JoinSet;

use crate::http::{Connection, Request};
use crate::load::{DRAIN, Outcome, WARM_UP, says};
use crate::machine;

/// The request of message `n` (from 1) of a conversation, with this text.
pub(super) type Requests = Box<dyn Fn(u64, &str) -> Request>;

/// What is to be done.
pub(super) struct Plan {
    pub(super) address: SocketAddr,
    /// One after the other in each, beside each other over all.
    pub(super) conversations: Vec<Requests>,
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
    let mut talking = JoinSet::new();
    for (number, request) in plan.conversations.into_iter().enumerate() {
        let connection = Connection::open(plan.address).await?;
        let shared = Rc::clone(&shared);
        talking.spawn_local(async move {
            if let Err(error) = talk(connection, number, &request, plan.answer, &shared).await {
                let mut outcome = shared.outcome.borrow_mut();
                outcome.broken += 1;
                outcome.wrong.get_or_insert_with(|| format!("{error:#}"));
            }
        });
    }
    tokio::time::sleep(WARM_UP).await;
    let (cpu, began) = (machine::cpu_time(plan.pid)?, Instant::now());
    shared.in_window.set(true);
    tokio::time::sleep(plan.window).await;
    shared.in_window.set(false);
    let seconds = began.elapsed().as_secs_f64();
    let cpu = machine::cpu_time(plan.pid)?.saturating_sub(cpu);
    shared.stop.set(true);
    // Who has no answer by then has lost it, which the count of answers shows.
    let all = async { while talking.join_next().await.is_some() {} };
    let _late = tokio::time::timeout(DRAIN, all).await;
    talking.abort_all();
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
        let mut outcome = shared.outcome.borrow_mut();
        outcome.answered += 1;
        let body = String::from_utf8_lossy(connection.body());
        let expected = answer(n, &text);
        if status != 200 || !says(&body, &expected) {
            outcome.wrong_count += 1;
            outcome.wrong.get_or_insert_with(|| format!("expected {expected:?}, got {status} {body}"));
        }
        if shared.in_window.get() {
            outcome.answered_in_window += 1;
            outcome.latencies.push(u32::try_from(began.elapsed().as_micros()).unwrap_or(u32::MAX));
        }
    }
    Ok(())
}
