//! Tools: what a model may call, and what its calls ask for.

mod command;
mod native;
mod schema;
mod toolset;

pub use command::{Command, Rejection, SentimentNote, read};
pub use native::{NativeTool, ToolKind};
pub use toolset::{FlowTool, ToolSettings, Toolset};
