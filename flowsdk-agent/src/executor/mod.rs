//! The executor: it works the inbox off, asks models, and acts on what they answer (spec B 4.9).
//!
//! One runs at a time, under a lease, and has the turns of all sessions under way, one a session. No transaction is open
//! while a model or a tool is waited for. What an answer does is in one commit: messages, variables, handoffs, results of calls
//! and the answer itself. Sessions that have something to write at the same time share it. A commit first looks whether a
//! session is still the agent's (rulings S14).

mod acting;
mod asking;
mod budgets;
mod equipping;
mod figures;
mod groups;
mod handing_on;
mod hearing;
mod media;
mod models;
mod opening;
mod run;
mod saving;
mod seeing;
mod serving;
mod spans;
mod ticket;
mod tx;
mod under_way;
mod writing;

pub use media::{Media, ReadableFile};
pub use models::{Models, OneModel};
pub use run::{Executor, Settings};
pub use tx::ExecutorTx;
pub use under_way::Served;
