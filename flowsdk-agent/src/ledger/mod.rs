//! The ledger: each turn of an agent with what the model was told, what it answered, and what came of each call.
//!
//! A turn is written before the model is asked, and again with each answer and with what its calls have done. Whoever
//! finds a turn that runs after a crash goes on with what is written.

mod model;
mod repository;

pub use model::{AgentTurn, AgentTurnId, ModelAnswered};
pub use repository::{AgentTurnRepository, HasAgentTurns};
