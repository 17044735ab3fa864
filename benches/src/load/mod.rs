//! Load: many visitors who write, check every answer, and time it.

mod known;
mod visitor;
mod wire;

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

pub(crate) use known::Known;
pub(crate) use visitor::{Entrance, NotLetIn, Visitor};
pub(crate) use wire::Wire;

use crate::machine;

/// Time before the window, for caches and for the slow start of a just-in-time compiler.
const WARM_UP: Duration = Duration::from_secs(2);
/// How long the last answers may take.
const DRAIN: Duration = Duration::from_secs(10);
/// How long to listen for answers nobody expects any more.
const STRAYS: Duration = Duration::from_millis(300);
/// Visitors that connect at once.
const ENTERING: usize = 64;

/// The work of one measurement.
pub(crate) struct Plan {
    /// The endpoints of the server, over which visitors are spread.
    pub(crate) entrances: Vec<Entrance>,
    /// The `auth` of each visitor, as JSON.
    pub(crate) auths: Vec<String>,
    /// Messages a second over all visitors; `None` writes again as soon as the answer is there.
    pub(crate) pace: Option<f64>,
    /// How long to measure.
    pub(crate) window: Duration,
    /// The answer to message `n` (from 1) with this text.
    pub(crate) answer: fn(u64, &str) -> String,
    /// The processes whose processor time is counted.
    pub(crate) pids: Vec<u32>,
    /// Whether visitors acknowledge messages, where the server asks for it.
    pub(crate) acknowledge: bool,
}

/// How long one answer took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Latency {
    /// Microseconds.
    micros: u32,
    /// Which message of its writer it answers, from 1.
    number: u32,
}

impl Latency {
    fn new(taken: Duration, number: u64) -> Self {
        let capped = |value: u128| u32::try_from(value).unwrap_or(u32::MAX);
        Self { micros: capped(taken.as_micros()), number: capped(number.into()) }
    }
}

/// The result of a measurement.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Messages answered in the window.
    pub(crate) answered_in_window: u64,
    /// How long the window was.
    pub(crate) seconds: f64,
    /// Latencies of the window, sorted.
    pub(crate) latencies: Vec<Latency>,
    /// Processor time of the server in the window.
    pub(crate) cpu: Duration,
    /// Messages written, before, in and after the window.
    pub(crate) written: u64,
    /// The number of messages that were answered.
    pub(crate) answered: u64,
    /// The first answer that was not the expected one, or that nobody expected.
    pub(crate) wrong: Option<String>,
    /// How many such answers there were.
    pub(crate) wrong_count: u64,
    /// Visitors whose connection broke.
    pub(crate) broken: u64,
}

impl Outcome {
    /// Returns the messages a second.
    pub(crate) fn rate(&self) -> f64 {
        self.answered_in_window as f64 / self.seconds
    }

    /// Processor time of the server per message, in microseconds.
    pub(crate) fn cpu_per_message(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.answered_in_window.max(1) as f64
    }

    /// A quantile of the latency, in milliseconds.
    pub(crate) fn latency(&self, quantile: f64) -> f64 {
        quantile_of(&self.latencies, quantile)
    }

    /// The same of each message of a ring of `kinds`, in the order in which a writer writes them.
    pub(crate) fn latency_by_kind(&self, kinds: u32, quantile: f64) -> Vec<f64> {
        let is_of = |kind: u32| move |latency: &&Latency| (latency.number - 1) % kinds == kind;
        let of = |kind: u32| self.latencies.iter().filter(is_of(kind)).copied().collect::<Vec<_>>();
        (0..kinds).map(|kind| quantile_of(&of(kind), quantile)).collect()
    }

    /// The same of each of `parts` equal parts of the messages of a writer, in their order.
    pub(crate) fn latency_by_part(&self, parts: u32, quantile: f64) -> Vec<f64> {
        let last = self.latencies.iter().map(|latency| latency.number).max().unwrap_or(0);
        let part_of = |latency: &Latency| u64::from(latency.number - 1) * u64::from(parts) / u64::from(last);
        let of = |part: u64| {
            self.latencies.iter().filter(|latency| part_of(latency) == part).copied().collect::<Vec<_>>()
        };
        (0..parts.into()).map(|part| quantile_of(&of(part), quantile)).collect()
    }

    /// Notes an answer to a message sent at `began`, and its fault.
    pub(crate) fn note(&mut self, began: Instant, in_window: bool, wrong: Option<String>) {
        self.answered += 1;
        if let Some(wrong) = wrong {
            self.wrong_count += 1;
            self.wrong.get_or_insert(wrong);
        }
        if in_window {
            self.answered_in_window += 1;
            self.latencies.push(Latency::new(began.elapsed(), self.answered));
        }
    }

