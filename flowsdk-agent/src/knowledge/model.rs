//! The document. Nothing in it is secret, so it is its own public form.

use std::sync::Arc;

use flowsdk_core::cell::Named;
use flowsdk_core::id::{Id, IdSource, RouterId};
use flowsdk_core::name::Name;
use flowsdk_core::record::{RecordChange, RecordFilter, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::text::Text;
use flowsdk_core::time::{IsoTime, Timestamp, as_iso};
use serde::{Deserialize, Serialize, Serializer};

use super::{Content, KnowledgeError, MediaType, WebAddress};

/// Most documents of a router.
pub const MAX_DOCUMENTS: u64 = 1_000;
/// Most characters of a tag.
const LONGEST_TAG: usize = 100;

/// Identifier of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct DocumentId(Arc<str>);

/// How far a document is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum DocumentStatus {
    /// Nobody has read it yet.
    Waiting,
    /// Its address is asked for it.
    Fetching,
    /// It is being read.
    Reading,
    /// Its passages are given their vectors.
    Embedding,
    /// It is found.
    Ready,
    /// It could not be read or embedded.
    Failed,
}

/// A document that the AI agents of a router know.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = KnowledgeDocument, error = KnowledgeError, filter = DocumentFilter, search = name)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = KnowledgeDocument)]
pub struct Document {
    /// The id of the document.
    pub id: DocumentId,
    /// The router whose agents know it. It never changes.
    pub router_id: RouterId,
    /// Its name, which searches show.
    #[schema(example = "Menu")]
    pub name: String,
    /// Its tags. Agents with `ragTags` search documents with one of them.
    pub tags: Vec<String>,
    /// The address that its content is fetched from; null if it has none.
    #[schema(required = true)]
    pub address: Option<WebAddress>,
    /// When its content was fetched.
    #[serde(serialize_with = "as_iso_or_null")]
    #[schema(value_type = Option<IsoTime>, required = true)]
    pub fetched_at: Option<Timestamp>,
    /// What its content is. Of an address it is a page until it has been fetched.
    pub media_type: MediaType,
    /// Bytes of its content; 0 until it has been fetched.
    pub size: u64,
    /// Counts how often it was begun: with each content, and with each retry.
    pub revision: u32,
    /// How far it is.
    pub status: DocumentStatus,
    /// Why it failed; or why it waits, while `status` is `embedding`.
    #[schema(required = true)]
    pub error: Option<String>,
    /// The passages that it has; 0 until it is read.
    pub chunks: u32,
    /// The passages that have a vector.
    pub embedded: u32,
    /// The model of the vectors. A search by another model does not find it, until it is embedded anew.
    #[schema(required = true, example = "text-embedding-3-small")]
    pub embedded_by: Option<String>,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When its name, its tags or its content were last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

fn as_iso_or_null<S: Serializer>(moment: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    moment.map(IsoTime).serialize(serializer)
}

const TOO_LARGE: Text = Text::new(
    "O texto é grande demais: no máximo 5 MiB, ou 1 MiB de HTML",
    "The text is too large: at most 5 MiB, or 1 MiB of HTML",
);
const BLANK: Text = Text::new("Não pode ser vazio", "May not be empty");
const NO_TEXT: Text = Text::new(
    "Um PDF não é texto: envie o arquivo em /knowledge-documents/files",
    "A PDF is no text: upload the file at /knowledge-documents/files",
);

const ONE: Text = Text::new("É preciso um de text e address", "Expected one of text and address");
const SAID_BY_SERVER: Text = Text::new("O servidor do endereço o diz", "The server of the address says it");

/// Checks the tags of a document.
///
/// # Errors
/// [`KnowledgeError::Invalid`]: one is blank or too long.
fn check_tags(tags: &[String]) -> Result<(), KnowledgeError> {
    let unfit = |tag: &String| tag.trim().is_empty() || tag.chars().count() > LONGEST_TAG;
    let must =
        || Text::of(format!("de 1 a {LONGEST_TAG} caracteres"), format!("1 to {LONGEST_TAG} characters"));
    let flaws = tags.iter().enumerate().filter(|(_, tag)| unfit(tag));
    let flaws: Vec<_> = flaws.map(|(at, _)| (format!("tags[{at}]"), must())).collect();
    if flaws.is_empty() { Ok(()) } else { Err(KnowledgeError::Invalid(flaws)) }
}

/// What a document is made of.
#[derive(Debug, Clone)]
pub(super) enum Source {
    /// This content.
    Content(Content),
    /// What stands there.
    Address(WebAddress),
}

/// Returns what a command makes a document of.
///
/// # Errors
/// [`KnowledgeError::Invalid`]: it is blank, too large or no text, or not one of both.
fn source_of(
    media_type: Option<MediaType>,
    text: Option<String>,
    address: Option<WebAddress>,
) -> Result<Source, KnowledgeError> {
    let flaw = |field: &str, text| Err(KnowledgeError::Invalid(vec![(field.to_owned(), text)]));
    match (text, address) {
        (None, Some(_)) if media_type.is_some() => flaw("mediaType", SAID_BY_SERVER),
        (None, Some(address)) => Ok(Source::Address(address)),
        (Some(text), None) => match media_type.unwrap_or(MediaType::Text) {
            MediaType::Pdf => flaw("mediaType", NO_TEXT),
            media_type if text.len() > media_type.most() => flaw("text", TOO_LARGE),
            _ if text.trim().is_empty() => flaw("text", BLANK),
            media_type => Ok(Source::Content(Content::of_text(media_type, text))),
        },
        _ => flaw("text", ONE),
    }
}

/// Which documents are wanted; absent fields let everything through.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DocumentFilter {
    /// Those of this router.
    pub router_id: Option<RouterId>,
    /// Those that are so far.
    pub status: Option<DocumentStatus>,
}

