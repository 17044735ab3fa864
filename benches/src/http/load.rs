//! Load over HTTP: connections that read, and beside them connections that log in.

use std::cell::{Cell, RefCell};
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::task::JoinSet;

use super::{Connection, Request};
use crate::load::{self, Outcome};

/// The work of one measurement.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    /// The address of the server.
    pub(crate) address: SocketAddr,
    /// The request of the reads, and its answer.
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

/// The results of a measurement. The processor time is that of both, and stands at the reads.
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
            shared.reads.borrow_mut().note_end(done);
        });
    }
    for number in 0..plan.logins.len() {
        let connection = Connection::open(plan.address).await?;
        let (plan, shared) = (Rc::clone(&plan), Rc::clone(&shared));
        asking.spawn_local(async move {
            let done = log_in(connection, &plan.logins[number], &shared).await;
            shared.logins.borrow_mut().note_end(done);
        });
    }
    let (seconds, cpu) = load::measure(plan.window, &[plan.pid], &shared.in_window).await?;
    shared.stop.set(true);
    load::drain(asking).await;

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
        let wrong = (!right).then(|| format!("{status} {}", String::from_utf8_lossy(answer.body())));
        of.borrow_mut().note(began, self.in_window.get(), wrong);
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}