    /// Notes how a connection ended.
    pub(crate) fn note_end(&mut self, done: Result<()>) {
        if let Err(error) = done {
            self.broken += 1;
            self.wrong.get_or_insert_with(|| format!("{error:#}"));
        }
    }

    /// Why this run does not count, if it does not.
    pub(crate) fn fault(&self) -> Option<String> {
        if let Some(wrong) = &self.wrong {
            return Some(format!("{} wrong answers, the first: {wrong}", self.wrong_count));
        }
        if self.broken > 0 {
            return Some(format!("{} connections broke", self.broken));
        }
        let lost = self.written - self.answered;
        (lost > 0).then(|| format!("{lost} of {} messages were not answered", self.written))
    }
}

/// A quantile of sorted latencies, in milliseconds.
fn quantile_of(latencies: &[Latency], quantile: f64) -> f64 {
    let last = latencies.len().saturating_sub(1);
    let at = (last as f64 * quantile).round() as usize;
    latencies.get(at).map_or(0.0, |latency| f64::from(latency.micros) / 1e3)
}

#[derive(Default)]
struct Shared {
    written: Cell<u64>,
    answered: Cell<u64>,
    in_window: Cell<bool>,
    stop: Cell<bool>,
    broken: Cell<u64>,
    wrong_count: Cell<u64>,
    wrong: RefCell<Option<String>>,
    latencies: RefCell<Vec<Latency>>,
}

impl Shared {
    fn note_wrong(&self, what: String) {
        self.wrong_count.set(self.wrong_count.get() + 1);
        self.wrong.borrow_mut().get_or_insert(what);
    }
}

fn more(counter: &Cell<u64>) {
    counter.set(counter.get() + 1);
}

/// Carries out `plan`.
pub(crate) async fn run(plan: Plan) -> Result<Outcome> {
    tokio::task::LocalSet::new().run_until(conduct(plan)).await
}

