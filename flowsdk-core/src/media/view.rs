//! The public form of a file.

use serde::Serialize;
use serde_json::Value;

use super::{MediaFailure, MediaFile, MediaId, MediaKind, MediaLinks, MediaOrigin, MediaStatus};
use crate::change::{Entity, EntityKind, Recorded, public_json};
use crate::id::{MessageId, RouterId};
use crate::page::Cursor;
use crate::schema::SchemaAttributes;
use crate::time::{IsoTime, Timestamp};

/// A file with a link to its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownMedia {
    /// The file.
    pub file: MediaFile,
    /// The link and when it ends, while the content is here.
    pub link: Option<(String, Timestamp)>,
}

impl ShownMedia {
    /// Makes the link of a file.
    pub fn of(file: MediaFile, links: &MediaLinks) -> Self {
        let router = file.router_id.as_ref().filter(|_| file.is_there());
        let link = router.map(|router| (links.shown(router, &file.id), links.expiry()));
        Self { file, link }
    }
}

/// A file of conversations.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = Media)]
pub struct MediaView {
    /// Its id, by which flows and messages name it.
    pub id: MediaId,
    /// Null once its router is deleted.
    #[schema(required = true)]
    router_id: Option<RouterId>,
    /// The message that brought it; null of one that is to be sent.
    #[schema(required = true)]
    message_id: Option<MessageId>,
    origin: MediaOrigin,
    kind: MediaKind,
    #[schema(required = true, example = "image/jpeg")]
    mime_type: Option<String>,
    #[schema(required = true, example = "receipt.jpg")]
    filename: Option<String>,
    /// In bytes.
    #[schema(required = true, example = 48_213)]
    size: Option<u64>,
    /// In hexadecimal digits.
    #[schema(required = true)]
    sha256: Option<String>,
    /// Whether its content is here.
    status: MediaStatus,
    /// Why its content could not be fetched.
    #[schema(required = true)]
    failure: Option<MediaFailure>,
    /// How often it was tried to fetch its content.
    attempts: u32,
    /// A link to its content, which needs no login; null while the content is not here. It is a path below the address of
    /// this server, unless `PUBLIC_URL` is set.
    #[schema(
        required = true,
        example = "/media/cmi7w0q2p00000qx1b3k9z5ra/content?expires=1795089600&signature=5f.."
    )]
    link: Option<String>,
    /// When the link ends. A later answer has another one.
    #[schema(required = true)]
    link_expires_at: Option<IsoTime>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl From<ShownMedia> for MediaView {
    fn from(ShownMedia { file, link }: ShownMedia) -> Self {
        let (link, ends_at) = link.unzip();
        Self {
            id: file.id,
            router_id: file.router_id,
            message_id: file.message_id,
            origin: file.origin,
            kind: file.kind,
            mime_type: file.mime_type,
            filename: file.filename,
            size: file.size,
            sha256: file.sha256,
            status: file.status,
            failure: file.failure,
            attempts: file.attempts,
            link,
            link_expires_at: ends_at.map(IsoTime::from),
            created_at: file.created_at.into(),
            updated_at: file.updated_at.into(),
        }
    }
}

impl Recorded for MediaFile {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::Media, id: self.id.as_str(), router_id: self.router_id.as_ref() }
    }

    fn to_json(&self) -> Value {
        public_json(&MediaView::from(ShownMedia { file: self.clone(), link: None }))
    }
}

impl MediaFile {
    /// Returns its place in lists.
    pub fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}