impl Reachable for DocumentFilter {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl RecordFilter for DocumentFilter {
    fn router(&self) -> Option<&RouterId> {
        self.router_id.as_ref()
    }
}

/// A new document.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateKnowledgeDocument)]
pub struct NewDocument {
    /// The router whose agents know it. It cannot be changed later.
    pub router_id: RouterId,
    /// Its name, which searches show.
    #[schema(value_type = String, min_length = 1, max_length = 200, pattern = r"\S", example = "Menu")]
    pub name: Name,
    /// Its tags. Agents with `ragTags` search documents with one of them.
    #[serde(default)]
    #[schema(required = false, max_items = 20)]
    pub tags: Vec<String>,
    /// What `text` is; without it, plain text.
    #[schema(value_type = MediaType, required = false)]
    pub media_type: Option<MediaType>,
    /// Its content, of at most 5 MiB; HTML of at most 1 MiB. Either this or `address` is needed.
    #[schema(value_type = String, required = false, min_length = 1, example = "Tea is 12 reais.")]
    pub text: Option<String>,
    /// Where its content is. It is fetched after the answer: HTML, text, Markdown or PDF.
    #[schema(value_type = WebAddress, required = false)]
    pub address: Option<WebAddress>,
}

impl Reachable for NewDocument {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewDocument {
    /// Checks the rules that its schema cannot express.
    ///
    /// # Errors
    /// [`KnowledgeError::Invalid`].
    pub(super) fn checked(self) -> Result<Draft, KnowledgeError> {
        let Self { router_id, name, tags, media_type, text, address } = self;
        check_tags(&tags)?;
        Ok(Draft { router_id, name, tags, source: source_of(media_type, text, address)? })
    }
}

/// A new document that is made of a file.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// The router whose agents know it.
    pub router_id: RouterId,
    /// Its name, which searches show.
    pub name: Name,
    /// Its tags.
    pub tags: Vec<String>,
    /// What it says.
    pub content: Content,
}

impl Reachable for NewFile {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewFile {
    /// Checks its tags.
    ///
    /// # Errors
    /// [`KnowledgeError::Invalid`].
    pub(super) fn checked(self) -> Result<Draft, KnowledgeError> {
        let Self { router_id, name, tags, content } = self;
        check_tags(&tags)?;
        Ok(Draft { router_id, name, tags, source: Source::Content(content) })
    }
}

/// A new document that fits.
pub(super) struct Draft {
    router_id: RouterId,
    name: Name,
    tags: Vec<String>,
    source: Source,
}

impl Draft {
    /// Returns the document and what it is made of, as created at `now`.
    pub(super) fn into_document(self, ids: &dyn IdSource, now: Timestamp) -> (Document, Source) {
        let Self { router_id, name, tags, source } = self;
        let id = DocumentId::generate(ids);
        let empty = Document::new(id, router_id, name.into(), tags, (MediaType::Html, 0), now);
        (empty.made_of(&source), source)
    }
}

/// The changes to make to a document; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchKnowledgeDocument)]
pub struct DocumentChange {
    /// Its name, which searches show.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S")]
    pub name: Option<Name>,
    /// Its tags. Agents with `ragTags` search documents with one of them.
    #[schema(value_type = Vec<String>, required = false, max_items = 20)]
    pub tags: Option<Vec<String>>,
}

impl RecordChange for DocumentChange {
    type Record = Document;

