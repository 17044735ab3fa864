//! An attack that goes on beside the work of others.

use std::sync::Arc;
use std::thread;

use anyhow::Result;
use tokio::sync::Notify;

/// The lowest priority of Linux.
const LAST: i32 = 19;

/// Attacks that go on until they are ended.
pub(crate) struct Attack {
    end: Arc<Notify>,
    thread: thread::JoinHandle<()>,
}

impl Attack {
    /// Carries out `work` on a thread of its own.
    pub(crate) fn start<F>(work: impl FnOnce() -> F + Send + 'static) -> Result<Self>
    where
        F: Future<Output = ()>,
    {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let end = Arc::new(Notify::new());
        let ended = Arc::clone(&end);
        let thread = thread::Builder::new().name("attack".to_owned()).spawn(move || {
            // Real attackers are on other machines: their work costs neither the server nor the visitors a processor.
            // That it fails costs the server some of its time, which is no fault of a trial.
            let _lowered = rustix::process::setpriority_process(None, LAST);
            let local = tokio::task::LocalSet::new();
            local.block_on(&runtime, async move {
                tokio::select! {
                    () = work() => {}
                    () = ended.notified() => {}
                }
            });
        })?;
        Ok(Self { end, thread })
    }

    /// Ends it, and waits until it has ended.
    pub(crate) fn end(self) {
        self.end.notify_one();
        let _panicked = self.thread.join();
    }
}
