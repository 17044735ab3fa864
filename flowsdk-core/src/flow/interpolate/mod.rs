//! Interpolation: `{{token}}` in the texts of a flow (spec A 9).
//!
//! A text is parsed once, when its flow is compiled; a turn only walks segments. A value that is inserted is never
//! looked at again, so a text of a contact cannot read a variable.

mod as_written;
mod parse;
mod path;
mod session_state;
mod template;
mod token;
mod value;
mod view;

pub(crate) use as_written::AsWritten;
pub(crate) use path::{Path, at_path};
pub(crate) use template::{MAX_RENDERED, Template};
pub(crate) use token::Token;
pub(crate) use value::{ValueTemplate, size_of};
pub(crate) use view::{Here, Names, View, write_value};

#[cfg(test)]
mod tests;
