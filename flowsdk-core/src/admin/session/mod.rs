//! Reading, redirecting, resuming and ending sessions.

mod error;
mod names;
mod redirect;
mod retention;
mod service;

pub use error::SessionError;
pub use names::{Named, SessionState};
pub use redirect::{RedirectTo, Redirected};
pub use retention::TraceRetention;
pub use service::{Sessions, TracePage, Unfreeze};
