//! The desk socket (spec B 4.8): what agents are told, and what they do.
//!
//! News are rows that the transactions of the helpdesk write, numbered for each user. Every process looks for those of
//! the agents who are connected to it, so it does not matter which process caused them, and a desk that comes back gets
//! what it has missed.

mod command;
mod document;
mod hub;
mod payload;
mod socket;
mod watched;

pub(crate) use command::Commands;
pub(crate) use document::describe;
pub(crate) use hub::Hub;
pub(crate) use socket::{DeskSocket, SOCKET_PATH};
