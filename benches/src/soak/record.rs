//! The records of a soak: messages as visitors wrote and saw them, the tables, and how the processes fared.

use serde::Serialize;

/// A message that a visitor wrote.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) client_message_id: String,
    /// The message ids of its positive acks; one that was repeated has several.
    pub(super) acks: Vec<String>,
    /// The visitor's messages before this one, by number, that were acknowledged when this one was first sent.
    pub(super) settled_before: usize,
}

/// A message that a visitor received. One that came twice is there twice.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Seen {
    pub(super) id: String,
    pub(super) chat: String,
    pub(super) seq: u64,
    pub(super) text: String,
    /// The visitor's connection on which it came, from 1.
    pub(super) connection: u32,
}

/// Who a visitor is to the server.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Identity {
    pub(super) user: String,
    /// Of an anonymous visitor; others come with a token.
    pub(super) key: Option<String>,
}

/// A message as the history over HTTP has it.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Listed {
    pub(super) id: String,
    pub(super) chat: String,
    pub(super) seq: u64,
    pub(super) direction: Direction,
    pub(super) text: String,
}

/// A visitor, from the client's side.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Visitor {
    pub(super) name: String,
    /// The id of the session; `None` when the visitor was never let in.
    pub(super) session: Option<String>,
    pub(super) identity: Option<Identity>,
    pub(super) said: Vec<Said>,
    pub(super) seen: Vec<Seen>,
    /// Answers of the server that the documents rule out, such as a refusal of a good key.
    pub(super) surprises: Vec<String>,
    /// The history at the end, newest first.
    pub(super) history: Option<Vec<Listed>>,
    pub(super) connections: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(super) enum Direction {
    In,
    Out,
}

/// A message as it is stored.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Stored {
    pub(super) id: String,
    pub(super) chat: String,
    pub(super) session: String,
    pub(super) seq: u64,
    pub(super) direction: Direction,
    pub(super) text: String,
}

/// A session as it is stored.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) mode: String,
    /// As JSON.
    pub(super) state: String,
    /// Events that wait for the next turn.
    pub(super) ahead: Option<String>,
    /// When its timer is due, in milliseconds.
    pub(super) wake_at: Option<i64>,
}

/// All that is stored when everything has come to rest.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Database {
    /// By chat, then by `seq`.
    pub(super) messages: Vec<Stored>,
    pub(super) sessions: Vec<Session>,
    /// Frozen sessions, each with its error.
    pub(super) frozen: Vec<String>,
    /// Entries that wait for a resumption.
    pub(super) kept: Vec<String>,
    /// Entries of streams that nobody has handled.
    pub(super) undelivered: Vec<String>,
    pub(super) dead_letters: Vec<String>,
    /// Faults that the database itself finds.
    pub(super) damage: Vec<String>,
    /// The time of the reading, in milliseconds.
    pub(super) read_at: i64,
}

/// A look at a process.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Sample {
    pub(super) server: String,
    /// How long the process has run, in milliseconds.
    pub(super) age: i64,
    pub(super) rss_kib: u64,
    pub(super) files: u64,
    pub(super) threads: u64,
}

/// A line of a server's log, at its level.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct LogLine {
    /// In milliseconds of the true clock; `None` for a line that is no log line, such as a panic.
    pub(super) at: Option<i64>,
    pub(super) level: String,
    pub(super) line: String,
}

/// The time of a fault with its consequences, in milliseconds.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Window {
    pub(super) fault: String,
    pub(super) begin: i64,
    pub(super) end: i64,
}

/// How the processes fared.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Processes {
    pub(super) samples: Vec<Sample>,
    /// After all visitors have left.
    pub(super) at_the_end: Vec<Sample>,
    pub(super) windows: Vec<Window>,
    /// Warnings and errors, and lines that are no log lines.
    pub(super) log: Vec<LogLine>,
    pub(super) log_lines: u64,
    pub(super) log_bytes: u64,
    pub(super) wal_peak_bytes: u64,
    /// Processes that ended by themselves, or not as they were told.
    pub(super) ends: Vec<String>,
}
