//! A bounded pool of threads for work that keeps a core busy without slowing other requests.
//!
//! tokio's blocking threads have the priority of its workers. When many users log in at once, hashes there take
//! half of the processor from requests that need microseconds. Here they take only the rest.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::oneshot;

/// Threads that hash, and the queue of their jobs.
#[derive(Debug)]
pub(super) struct Pool {
    /// The name of the threads.
    name: &'static str,
    shared: Arc<Shared>,
    parallel: usize,
    waiting: usize,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    /// There is a job, or there will be none any more.
    changed: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Box<dyn Job>>,
    /// The number of threads that exist.
    threads: usize,
    /// The number of threads that work now.
    running: usize,
    closed: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("jobs", &self.jobs.len()).finish_non_exhaustive()
    }
}

/// Work whose result somebody waits for.
trait Job: Send {
    /// Returns whether the caller has gone away.
    fn is_abandoned(&self) -> bool;
    /// Does the job, calls `done`, and then answers: a caller with an answer finds the room of their job free.
    fn run(self: Box<Self>, done: &dyn Fn());
}

struct Task<T, F> {
    work: F,
    answer: oneshot::Sender<T>,
}

impl<T: Send, F: FnOnce() -> T + Send> Job for Task<T, F> {
    fn is_abandoned(&self) -> bool {
        self.answer.is_closed()
    }

    fn run(self: Box<Self>, done: &dyn Fn()) {
        let Self { work, answer } = *self;
        // A panic has been reported by its hook, and the caller finds that no answer comes.
        let result = catch_unwind(AssertUnwindSafe(work));
        done();
        if let Ok(result) = result {
            // The caller may have gone away meanwhile.
            let _unheard = answer.send(result);
        }
    }
}

impl Pool {
    /// At most `parallel` (at least 1) jobs run and `waiting` more wait.
    pub(super) fn new(name: &'static str, parallel: usize, waiting: usize) -> Self {
        Self { name, shared: Arc::default(), parallel, waiting }
    }

    /// Takes the job in, or refuses it with `None` when as many wait as may. The receiver fails when the job
    /// panicked; dropping it while the job waits takes the job out.
    pub(super) fn submit<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<oneshot::Receiver<T>> {
        let mut state = self.shared.lock();
        if self.is_full(&state) {
            state.jobs.retain(|job| !job.is_abandoned());
            if self.is_full(&state) {
                return None;
            }
        }
        let needs_thread = state.running + state.jobs.len() >= state.threads && state.threads < self.parallel;
        if needs_thread && start_thread(self.name, &self.shared) {
            state.threads += 1;
        }
        if state.threads == 0 {
            return None;
        }
        let (answer, result) = oneshot::channel();
        state.jobs.push_back(Box::new(Task { work, answer }));
        drop(state);
        self.shared.changed.notify_one();
        Some(result)
    }

    fn is_full(&self, state: &State) -> bool {
        state.running + state.jobs.len() >= self.parallel.saturating_add(self.waiting)
    }
}

impl Drop for Pool {
    /// The threads end after their present jobs. Nobody waits for the queued ones: their callers borrow the hasher.
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.jobs.clear();
        drop(state);
        self.shared.changed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it holds the lock; and the state would be whole if something did.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of a thread.
    fn work(&self) {
        flowsdk_core::aside::give_way();
        let mut state = self.lock();
        while !state.closed {
            let Some(job) = state.jobs.pop_front() else {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            if job.is_abandoned() {
                continue;
            }
            state.running += 1;
            drop(state);
            job.run(&|| self.lock().running -= 1);
            state = self.lock();
        }
    }
}

/// Returns whether the system gave a thread.
fn start_thread(name: &str, shared: &Arc<Shared>) -> bool {
    let shared = Arc::clone(shared);
    let started = thread::Builder::new().name(name.to_owned()).spawn(move || shared.work());
    if let Err(error) = &started {
        tracing::warn!(%error, name, "no thread");
    }
    started.is_ok()
}

#[cfg(test)]
mod tests;
