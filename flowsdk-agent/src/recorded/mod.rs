//! What a model was asked and answered, kept in a file, so that a conversation can be had again without the model.

mod recorder;
mod recording;
mod replay;

pub use recorder::Recorder;
pub use recording::{Asked, Exchange, Recording};
pub use replay::Replay;
