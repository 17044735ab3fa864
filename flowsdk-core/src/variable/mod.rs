//! Static variables of routers and flows (spec A 2.3, 4.4).
//!
//! A turn reads those it may use from storage, so a change counts with the next turn, in every process; and
//! there is no map of clear secrets that could outlive its owner (rulings S9).

mod model;
mod repository;
mod view;

pub use model::{InvalidKey, MAX_KEY_LEN, NewVariable, Variable, VariableChange, VariableKey, VariableValue};
pub use repository::{HasVariables, VariableRepository};
pub use view::VariableView;