    fn check(&self) -> Result<(), KnowledgeError> {
        check_tags(self.tags.as_deref().unwrap_or_default())
    }

    fn apply(self, document: Document) -> Document {
        Document {
            name: self.name.map_or(document.name, String::from),
            tags: self.tags.unwrap_or(document.tags),
            ..document
        }
    }
}

/// Another content of a document.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ReplaceKnowledgeContent)]
pub struct NewContent {
    /// What `text` is; without it, plain text.
    #[schema(value_type = MediaType, required = false)]
    pub media_type: Option<MediaType>,
    /// The content, of at most 5 MiB; HTML of at most 1 MiB. Either this or `address` is needed.
    #[schema(value_type = String, required = false, min_length = 1, example = "Tea is 13 reais.")]
    pub text: Option<String>,
    /// Where the content is. It is fetched after the answer: HTML, text, Markdown or PDF.
    #[schema(value_type = WebAddress, required = false)]
    pub address: Option<WebAddress>,
}

impl NewContent {
    /// Checks the rules that its schema cannot express.
    ///
    /// # Errors
    /// [`KnowledgeError::Invalid`].
    pub(super) fn checked(self) -> Result<Source, KnowledgeError> {
        source_of(self.media_type, self.text, self.address)
    }
}

impl Document {
    /// Returns a new document with this content, of which nothing is read yet.
    pub(crate) fn new(
        id: DocumentId,
        router_id: RouterId,
        name: String,
        tags: Vec<String>,
        (media_type, size): (MediaType, usize),
        now: Timestamp,
    ) -> Self {
        Self {
            id,
            router_id,
            name,
            tags,
            address: None,
            fetched_at: None,
            media_type,
            size: size as u64,
            revision: 1,
            status: DocumentStatus::Waiting,
            error: None,
            chunks: 0,
            embedded: 0,
            embedded_by: None,
            created_at: now,
            updated_at: now,
        }
    }

    /// Returns it as made of something else, of which nothing is read yet.
    pub(super) fn replaced(self, source: &Source) -> Self {
        self.begun_anew().made_of(source)
    }

    fn made_of(self, source: &Source) -> Self {
        let of = |address, media_type, size| Self { address, fetched_at: None, media_type, size, ..self };
        match source {
            Source::Content(content) => of(None, content.media_type, content.bytes.len() as u64),
            Source::Address(address) => of(Some(address.clone()), MediaType::Html, 0),
        }
    }

    /// Returns it with the content that its address had at `now`, which nobody has read yet.
    pub(super) fn fetched(self, content: &Content, now: Timestamp) -> Self {
        let size = content.bytes.len() as u64;
        let status = DocumentStatus::Reading;
        Self { fetched_at: Some(now), media_type: content.media_type, size, status, ..self }
    }

    /// Returns it as nobody has read it yet.
    pub(super) fn begun_anew(self) -> Self {
        Self {
            revision: self.revision.saturating_add(1),
            status: DocumentStatus::Waiting,
            error: None,
            chunks: 0,
            embedded: 0,
            embedded_by: None,
            ..self
        }
    }

    /// Returns it as failed, for this reason.
    pub(super) fn failed(self, error: impl Into<String>) -> Self {
        Self { status: DocumentStatus::Failed, error: Some(error.into()), ..self }
    }
}
