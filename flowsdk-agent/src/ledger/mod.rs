//! The ledger: each turn of an agent with what the model was told, what it answered, and what came of each call.
//!
//! A turn is written before the model is asked, and again with each answer and with what its calls have done. Whoever
//! finds a turn that runs after a crash goes on with what is written.

mod error;
mod model;
mod repository;
mod service;
mod view;

pub use error::AgentTurnError;
pub use model::{AgentTurn, AgentTurnFilter, AgentTurnId, ModelAnswered, PastTurn, TurnDigest};
pub use repository::{AgentTurnRepository, HasAgentTurns};
pub use service::AgentTurns;
pub use view::{AgentTurnSummary, AgentTurnView, AnswerView};
