//! Creating, changing, checking and publishing flows.

mod circle;
mod error;
mod initial;
mod service;
mod surroundings;
mod tx;

pub use error::{FlowError, TOOL_BEGINS_NOTHING};
pub use initial::{InitialFlowError, NoOpening, no_opening, require_initial};
pub(crate) use service::empty_definition;
pub use service::{
    CheckedTest, FlowChange, FlowDetails, Flows, NewFlow, Tested, WhichDefinition, check_test, publish_test,
};
pub use surroundings::{DeskAround, Surroundings};
pub use tx::FlowsTx;
