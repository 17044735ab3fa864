//! Commands against a server: a client of the administrative API for authors of flows.
//!
//! - [`SessionFile`]: the login, kept in a file of the user's.
//! - [`Client`]: requests with that login, which renews itself.
//! - [`login`], [`push`], [`pull`], [`watch`]: the commands.

mod api;
mod client;
mod error;
pub mod login;
pub mod pull;
pub mod push;
mod revisions;
mod session;
pub mod watch;

pub use client::Client;
pub use error::{Detail, Refusal, RemoteError};
pub use session::{Session, SessionFile};
