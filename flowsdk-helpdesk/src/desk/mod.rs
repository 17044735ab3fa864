//! What people do with tickets. HTTP and sockets run the same use cases (rulings D6).

mod assignment;
mod command;
mod content;
mod sentiment;
mod service;
mod settings;
pub(crate) mod steps;
pub(crate) mod survey;
mod sweep;
mod waiting;

pub use command::{CloseTicket, GoOnAt, ReplyToContact, TagTicket, TransferTicket};
pub use service::{By, Desk, DeskTx, Replied};
pub use sweep::DeskSweep;
pub use waiting::WaitingNotices;
