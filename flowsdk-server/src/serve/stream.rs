//! The byte stream of a connection.

use std::any::Any;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Sleep;

/// Ends the connection that a request came by, also after an upgrade.
#[derive(Debug, Clone, Default)]
pub struct HangUp(Arc<Line>);

#[derive(Debug, Default)]
struct Line {
    over: AtomicBool,
    upgraded: AtomicBool,
    reader: AtomicWaker,
    /// Dropped at the end.
    kept: Mutex<Option<Box<dyn Any + Send>>>,
}

impl HangUp {
    /// Lets the reader of the connection see its end.
    pub fn hang_up(&self) {
        self.0.over.store(true, Ordering::Release);
        self.0.reader.wake();
    }

    /// Returns whether the connection is gone, or about to go.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.over.load(Ordering::Acquire)
    }

    /// Keeps `one` until the connection has ended, in the place of another that was kept before.
    pub(crate) fn keep(&self, one: impl Any + Send) {
        let mut kept = self.0.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let before = kept.take();
        if !self.has_ended() {
            *kept = Some(Box::new(one));
        }
        drop(kept);
        drop(before);
    }

    /// Notes that HTTP is done with the connection, which goes on if it is another protocol's now.
    pub(super) fn leaves_http(&self) {
        self.0.upgraded.store(true, Ordering::Release);
    }

    fn is_over(&self, cx: &Context<'_>) -> bool {
        self.0.reader.register(cx.waker());
        self.0.over.load(Ordering::Acquire)
    }
}

/// The connections of a server.
#[derive(Debug, Default)]
pub(super) struct Lines {
    all: Vec<HangUp>,
    /// At so many, those that have ended are looked for.
    sweep_at: usize,
}

/// Fewest connections that are worth a sweep.
const SWEEP_AT_LEAST: usize = 64;

impl Lines {
    pub(super) fn add(&mut self, line: HangUp) {
        if self.all.len() >= self.sweep_at {
            self.all.retain(|line| !line.has_ended());
            self.sweep_at = (2 * self.all.len()).max(SWEEP_AT_LEAST);
        }
        self.all.push(line);
    }

    /// Ends the connections that HTTP is done with.
    pub(super) fn hang_up_upgraded(&self) {
        let upgraded = self.all.iter().filter(|line| line.0.upgraded.load(Ordering::Acquire));
        upgraded.for_each(HangUp::hang_up);
    }
}

/// A stream that holds its connection slot for as long as it lives, also after an upgrade.
pub(super) struct Slotted {
    io: TokioIo<TcpStream>,
    hang_up: HangUp,
    writes: Stall,
    _slot: OwnedSemaphorePermit,
}

impl Slotted {
    pub(super) fn new(stream: TcpStream, slot: OwnedSemaphorePermit, write_timeout: Duration) -> Self {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY not set");
        }
        let (hang_up, writes) = (HangUp::default(), Stall { timeout: write_timeout, timer: None });
        Self { io: TokioIo::new(stream), hang_up, writes, _slot: slot }
    }

    /// The other end of [`HangUp::hang_up`].
    pub(super) fn hang_up(&self) -> HangUp {
        self.hang_up.clone()
    }
}

/// Ends what makes no progress for too long.
struct Stall {
    timeout: Duration,
    /// Runs while there is none.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stall {
    fn watch<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let timeout = self.timeout;
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(timeout)));
        ready!(timer.as_mut().poll(cx));
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, "the client takes no more of its answer")))
    }
}

impl Drop for Slotted {
    fn drop(&mut self) {
        self.hang_up.0.over.store(true, Ordering::Release);
        let kept = self.hang_up.0.kept.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(kept);
    }
}

impl hyper::rt::Read for Slotted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: hyper::rt::ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        if self.hang_up.is_over(cx) {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.io).poll_read(cx, buf)
    }
}

impl hyper::rt::Write for Slotted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write(cx, buf);
        self.writes.watch(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.io.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.io).poll_write_vectored(cx, bufs);
        self.writes.watch(cx, written)
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_ends_when_nothing_moves_for_too_long_and_only_then() {
        let mut stall = Stall { timeout: Duration::from_secs(30), timer: None };
        let mut stuck = async |for_seconds| {
            let mut write = poll_fn(|cx| stall.watch::<usize>(cx, Poll::Pending));
            tokio::time::timeout(Duration::from_secs(for_seconds), &mut write).await.is_ok()
        };
        assert!(!stuck(29).await);
        assert!(stuck(2).await, "the time counts from the first write that got nowhere");
        let mut stall = Stall { timeout: Duration::from_secs(30), timer: None };
        for _ in 0..3 {
            let mut waits = poll_fn(|cx| stall.watch::<usize>(cx, Poll::Pending));
            assert!(tokio::time::timeout(Duration::from_secs(29), &mut waits).await.is_err());
            let moves = poll_fn(|cx| stall.watch(cx, Poll::Ready(Ok(1)))).now_or_never();
            assert!(matches!(moves, Some(Ok(1))), "it begins anew");
        }
    }
}
