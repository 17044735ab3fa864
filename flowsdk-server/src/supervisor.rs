//! Owns every task: its name, the consequence of an early end, and its end.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Decides who runs periodic work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// A task for each, by its period.
    #[default]
    Timed,
    /// Nobody but the caller of [`Supervisor::tick`].
    ByHand,
}

/// Periodic work that waits for [`Supervisor::tick`].
#[derive(Clone)]
struct Tick {
    name: &'static str,
    work: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>,
}

impl std::fmt::Debug for Tick {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The tasks of the server, in the order in which they stop: first those that let work in (`intake`), then
/// those that finish it (`work`), then those that keep the records of both (`records`).
#[derive(Debug, Clone)]
pub struct Supervisor {
    /// Cancelled when nothing new is to be let in.
    pub intake: CancellationToken,
    /// Cancelled when the remaining work is to be finished.
    pub work: CancellationToken,
    /// Cancelled when no task records anything any more.
    pub records: CancellationToken,
    intake_tasks: TaskTracker,
    work_tasks: TaskTracker,
    record_tasks: TaskTracker,
    failed: Arc<AtomicBool>,
    pace: Pace,
    ticks: Arc<Mutex<Vec<Tick>>>,
}

impl Default for Supervisor {
    fn default() -> Self {
        Self::new(Pace::default())
    }
}

impl Supervisor {
    /// A supervisor of no tasks.
    pub fn new(pace: Pace) -> Self {
        Self {
            pace,
            ticks: Arc::default(),
            intake: CancellationToken::new(),
            work: CancellationToken::new(),
            records: CancellationToken::new(),
            intake_tasks: TaskTracker::new(),
            work_tasks: TaskTracker::new(),
            record_tasks: TaskTracker::new(),
            failed: Arc::new(AtomicBool::new(false)),
        }
    }

    /// Runs a task that lets work in and must not end before `intake` is cancelled.
    pub fn intake(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.guard(&self.intake_tasks, self.intake.clone(), name, task);
    }

    /// Runs a task that finishes work and must not end before `work` is cancelled.
    pub fn work(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.guard(&self.work_tasks, self.work.clone(), name, task);
    }

    /// Runs a task that keeps the records of intake and work, and must not end before `records` is cancelled.
    pub fn records(&self, name: &'static str, task: impl Future<Output = ()> + Send + 'static) {
        self.guard(&self.record_tasks, self.records.clone(), name, task);
    }

    /// Calls `tick` every `period` until `work` is cancelled, then once more. A tick is idempotent; one
    /// that panics is called again the next time, and stops nothing.
    pub fn periodic<F, Fut>(&self, name: &'static str, period: Duration, tick: F)
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        if self.pace == Pace::ByHand {
            let work: Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync> =
                Arc::new(move || Box::pin(tick()));
            self.ticks.lock().unwrap_or_else(PoisonError::into_inner).push(Tick { name, work });
            return;
        }
        let stop = self.work.clone();
        self.work(name, async move {
            let mut every = tokio::time::interval(period);
            every.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    _ = every.tick() => {}
                    () = stop.cancelled() => break,
                }
                contain(name, &tick).await;
            }
            contain(name, &tick).await;
        });
    }

    /// Runs the periodic work of a supervisor [by hand](Pace::ByHand) once, in the order in which it was registered.
    pub async fn tick(&self) {
        let ticks = self.ticks.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for Tick { name, work } in ticks {
            contain(name, &*work).await;
        }
    }

    /// A task that ends early takes the whole server down: half a server is worse than a restart.
    fn guard(
        &self,
        tracker: &TaskTracker,
        expected: CancellationToken,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        let (failed, intake) = (Arc::clone(&self.failed), self.intake.clone());
        tracker.spawn(async move {
            let ended = futures_util::FutureExt::catch_unwind(std::panic::AssertUnwindSafe(task)).await;
            if ended.is_err() || !expected.is_cancelled() {
                tracing::error!(
                    task = name,
                    panicked = ended.is_err(),
                    "a task ended early: the server stops"
                );
                failed.store(true, Ordering::SeqCst);
                intake.cancel();
            } else {
                tracing::debug!(task = name, "a task ended");
            }
        });
    }

    /// The tracker of the tasks that let work in, for parts that spawn their own.
    pub fn intake_tracker(&self) -> TaskTracker {
        self.intake_tasks.clone()
    }

    /// Returns whether a task ended early.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::SeqCst)
    }

    /// Stops letting work in and waits until nothing does.
    pub async fn close_intake(&self) {
        self.intake.cancel();
        self.intake_tasks.close();
        self.intake_tasks.wait().await;
    }

    /// Finishes the work and waits until it is done.
    pub async fn finish_work(&self) {
        self.work.cancel();
        self.work_tasks.close();
        self.work_tasks.wait().await;
        self.tick().await;
    }

    /// Keeps the last records and waits until they are kept.
    pub async fn finish_records(&self) {
        self.records.cancel();
        self.record_tasks.close();
        self.record_tasks.wait().await;
    }
}

