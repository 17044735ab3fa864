//! Why a command against a server fails.

use std::fmt;
use std::io;
use std::path::PathBuf;

use serde::Deserialize;

/// The reason why a command against a server fails.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// Nobody is logged in.
    #[error("not logged in: run `flowsdk-server login URL`")]
    NotLoggedIn,
    /// The server takes the login no more.
    #[error("the login has ended: run `flowsdk-server login {url}`")]
    LoggedOut {
        /// The address of the server.
        url: String,
    },
    /// The address of the server is not one.
    #[error("`{0}` is not the address of a server: expected one such as https://chat.example.com")]
    Address(String),
    /// No answer came.
    #[error("{url} cannot be reached: {}", last_cause(.error))]
    Unreachable {
        /// The address of the server.
        url: String,
        /// The error of the connection.
        error: reqwest::Error,
    },
    /// An answer came that is none of a FlowSDK server.
    #[error("{url} does not answer as a FlowSDK server does (status {status})")]
    Foreign {
        /// The address that was asked.
        url: String,
        /// The status of the answer.
        status: u16,
    },
    /// The server refused the request.
    #[error("the server refuses: {0}")]
    Refused(Refusal),
    /// Nothing has the name or id that was given.
    #[error("there is no {kind} `{name}`")]
    NotFound {
        /// The kind of thing.
        kind: &'static str,
        /// The name or id.
        name: String,
    },
    /// No router that the caller may see has the name or id that was given.
    #[error("there is no router `{name}`; {}", known_routers(.known))]
    NoRouter {
        /// The name or id.
        name: String,
        /// The names of routers that there are, the first of them.
        known: Vec<String>,
    },
    /// No flow that the caller may see has the name or id that was given.
    #[error("there is no flow `{name}`; {}", known_flows(.known))]
    NoFlow {
        /// The name or id.
        name: String,
        /// The names of flows that there are, the first of them.
        known: Vec<String>,
    },
    /// The draft of the server is another one than the file was made of.
    #[error(
        "the draft of flow `{name}` is at revision {now} on the server, and this file {}: see it with `flow pull` \
         and another file, or replace it with --force", .known.map_or_else(|| "was never pulled".to_owned(), |known| format!("was made of revision {known}"))
    )]
    Newer {
        /// The name of the flow.
        name: String,
        /// The revision of which the file was made, if it was pulled or pushed before.
        known: Option<i64>,
        /// The revision of the server.
        now: i64,
    },
    /// Several things have the name that was given.
    #[error("several {kind}s are called `{name}`: name one of them by its id, {}", .ids.join(" or "))]
    Ambiguous {
        /// The kind of thing.
        kind: &'static str,
        /// The name.
        name: String,
        /// Their ids.
        ids: Vec<String>,
    },
    /// A file that the commands keep is not as they wrote it.
    #[error("{} is damaged: {next}", .path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// What to do.
        next: &'static str,
    },
    /// A file cannot be read or written.
    #[error("{}", .path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
}

/// Returns the innermost cause: those around it repeat that there was no connection.
fn last_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn known_routers(names: &[String]) -> String {
    if names.is_empty() {
        return "there is none yet: make one at /docs, with POST /routers".to_owned();
    }
    format!("there is `{}`: POST /routers makes others, see /docs", names.join("`, `"))
}

fn known_flows(names: &[String]) -> String {
    if names.is_empty() {
        return "there is none yet: `flow push` makes one".to_owned();
    }
    format!("there is `{}`", names.join("`, `"))
}

impl RemoteError {
    /// Whether the same command may succeed later: the server, or what it needs, is away.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Foreign { status, .. } => (502..=504).contains(status),
            Self::Refused(refusal) => refusal.code == "unavailable",
            _ => false,
        }
    }
}

/// An error of the API, as the server tells it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Refusal {
    pub code: String,
    pub message: String,
    #[serde(default)]
    pub details: Vec<Detail>,
}

/// A field that the server refuses, and why.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct Detail {
    pub field: String,
    pub message: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)?;
        for detail in &self.details {
            write!(f, "\n  {}: {}", detail.field, detail.message)?;
        }
        Ok(())
    }
}
