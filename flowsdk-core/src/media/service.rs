//! The use cases of files.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};

use super::sniff::HEAD;
use super::{
    Blobs, Claim, Content, FileLimits, HasMedia, MediaError as Error, MediaFile, MediaFilter, MediaId,
    MediaKind, MediaLinks, MediaOrigin, MediaOutcome, MediaStatus, ShownMedia, clean_filename, settle_type,
    store_blob,
};
use crate::change::{Author, ChangeLog};
use crate::context::OpContext;
use crate::fault::{BoxError, Chain};
use crate::id::RouterId;
use crate::page::{Page, PageRequest};
use crate::router::{Admitted, HasRouters, Reach, Reachable, RouterUnknown, router_gone};
use crate::session::SessionId;
use crate::store::{Store, Transaction as _};

/// A file to be uploaded, so that flows and people can send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMedia {
    /// The router whose conversations it is for.
    pub router_id: RouterId,
    /// What it is to be; its type decides without it.
    pub kind: Option<MediaKind>,
    /// What the client says of it.
    pub claim: Claim,
}

impl Reachable for NewMedia {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

/// A file that a visitor of the web chat uploads, to send it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VisitorFile {
    /// The router of the channel.
    pub router_id: RouterId,
    /// The session of the visitor.
    pub session_id: SessionId,
    /// What the client says of it.
    pub claim: Claim,
    /// The kinds that the channel takes.
    pub kinds: Vec<MediaKind>,
    /// Most bytes that the channel takes.
    pub most: u64,
}

/// Stores files with their contents, shows them and deletes them. A file whose router is out of the caller's reach is as
/// good as none.
#[derive(Debug)]
pub struct MediaFiles<S> {
    store: Arc<S>,
    blobs: Blobs,
    links: Arc<MediaLinks>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> MediaFiles<S>
where
    S::Tx: HasMedia + HasRouters,
{
    /// Creates a service over `store`, which keeps contents in `blobs`.
    pub fn new(
        store: Arc<S>,
        blobs: Blobs,
        links: Arc<MediaLinks>,
        cx: OpContext,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, blobs, links, cx, changes }
    }

    /// Uploads a file that is to be sent.
    ///
    /// # Errors
    /// [`MediaError`](Error): the file is refused, its router is not there, or it cannot be kept.
    pub async fn upload(
        &self,
        author: &Author,
        new: Admitted<NewMedia>,
        content: Content,
    ) -> Result<ShownMedia, Error> {
        let NewMedia { router_id, kind, claim } = new.into_inner();
        let (mime_type, content) = settle(&claim, content).await?;
        let kind = kind.unwrap_or_else(|| MediaKind::of_type(&mime_type, MediaKind::sent));
        let limits = limits_of(kind, MediaKind::sent, &mime_type)?;
        let file = MediaFile {
            mime_type: Some(mime_type),
            filename: claim.filename.as_deref().map(clean_filename),
            ..MediaFile::new(&self.cx, router_id, MediaOrigin::Upload, kind)
        };
        let file = self.keep(file, content, limits.bytes).await?;
        self.changes.created(author, &file);
        Ok(self.shown(file))
    }

    /// Takes a file of a visitor, who sends it in a message afterwards.
    ///
    /// # Errors
    /// [`MediaError`](Error): the file is refused, or it cannot be kept.
    pub async fn receive(&self, new: VisitorFile, content: Content) -> Result<ShownMedia, Error> {
        let VisitorFile { router_id, session_id, claim, kinds, most } = new;
        let (mime_type, content) = settle(&claim, content).await?;
        let kind = MediaKind::of_type(&mime_type, MediaKind::received);
        if !kinds.contains(&kind) {
            return Err(Error::Kind { kind, mime_type });
        }
        let limits = limits_of(kind, MediaKind::received, &mime_type)?;
        let file = MediaFile {
            session_id: Some(session_id),
            mime_type: Some(mime_type),
            filename: claim.filename.as_deref().map(clean_filename),
            ..MediaFile::new(&self.cx, router_id, MediaOrigin::Visitor, kind)
        };
        Ok(self.shown(self.keep(file, content, limits.bytes.min(most)).await?))
    }

