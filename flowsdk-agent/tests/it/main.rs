//! Model providers over HTTP.

mod recordings;
mod servers;
