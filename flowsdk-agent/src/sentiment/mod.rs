//! How a contact feels, judged when somebody asks (spec B 4.9). [`crate::tool::NativeTool::UpdateSentiment`] judges it in each
//! turn of an agent.
//!
//! A router asks for it by its `sentimentConfig`. No transaction is open while the model is asked.

mod error;
mod judge;
mod settings;

pub use error::JudgeError;
pub use judge::{SentimentJudge, Subject};
pub use settings::OnDemandSettings;
