//! Ctrl-C and its kin become a fact to look at instead of a sudden end, so that services are stopped first.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

static LAST: AtomicI32 = AtomicI32::new(0);
static COUNT: AtomicUsize = AtomicUsize::new(0);

/// Takes over SIGINT, SIGTERM and SIGHUP for the rest of the process's life.
pub(crate) fn watch() -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot watch for signals")?;
    thread::Builder::new()
        .name("signals".into())
        .spawn(move || {
            for signal in signals.forever() {
                LAST.store(signal, Ordering::SeqCst);
                COUNT.fetch_add(1, Ordering::SeqCst);
            }
        })
        .context("cannot watch for signals")?;
    Ok(())
}

/// How many signals arrived so far; a second one means "now".
pub(crate) fn count() -> usize {
    COUNT.load(Ordering::SeqCst)
}

/// The signal that arrived last.
pub(crate) fn last() -> Option<Signal> {
    match LAST.load(Ordering::SeqCst) {
        SIGINT => Some(Signal::INT),
        SIGTERM => Some(Signal::TERM),
        SIGHUP => Some(Signal::HUP),
        _ => None,
    }
}

/// The exit code of an interrupted run, as shells count it.
pub(crate) fn exit_code() -> Option<u8> {
    last().map(|signal| 128 + signal.as_raw() as u8)
}

/// An error once a signal has arrived.
pub(crate) fn check() -> Result<()> {
    if count() > 0 {
        bail!("interrupted");
    }
    Ok(())
}
