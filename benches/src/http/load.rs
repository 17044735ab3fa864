//! Load over HTTP: connections that read, and beside them connections that log in.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::task::JoinSet;

use super::{Connection, Request};
use crate::load::{DRAIN, Outcome, WARM_UP};
use crate::machine;

/// What is to be done.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// Where.
    pub(crate) address: SocketAddr,
    /// What is read.
    pub(crate) read: Exchange,
    /// Over how many connections.
    pub(crate) connections: usize,
    /// Reads a second over all of them; `None` reads again as soon as the answer is there.
    pub(crate) pace: Option<f64>,
    /// Logins, each again and again on a connection of its own.
    pub(crate) logins: Vec<Request>,
    /// How long to measure.
    pub(crate) window: Duration,
    /// The process whose processor time is counted.
    pub(crate) pid: u32,
}

/// A request and the body of its only right answer.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) request: Request,
    pub(crate) body: Vec<u8>,
}

/// What came of it. The processor time is that of both, and stands at the reads.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) reads: Outcome,
    pub(crate) logins: Outcome,
}

#[derive(Default)]
struct Shared {
    reads: RefCell<Outcome>,
    logins: RefCell<Outcome>,
    in_window: Cell<bool>,
    stop: Cell<bool>,
}

/// Carries out `plan`.
pub(crate) async fn run(plan: Plan) -> Result<Outcomes> {
    tokio::task::LocalSet::new().run_until(conduct(plan)).await
}

async fn conduct(plan: Plan) -> Result<Outcomes> {
    let shared = Rc::new(Shared::default());
    let plan = Rc::new(plan);
    let mut asking = JoinSet::new();
    for number in 0..plan.connections {
        let connection = Connection::open(plan.address).await?;
        let (plan, shared) = (Rc::clone(&plan), Rc::clone(&shared));
        asking.spawn_local(async move {
            let done = read(connection, &plan, number, &shared).await;
            note_break(done, &shared.reads);
        });
    }
    for number in 0..plan.logins.len() {
        let connection = Connection::open(plan.address).await?;
        let (plan, shared) = (Rc::clone(&plan), Rc::clone(&shared));
        asking.spawn_local(async move {
            let done = log_in(connection, &plan.logins[number], &shared).await;
            note_break(done, &shared.logins);
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
    // Whoever does not end by then has lost its answer, which the count of answers shows.
    let all = async { while asking.join_next().await.is_some() {} };
    let _late = tokio::time::timeout(DRAIN, all).await;
    asking.abort_all();

    let (mut reads, mut logins) = (shared.reads.take(), shared.logins.take());
    for outcome in [&mut reads, &mut logins] {
        outcome.seconds = seconds;
        outcome.latencies.sort_unstable();
    }
    reads.cpu = cpu;
    if reads.answered_in_window == 0 {
        bail!("nothing was answered: {:?}", reads.wrong);
    }
    Ok(Outcomes { reads, logins })
}

async fn read(mut connection: Connection, plan: &Plan, number: usize, shared: &Shared) -> Result<()> {
    let Some(rate) = plan.pace else {
        while !shared.stop.get() {
            let due = Instant::now();
            read_once(&mut connection, plan, due, shared).await?;
        }
        return Ok(());
    };
    let every = Duration::from_secs_f64(plan.connections as f64 / rate);
    let mut due = Instant::now() + every.mul_f64((number as f64 + 0.5) / plan.connections as f64);
    while !shared.stop.get() {
        // The timer is a millisecond late at times, which is not the server's doing. When the connection was
        // still busy at the due moment, the wait counts.
        let began = if Instant::now() < due {
            tokio::time::sleep_until(due.into()).await;
            Instant::now()
        } else {
            due
        };
        read_once(&mut connection, plan, began, shared).await?;
        due += every;
    }
    Ok(())
}

async fn read_once(connection: &mut Connection, plan: &Plan, began: Instant, shared: &Shared) -> Result<()> {
    shared.reads.borrow_mut().written += 1;
    let status = connection.ask(&plan.read.request).await?;
    let right = status == 200 && connection.body() == plan.read.body;
    shared.note(&shared.reads, right, status, connection, began);
    Ok(())
}

async fn log_in(mut connection: Connection, login: &Request, shared: &Shared) -> Result<()> {
    while !shared.stop.get() {
        let began = Instant::now();
        shared.logins.borrow_mut().written += 1;
        let status = connection.ask(login).await?;
        let right = status == 200 && contains(connection.body(), b"\"accessToken\":\"");
        shared.note(&shared.logins, right, status, &connection, began);
    }
    Ok(())
}

impl Shared {
    fn note(&self, of: &RefCell<Outcome>, right: bool, status: u16, answer: &Connection, began: Instant) {
        let mut outcome = of.borrow_mut();
        outcome.answered += 1;
        if !right {
            outcome.wrong_count += 1;
            let text = || format!("{status} {}", String::from_utf8_lossy(answer.body()));
            outcome.wrong.get_or_insert_with(text);
        }
        if self.in_window.get() {
            outcome.answered_in_window += 1;
            let micros = began.elapsed().as_micros();
            outcome.latencies.push(u32::try_from(micros).unwrap_or(u32::MAX));
        }
    }
}

fn note_break(done: Result<()>, of: &RefCell<Outcome>) {
    if let Err(error) = done {
        let mut outcome = of.borrow_mut();
        outcome.broken += 1;
        outcome.wrong.get_or_insert_with(|| format!("{error:#}"));
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
