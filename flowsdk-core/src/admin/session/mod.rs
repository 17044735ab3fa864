//! Reading, redirecting, resuming and ending sessions.

mod error;
mod names;
mod outcome;
mod redirect;
mod retention;
mod service;

pub use error::SessionError;
pub use names::{Named, SessionState};
pub use outcome::{Ending, Obstacle, Outcome};
pub use redirect::{RedirectTo, Redirected};
pub use retention::TraceRetention;
pub use service::{HistoryItem, HistoryPage, Sessions, TracePage, Unfreeze};
