//! Standard input, line by line.

use std::io::{self, BufRead as _};
use std::thread;

use tokio::sync::mpsc;

/// Lines that wait for the desk.
const WAITING: usize = 16;

/// Returns the lines of standard input. A thread of its own reads them: it may wait for a line for ever, which would
/// hold the end of the runtime up, and ends with the process.
pub(super) fn lines() -> io::Result<mpsc::Receiver<String>> {
    let (lines, received) = mpsc::channel(WAITING);
    let read = move || {
        let mut input = io::stdin().lock();
        let mut line = Vec::new();
        while input.read_until(b'\n', &mut line).is_ok_and(|bytes| bytes > 0) {
            let text = String::from_utf8_lossy(&line).into_owned();
            if lines.blocking_send(text).is_err() {
                return;
            }
            line.clear();
        }
    };
    thread::Builder::new().name("keyboard".to_owned()).spawn(read)?;
    Ok(received)
}
