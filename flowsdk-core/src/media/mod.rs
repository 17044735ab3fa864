//! Files of conversations: what contacts send, and what is sent to them.
//!
//! A file is a row, and its content a blob beside the database. The row of a file that a contact sends is written with its
//! message, so no text waits for a file. A job of the channel fetches the content, and the row says how it stands.

mod blob;
mod error;
mod link;
mod model;
mod repository;
mod service;
mod sniff;
mod upkeep;
mod view;

pub use blob::{BlobError, BlobStore, Blobs, Content, StoredBlob, store_blob, whole};
pub use error::MediaError;
pub use link::{LINK_LIFETIME, MediaLinks};
pub use model::{
    MAX_FILENAME, MediaFailure, MediaFile, MediaId, MediaOrigin, MediaStatus, clean_filename, plain_type,
};
pub use repository::{HasMedia, MediaFilter, MediaOutcome, MediaRepository};
pub use service::{MediaFiles, NewMedia, VisitorFile};
pub use sniff::{Claim, Refused, settle_type};
pub use upkeep::MediaUpkeep;
pub use view::{MediaView, ShownMedia};

pub use crate::message::{FileLimits, MediaKind};