async fn conduct(plan: Plan) -> Result<Outcome> {
    let shared = Rc::new(Shared::default());
    let entrances = Rc::new(plan.entrances);
    let doors = Rc::new(Semaphore::new(ENTERING));
    let mut entering = JoinSet::new();
    let count = plan.auths.len();
    for (number, auth) in plan.auths.into_iter().enumerate() {
        let (entrances, doors) = (Rc::clone(&entrances), Rc::clone(&doors));
        entering.spawn_local(async move {
            let _door = doors.acquire().await?;
            Visitor::enter(&entrances[number % entrances.len()], &auth, plan.acknowledge).await
        });
    }
    let mut visitors = Vec::with_capacity(count);
    while let Some(entered) = entering.join_next().await {
        visitors.push(entered??);
    }
    let mut writing = JoinSet::new();
    for (number, visitor) in visitors.into_iter().enumerate() {
        let writer = Writer {
            visitor,
            number,
            written: 0,
            answered: 0,
            waiting: VecDeque::new(),
            answer: plan.answer,
            shared: Rc::clone(&shared),
        };
        let shared = Rc::clone(&shared);
        writing.spawn_local(async move {
            let result = match plan.pace {
                None => writer.write_again().await,
                Some(rate) => writer.write_at_pace(rate, count).await,
            };
            if let Err(error) = result {
                more(&shared.broken);
                shared.wrong.borrow_mut().get_or_insert(format!("{error:#}"));
            }
        });
    }
    let (seconds, cpu) = measure(plan.window, &plan.pids, &shared.in_window).await?;
    shared.stop.set(true);
    let end = Instant::now() + DRAIN;
    while shared.answered.get() < shared.written.get() && Instant::now() < end {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    tokio::time::sleep(STRAYS).await;
    writing.abort_all();
    let mut latencies = shared.latencies.take();
    if latencies.is_empty() {
        bail!("nothing was answered: {:?}", shared.wrong.borrow());
    }
    latencies.sort_unstable();
    Ok(Outcome {
        answered_in_window: latencies.len() as u64,
        seconds,
        latencies,
        cpu,
        written: shared.written.get(),
        answered: shared.answered.get(),
        wrong: shared.wrong.take(),
        wrong_count: shared.wrong_count.get(),
        broken: shared.broken.get(),
    })
}

/// Warms up and then opens the window: how many seconds it was open, and the processor time of `pids` in it.
pub(crate) async fn measure(
    window: Duration,
    pids: &[u32],
    in_window: &Cell<bool>,
) -> Result<(f64, Duration)> {
    let used = || pids.iter().map(|&pid| machine::cpu_time(pid)).sum::<Result<Duration>>();
    tokio::time::sleep(WARM_UP).await;
    let (cpu, began) = (used()?, Instant::now());
    in_window.set(true);
    tokio::time::sleep(window).await;
    in_window.set(false);
    let seconds = began.elapsed().as_secs_f64();
    Ok((seconds, used()?.saturating_sub(cpu)))
}

/// Waits for the last answers. Who has none by then has lost it, which the count of answers shows.
pub(crate) async fn drain(mut asking: JoinSet<()>) {
    let all = async { while asking.join_next().await.is_some() {} };
    let _late = tokio::time::timeout(DRAIN, all).await;
}

/// A visitor at work.
struct Writer {
    visitor: Visitor,
    number: usize,
    written: u64,
    answered: u64,
    /// The expected answers, oldest first, and when their messages were due.
    waiting: VecDeque<(Instant, String)>,
    answer: fn(u64, &str) -> String,
    shared: Rc<Shared>,
}

impl Writer {
    /// Writes a message that was due at `due`.
    fn write(&mut self, due: Instant) {
        self.written += 1;
        let text = format!("hello from the load generator {:05} {:08}", self.number, self.written);
        self.visitor.say(&text);
        self.waiting.push_back((due, (self.answer)(self.written, &text)));
        more(&self.shared.written);
    }

    /// Looks at the answers that have arrived.
    fn look(&mut self, mut then: impl FnMut(&mut Self, Instant)) {
        let now = Instant::now();
        while let Some(answer) = self.visitor.take_answer() {
            let Some((due, expected)) = self.waiting.pop_front() else {
                self.shared.note_wrong(format!("nobody expected {answer}"));
                continue;
            };
            if !says(&answer, &expected) {
                self.shared.note_wrong(format!("expected {expected:?}, got {answer}"));
            }
            self.answered += 1;
            more(&self.shared.answered);
            if self.shared.in_window.get() {
                let latency = Latency::new(now.saturating_duration_since(due), self.answered);
                self.shared.latencies.borrow_mut().push(latency);
            }
            then(self, now);
        }
    }

    /// A closed loop with one message under way.
    async fn write_again(mut self) -> Result<()> {
        self.write(Instant::now());
        loop {
            self.visitor.flush().await?;
            self.visitor.listen().await?;
            self.look(|writer, now| {
                if !writer.shared.stop.get() {
                    writer.write(now);
                }
            });
        }
    }

    /// An open loop: messages are due at their moments, whether or not the last one was answered.
    async fn write_at_pace(mut self, rate: f64, visitors: usize) -> Result<()> {
        let every = Duration::from_secs_f64(visitors as f64 / rate);
        let mut due = Instant::now() + every.mul_f64((self.number as f64 + 0.5) / visitors as f64);
        loop {
            self.visitor.flush().await?;
            tokio::select! {
                biased;
                heard = self.visitor.listen() => heard?,
                () = tokio::time::sleep_until(due.into()) => {
                    if !self.shared.stop.get() {
                        self.write(due);
                    }
                    due += every;
                }
            }
            self.look(|_, _| {});
        }
    }
}

/// Returns whether a text of the answer is exactly `expected`. No text of a race needs escaping in JSON.
pub(crate) fn says(answer: &str, expected: &str) -> bool {
    answer
        .match_indices(expected)
        .any(|(at, _)| answer[..at].ends_with('"') && answer[at + expected.len()..].starts_with('"'))
}

/// Where the visitors of a race go in.
pub(crate) fn entrance(address: SocketAddr, path: &str) -> Entrance {
    Entrance { address, path: path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_a_whole_text() {
        let answer = r#"{"type":"text","text":{"body":"oi 1"}}"#;
        assert!(says(answer, "oi 1"));
        assert!(!says(answer, "oi"));
        assert!(!says(answer, "oi 2"));
    }

    #[test]
    fn what_was_lost_is_a_fault() {
        let outcome = Outcome { written: 3, answered: 2, ..Outcome::default() };
        assert_eq!(outcome.fault().as_deref(), Some("1 of 3 messages were not answered"));
        assert_eq!(Outcome::default().fault(), None);
    }

    #[test]
    fn quantiles_are_of_the_sorted_latencies() {
        let latencies = (1..=1_001).map(|micros| Latency { micros, number: 1 }).collect();
        let outcome = Outcome { latencies, ..Outcome::default() };
        assert_eq!(
            (outcome.latency(0.5), outcome.latency(0.99), outcome.latency(1.0)),
            (0.501, 0.991, 1.001)
        );
    }

    #[test]
    fn latencies_are_told_apart_by_kind_and_by_time() {
        let latency = |number| Latency { micros: 1_000 * number, number };
        let outcome = Outcome { latencies: (1..=6).map(latency).collect(), ..Outcome::default() };
        assert_eq!(outcome.latency_by_kind(3, 1.0), [4.0, 5.0, 6.0]);
        assert_eq!(outcome.latency_by_kind(3, 0.0), [1.0, 2.0, 3.0]);
        assert_eq!(outcome.latency_by_part(2, 1.0), [3.0, 6.0]);
        assert_eq!(outcome.latency_by_part(3, 0.0), [1.0, 3.0, 5.0]);
    }
}
