//! Password recovery by a code sent to the user's phone (spec A 4.1 rules 5 and 6).

mod model;
mod repository;

pub use model::PasswordRecovery;
pub use repository::PasswordRecoveryRepository;
