//! The priority of a worker: that of the server for short scripts, a lower one for the rest of a long script.

use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use flowsdk_core::aside;
use rustix::time::{ClockId, clock_gettime};

/// The processor time for which a script keeps the priority of the server: about that of the turn around it. Longer
/// ones give way to the conversations of others, which need their server now.
const PROMPT: Duration = Duration::from_millis(10);
/// The thread that watches needs little.
const STACK: usize = 64 * 1024;

/// Watches the processor time of scripts from a thread of its own, because QuickJS cannot be interrupted everywhere.
pub(super) struct Watch {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    /// The processor time of the process when the script that runs now began.
    began: Mutex<Option<Duration>>,
    changed: Condvar,
}

impl Watch {
    /// Watches the calling thread, which has to be the first one of its process.
    ///
    /// # Errors
    /// The system gave no thread.
    pub(super) fn start() -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let watching = Arc::clone(&shared);
        thread::Builder::new().name("watch".to_owned()).stack_size(STACK).spawn(move || watching.watch())?;
        Ok(Self { shared })
    }

    /// Runs a script.
    pub(super) fn while_running<T>(&self, script: impl FnOnce() -> T) -> T {
        *self.shared.lock() = Some(processor_time());
        self.shared.changed.notify_one();
        let result = script();
        *self.shared.lock() = None;
        result
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Option<Duration>> {
        // Nothing panics while it holds the lock.
        self.began.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns after it has lowered the priority, which cannot be raised again.
    fn watch(&self) {
        let mut began = self.lock();
        loop {
            let wait = match *began {
                None => Duration::MAX,
                Some(began) => {
                    let used = processor_time().saturating_sub(began);
                    if used >= PROMPT {
                        return aside::first_thread_gives_way();
                    }
                    PROMPT - used
                }
            };
            began = self.changed.wait_timeout(began, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Returns the processor time of this process so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}
