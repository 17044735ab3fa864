//! The turn of an agent: what the model is told, and how it goes on after each of its answers. Everything here is a function
//! of its arguments; whoever runs a turn asks the model and acts.

mod course;
mod input;
mod instructions;

pub use course::{Act, Course, Effect, Ending, Judgement, MAX_ITERATIONS, NUDGE, Next, SENT};
pub use input::{Heard, MAX_MEDIA, MediaFault, Part, UNSEEN, Unheard, first_input, hear, seen, transcribed};
pub use instructions::{Colleague, Instructions, known_values};
