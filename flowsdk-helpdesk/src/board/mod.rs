//! What desks show around their tickets: the board of a router, and to whom a ticket can go.

mod error;
mod model;
mod repository;
mod service;

pub use error::BoardError;
pub use model::{
    Board, BoardAgent, BoardCard, BoardColumn, BoardFilter, BoardQueue, TicketCount, TransferTargets,
};
pub use repository::{BoardRepository, HasBoard};
pub use service::Boards;
