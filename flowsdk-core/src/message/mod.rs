//! Messages: their content, in both directions, and their delivery (spec A 2.5, 3.1).

mod content;
mod incoming;
mod model;
mod repository;
mod status;

pub use content::{
    ButtonAction, ButtonReply, ContentMessage, Header, Interactive, ListAction, ListRow, ListSection,
    MAX_BUTTONS, MAX_ROWS, Media, ReplyButton, TemplateLocale, TemplateMessage, Text, TextBody,
};
pub use incoming::{
    FormReply, IncomingContent, IncomingInteractive, IncomingMedia, IncomingMessage, Known, Reply,
};
pub use model::{Direction, Message, NewMessage, Page, Sender, SenderKind, Source};
pub use repository::{HasMessages, HistoryQuery, Inserted, MessageRepository, ParkedStatus, StatusWrite};
pub(crate) use status::later;
pub use status::{MessageStatus, StatusError, advance};