/// Calls a tick, whose panic ends nothing but itself. Many ticks do their work before they return a future, so the
/// call itself is contained too.
async fn contain<F, Fut>(name: &'static str, tick: &F)
where
    F: Fn() -> Fut + ?Sized,
    Fut: Future<Output = ()>,
{
    let once = std::panic::AssertUnwindSafe(async { tick().await });
    if futures_util::FutureExt::catch_unwind(once).await.is_err() {
        tracing::error!(task = name, "a tick panicked");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_panics_stops_the_server() {
        let supervisor = Supervisor::default();
        supervisor.work("broken", async { panic!("as the test wants") });
        supervisor.intake.cancelled().await;
        assert!(supervisor.has_failed());
    }

    /// Lets every task that can run do so, without letting time pass.
    async fn settle() {
        for _ in 0..16 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn tasks_end_in_order_and_a_tick_runs_once_more() {
        let supervisor = Supervisor::default();
        let ended = Arc::new(std::sync::Mutex::new(Vec::new()));
        let note = |word: &'static str| {
            let ended = Arc::clone(&ended);
            move || ended.lock().expect("not poisoned").push(word)
        };
        let (ticked, let_in, kept) = (note("tick"), note("intake"), note("records"));
        supervisor.periodic("tick", Duration::from_secs(3_600), move || {
            ticked();
            async {}
        });
        let stop = supervisor.intake.clone();
        supervisor.intake("listener", async move {
            stop.cancelled().await;
            let_in();
        });
        let stop = supervisor.records.clone();
        supervisor.records("log", async move {
            stop.cancelled().await;
            kept();
        });
        settle().await;
        assert_eq!(*ended.lock().expect("not poisoned"), ["tick"]);
        supervisor.close_intake().await;
        settle().await;
        assert_eq!(*ended.lock().expect("not poisoned"), ["tick", "intake"]);
        supervisor.finish_work().await;
        settle().await;
        assert_eq!(*ended.lock().expect("not poisoned"), ["tick", "intake", "tick"]);
        supervisor.finish_records().await;
        assert_eq!(*ended.lock().expect("not poisoned"), ["tick", "intake", "tick", "records"]);
        assert!(!supervisor.has_failed());
    }

    #[tokio::test]
    async fn ticks_by_hand_run_when_they_are_told_and_at_the_end() {
        let supervisor = Supervisor::new(Pace::ByHand);
        let calls = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        supervisor.periodic("tick", Duration::from_nanos(1), move || {
            counted.fetch_add(1, Ordering::SeqCst);
            async { panic!("as the test wants") }
        });
        settle().await;
        assert_eq!(calls.load(Ordering::SeqCst), 0);
        supervisor.tick().await;
        assert_eq!(calls.load(Ordering::SeqCst), 1);
        supervisor.finish_work().await;
        assert_eq!((calls.load(Ordering::SeqCst), supervisor.has_failed()), (2, false));
    }

    /// Ticks that panic before their future, and within it.
    #[tokio::test(start_paused = true)]
    async fn a_tick_that_panics_is_called_again_and_may_panic_at_the_end() {
        let supervisor = Supervisor::default();
        let calls = Arc::new(std::sync::atomic::AtomicU32::new(0));
        let counted = Arc::clone(&calls);
        supervisor.periodic("broken at once", Duration::from_secs(1), move || {
            counted.fetch_add(1, Ordering::SeqCst);
            assert!(counted.load(Ordering::SeqCst) == 0, "as the test wants");
            async {}
        });
        let counted = Arc::clone(&calls);
        supervisor.periodic("broken later", Duration::from_secs(1), move || {
            counted.fetch_add(1, Ordering::SeqCst);
            async { panic!("as the test wants") }
        });
        for expected in [2, 4] {
            settle().await;
            assert_eq!(calls.load(Ordering::SeqCst), expected);
            tokio::time::advance(Duration::from_secs(1)).await;
        }
        settle().await;
        supervisor.finish_work().await;
        assert_eq!(calls.load(Ordering::SeqCst), 8);
        assert!(!supervisor.has_failed());
    }
}
