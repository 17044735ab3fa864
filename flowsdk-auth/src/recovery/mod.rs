//! Password recovery by a code sent to the user's phone (spec A 4.1 rules 5 and 6).

mod code;
mod error;
mod model;
mod repository;
mod sender;
mod service;
mod tries;

pub use error::RecoveryError;
pub use model::PasswordRecovery;
pub use repository::{HasPasswordRecoveries, PasswordRecoveryRepository};
pub use sender::RecoverySender;
pub use service::Recoveries;
