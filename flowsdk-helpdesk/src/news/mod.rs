//! News: what desks are told, numbered for each user, and kept for a while so that a desk that was away misses nothing
//! (spec B 4.8).

mod model;
mod repository;
mod service;

pub use model::{
    DeskEvent, DeskEventKind, KEPT_FOR, News, NoteNews, SentimentNews, ServiceLevelNews, StatusNews,
    TicketMessageStatus, TicketMessages, TicketNews, TicketTransferred,
};
pub use repository::{HasNews, NewsRepository, NewsRow};
pub use service::{DeskNews, Missed, WaitingInQueue};
