//! Messages: their content, in both directions, and their delivery (spec A 2.5, 3.1).

mod capability;
mod content;
mod flaw;
mod incoming;
mod media_kind;
mod model;
mod repository;
mod status;

pub use capability::{Capabilities, ContentKind, Limits};
pub use content::{
    ButtonAction, ButtonReply, CardAddress, CardEmail, CardName, CardOrganisation, CardPhone, CardUrl,
    Carousel, CarouselButton, CarouselCard, ContactCard, ContentMessage, FileSource, FormAction, FormMode,
    FormOpening, FormParameters, FormPayload, Frame, Header, HeaderFile, Interactive, LinkAction,
    LinkParameters, ListAction, ListRow, ListSection, Location, Media, QuickReplies, QuickReply, Reaction,
    ReplyButton, TemplateLocale, TemplateMessage, Text, TextBody,
};
pub use flaw::{AsSent, Flaw, FlawKind, Reading};
pub use incoming::{
    FormReply, IncomingContent, IncomingInteractive, IncomingMedia, IncomingMessage, Known, Reply,
};
pub use media_kind::{FileLimits, MediaKind};
pub use model::{Direction, Message, NewMessage, Page, Sender, SenderKind, Source};
pub use repository::{
    HasMessages, HistoryQuery, Inserted, MessageRepository, ParkedStatus, StatusReached, StatusWrite,
};
pub(crate) use status::later;
pub use status::{MessageStatus, StatusError, WINDOW_CODES, advance};