    /// Returns a file within the caller's reach.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn get(&self, reach: Reach<'_>, id: &MediaId) -> Result<ShownMedia, Error> {
        let found = self.store.read().await?.media().find(id).await?;
        within(found, reach).map(|file| self.shown(file))
    }

    /// Returns a page of files within reach, newest first.
    ///
    /// # Errors
    /// [`Error::Storage`].
    pub async fn list(
        &self,
        reach: Reach<'_>,
        filter: &Admitted<MediaFilter>,
        page: &PageRequest,
    ) -> Result<Page<ShownMedia>, Error> {
        let Page { items, next } =
            self.store.read().await?.media().list(filter, reach.routers(), page).await?;
        Ok(Page { items: items.into_iter().map(|file| self.shown(file)).collect(), next })
    }

    /// Deletes the content of a file. What is known of the file stays: messages name it.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Blobs`], [`Error::Storage`].
    pub async fn delete(&self, author: &Author, reach: Reach<'_>, id: &MediaId) -> Result<(), Error> {
        let file = within(self.store.read().await?.media().find(id).await?, reach)?;
        // A fetch or an upload that ends now must not count.
        let mut tx = self.store.begin().await?;
        tx.media().note(&[(id.clone(), MediaOutcome::Expired)], self.cx.now()).await?;
        tx.commit().await?;
        self.blobs.delete(id).await.map_err(Error::Blobs)?;
        self.changes.deleted(author, &file);
        Ok(())
    }

    /// Returns the file that a link leads to.
    ///
    /// # Errors
    /// [`Error::Link`], also where there is no such file; [`Error::NotFound`], if its content is not here;
    /// [`Error::Storage`].
    pub async fn follow(&self, id: &MediaId, expires: i64, signature: &str) -> Result<MediaFile, Error> {
        let found = self.store.read().await?.media().find(id).await?;
        let allows = |file: &MediaFile| {
            let router = file.router_id.as_ref();
            router.is_some_and(|router| self.links.allows(router, id, expires, signature))
        };
        let file = found.filter(allows).ok_or(Error::Link)?;
        if !file.is_there() {
            // Whoever has the link cannot help it; the operator can, who deleted the file or whose flow names it still.
            tracing::warn!(media = %id, status = file.status.name(), "a link leads to a file whose content is not here");
            metrics::counter!("flowsdk_media_links_without_content_total").increment(1);
            return Err(Error::NotFound);
        }
        Ok(file)
    }

    /// Returns bytes of the content of a file.
    ///
    /// # Errors
    /// [`Error::NotFound`], if it was deleted meanwhile; [`Error::Blobs`].
    pub async fn content(&self, file: &MediaFile, range: Range<u64>) -> Result<Content, Error> {
        let content = self.blobs.get(&file.id, range).await.map_err(Error::Blobs)?;
        content.ok_or(Error::NotFound)
    }

    fn shown(&self, file: MediaFile) -> ShownMedia {
        ShownMedia::of(file, &self.links)
    }

    /// Stores a file: its row, then its content, and then that the content is there. What a crash leaves is known by its
    /// row.
    async fn keep(&self, mut file: MediaFile, content: Content, most: u64) -> Result<MediaFile, Error> {
        let mut tx = self.store.begin().await?;
        if let Some(router) = &file.router_id {
            tx.routers().find(router).await?.ok_or(RouterUnknown)?;
        }
        let inserted = tx.media().insert_many(std::slice::from_ref(&file)).await;
        inserted.map_err(router_gone::<Error>)?;
        tx.commit().await?;
        let stored = match store_blob(&*self.blobs, &file.id, content, most).await {
            Ok(stored) => stored,
            Err(error) => {
                self.forget(&file.id).await;
                return Err(error.into());
            }
        };
        let mut tx = self.store.begin().await?;
        let outcome = MediaOutcome::Stored(stored.clone());
        let noted = tx.media().note(&[(file.id.clone(), outcome)], self.cx.now()).await?;
        tx.commit().await?;
        if noted.is_empty() {
            self.blobs.delete(&file.id).await.map_err(Error::Blobs)?;
            return Err(Error::NotFound);
        }
        (file.size, file.sha256) = (Some(stored.size), Some(stored.sha256));
        file.status = MediaStatus::Stored;
        Ok(file)
    }

    /// Deletes what there is of a file that was not kept. If this fails, the upkeep does it.
    async fn forget(&self, id: &MediaId) {
        let forgotten = async {
            self.blobs.delete(id).await.map_err(Error::Blobs)?;
            let mut tx = self.store.begin().await?;
            tx.media().delete_many(std::slice::from_ref(id)).await?;
            tx.commit().await.map_err(Error::from)
        };
        if let Err(error) = forgotten.await {
            tracing::debug!(error = %Chain(&error), "a file that was not kept is forgotten later");
        }
    }
}

fn within(found: Option<MediaFile>, reach: Reach<'_>) -> Result<MediaFile, Error> {
    found.filter(|file| reach.contains_record(file.router_id.as_ref())).ok_or(Error::NotFound)
}

/// Returns the limits of a kind, which has files of this type.
fn limits_of(
    kind: MediaKind,
    limits: fn(MediaKind) -> FileLimits,
    mime_type: &str,
) -> Result<FileLimits, Error> {
    let limits = limits(kind);
    if !limits.types.is_empty() && !limits.types.contains(&mime_type) {
        return Err(Error::Kind { kind, mime_type: mime_type.to_owned() });
    }
    Ok(limits)
}

/// Returns the media type of a content, as its first bytes tell it, and all of the content.
async fn settle(claim: &Claim, mut content: Content) -> Result<(String, Content), Error> {
    let (mut head, mut pieces) = (Vec::new(), Vec::new());
    while head.len() < HEAD {
        let Some(piece) = content.next().await else { break };
        let piece = piece.map_err(Error::Incomplete)?;
        head.extend_from_slice(&piece[..piece.len().min(HEAD)]);
        pieces.push(Ok::<Bytes, BoxError>(piece));
    }
    if head.is_empty() {
        return Err(Error::Empty);
    }
    Ok((settle_type(&head, claim)?, stream::iter(pieces).chain(content).boxed()))
}
