//! Distribution rules: the queue to which a handoff goes, by its variables (spec B 2.4, 4.7).

mod error;
mod model;
mod repository;
mod resolve;
mod service;

pub use error::RuleError;
pub use model::{DistributionRule, NewRule, RuleChange, RuleId};
pub use repository::{HasRules, RuleRepository};
pub use resolve::resolve;
pub use service::DistributionRules;
