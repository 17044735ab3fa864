//! Who looks at a ticket, and who writes an answer: two agents are not to answer the same contact.

mod model;
mod repository;
mod service;

pub use model::{Look, TYPING_LASTS, TicketViewers, VIEW_LIFETIME, Viewer, ViewerView};
pub use repository::{HasViewers, ViewerRepository};
pub use service::Viewers;
