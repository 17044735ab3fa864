//! Notes: what agents write to each other about a conversation. Contacts never see them.

mod model;
mod repository;
mod service;

pub use model::{NewNote, Note, NoteId, NoteView};
pub use repository::{HasNotes, NoteRepository};
pub use service::Notes;
