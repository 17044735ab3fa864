//! Login, refresh and logout (spec A 4.1).

mod credentials;
mod error;
mod refresh;
mod service;
mod settings;

pub(crate) use error::RATE_LIMITED;
pub use error::{LoginError, RefreshError};
pub use service::{LoggedIn, Logins};
pub use settings::{LoginLimits, LoginSettings, Rotation};
