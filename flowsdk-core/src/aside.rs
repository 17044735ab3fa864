//! Work that takes a processor for long, on threads where no request and no turn waits for its end (rulings S18).

use std::thread;

use tokio::sync::oneshot;

use crate::fault::StorageError;

/// How far threads stand back that [give way](give_way), in the kernel's unit: 0 is normal, 19 the furthest. At 10 a
/// thread gets about a tenth of a processor that others want the whole of, and all of one that nobody wants. At 19 it
/// gets a seventieth: a request of a second then takes minutes where other programs keep the machine busy.
const NICE: i32 = 10;

/// Does `work` on a thread of its own, which runs on half of the processors, and there little while others want them.
///
/// # Errors
/// [`StorageError::Other`] if it panicked, or if the system gave no thread.
pub async fn aside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StorageError> {
    let (sender, result) = oneshot::channel();
    // A caller that has gone away does not want the result.
    run(Box::new(move || drop(sender.send(work())))).await?;
    result.await.map_err(|panicked| StorageError::Other(Box::new(panicked)))
}

/// Not generic, so that the binary has it once.
async fn run(work: Box<dyn FnOnce() + Send>) -> Result<(), StorageError> {
    // A priority that was lowered cannot be raised again, so the work does not run on a thread of tokio's. One of
    // tokio's waits for it: a runtime does not end, and a paused clock does not go on, in the middle of the work.
    let waited_for = tokio::task::spawn_blocking(|| {
        let thread = thread::Builder::new().name("aside".to_owned()).spawn(|| {
            give_way();
            leave_half(None);
            work();
        })?;
        // One that panicked has sent no result.
        let _panicked = thread.join();
        std::io::Result::Ok(())
    });
    let waited = waited_for.await.map_err(|stopped| StorageError::Other(Box::new(stopped)))?;
    waited.map_err(|no_thread| StorageError::Other(Box::new(no_thread)))
}

/// Lowers the priority of this thread, and that of the threads and processes it starts from now on. Failing that, or on
/// another system than Linux, its work only competes more.
pub fn give_way() {
    lower_priority(None);
}

/// Lowers the priority of the first thread of this process, as [`give_way`] does for the calling one, and leaves half
/// of the processors to others.
pub fn first_thread_gives_way() {
    #[cfg(target_os = "linux")]
    {
        let first = rustix::process::getpid();
        lower_priority(Some(first));
        leave_half(Some(first));
    }
}

/// `None` means the calling thread.
#[cfg(target_os = "linux")]
fn lower_priority(thread: Option<rustix::process::Pid>) {
    // On Linux "a process" is a thread here. One that stands back further already stays there.
    let lowered = rustix::process::getpriority_process(thread).and_then(|nice| {
        if nice < NICE { rustix::process::setpriority_process(thread, NICE) } else { Ok(()) }
    });
    if let Err(error) = lowered {
        tracing::debug!(%error, "long work runs at normal priority");
    }
}

/// Does nothing: only Linux has priorities of threads.
#[cfg(not(target_os = "linux"))]
fn lower_priority(_thread: Option<()>) {}

/// Keeps a thread off the first half of its processors: whoever wakes there waits for nobody, while the kernel lets a
/// thread that runs go on for some milliseconds at any priority. `None` means the calling thread.
#[cfg(target_os = "linux")]
fn leave_half(thread: Option<rustix::process::Pid>) {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    let moved = sched_getaffinity(thread).and_then(|all| {
        let all: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&processor| all.is_set(processor)).collect();
        let left = &all[all.len().div_ceil(2)..];
        if left.is_empty() {
            return Ok(());
        }
        let mut half = CpuSet::new();
        left.iter().for_each(|&processor| half.set(processor));
        sched_setaffinity(thread, &half)
    });
    if let Err(error) = moved {
        tracing::debug!(%error, "long work runs on all processors");
    }
}

/// Does nothing: only Linux is told which processors a thread may have.
#[cfg(not(target_os = "linux"))]
fn leave_half(_thread: Option<()>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn its_thread_gives_way_and_the_caller_does_not() {
        let nice = || rustix::process::getpriority_process(None).expect("a priority");
        let mine = nice();
        assert_eq!(aside(nice).await.expect("done"), NICE);
        assert_eq!(nice(), mine);
        let processors = || rustix::thread::sched_getaffinity(None).expect("processors").count();
        let all = processors();
        assert_eq!(aside(processors).await.expect("done"), (all / 2).max(1));
        assert_eq!(processors(), all);
    }

    #[tokio::test]
    async fn work_that_panics_is_an_error() {
        let panics = aside(|| -> u8 { panic!("on purpose") }).await;
        assert!(matches!(panics, Err(StorageError::Other(_))));
        assert_eq!(aside(|| 1).await.expect("done"), 1);
    }
}
