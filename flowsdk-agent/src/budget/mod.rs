//! What the models of a router may cost in a month.

mod error;
mod model;
mod repository;
mod service;

pub use error::BudgetError;
pub use model::{Budget, BudgetChange, BudgetId, BudgetInForce, BudgetView, NewBudget};
pub(crate) use repository::is_used_up;
pub use repository::{BudgetRepository, HasBudgets};
pub use service::Budgets;
