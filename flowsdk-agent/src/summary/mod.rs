//! Summaries of tickets and chats that were closed, for those who read on: the consumer of `stream:summary` (spec B 6).
//!
//! A router asks for them by its `copilotConfig`. No transaction is open while the model is asked.

mod repository;
mod settings;
mod summarizer;
mod transcript;
mod tx;

pub use repository::{HasSummaries, SummaryRepository, SummarySubject};
pub use settings::SummarySettings;
pub use summarizer::{SUMMARY_GROUP, Summarizer, SummaryError};
pub use transcript::Transcript;
pub use tx::TranscriptTx;
