//! `POST /knowledge-documents/files`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_agent::knowledge::{Document, NewFile};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use flowsdk_core::name::Name;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use super::COLLECTION;
use super::file::SentFile;
use crate::api::error::{ApiError, Problems};
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Replayed, of_caller, stored};
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Created;
use crate::api::state::Knowledge;
use crate::api::upload::Filename;

/// Most characters of a name.
const LONGEST_NAME: usize = 200;
/// Most tags.
const MOST_TAGS: usize = 20;

/// What the document is.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct FileParams {
    /// The router whose agents know it.
    router_id: RouterId,
    /// The name of the file. Its ending tells what it is, if `Content-Type` does not.
    #[param(max_length = 255, example = "menu.pdf")]
    filename: Option<String>,
    /// The name of the document; without one, that of the file.
    #[param(min_length = 1, max_length = 200, example = "Menu")]
    name: Option<String>,
    /// Its tags, with commas between. Agents with `ragTags` search documents with one of them.
    #[param(example = "menu,prices")]
    tags: Option<String>,
}

/// The parameters as they are read.
pub(super) struct Uploaded {
    router_id: Option<RouterId>,
    filename: Filename,
    name: Option<Name>,
    tags: Vec<String>,
}

fn no_name() -> Text {
    Text::of(
        format!("De 1 a {LONGEST_NAME} caracteres, aqui ou em filename"),
        format!("1 to {LONGEST_NAME} characters, here or in filename"),
    )
}

impl FromQuery for Uploaded {
    fn read(query: &mut QueryReader) -> Self {
        let router_id = query.required_id("routerId", RouterId::parse);
        let filename = Filename::read(query);
        let name = query.text("name").or_else(|| {
            let filename = filename.0.as_ref()?;
            Some(filename.chars().take(LONGEST_NAME).collect())
        });
        let name = name.and_then(|name| {
            let parsed = Name::parse(name).ok();
            if parsed.is_none() {
                query.problem("name", no_name());
            }
            parsed
        });
        let tags = query.text("tags").unwrap_or_default();
        let tags: Vec<String> =
            tags.split(',').map(str::trim).filter(|tag| !tag.is_empty()).map(str::to_owned).collect();
        if tags.len() > MOST_TAGS {
            let must = Text::of(format!("No máximo {MOST_TAGS}"), format!("At most {MOST_TAGS}"));
            query.problem("tags", must);
        }
        Self { router_id, filename, name, tags }
    }
}

/// Create a document of a file
///
/// The body is the file: PDF of at most 20 MiB, text or Markdown of at most 5 MiB, HTML of at most 1 MiB. It is read, cut into
/// passages and embedded after the answer; `status` tells how far it is. Texts are in the `charset` of `Content-Type`, or in UTF-8.
#[utoipa::path(
    post, path = "/knowledge-documents/files", tag = "knowledge",
    params(FileParams, IdempotencyParams),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The file"),
    responses(
        (status = 201, description = "The document", body = Document),
        (status = 409, description = "`idempotency_conflict`"),
        (status = 413, description = "`payload_too_large`: more than 20 MiB"),
        (status = 422, description = "`router_unknown`; `knowledge_full`: the router has 1000 documents; `knowledge_empty`; \
            `knowledge_too_large`; `knowledge_type_refused`: neither text, Markdown, HTML nor PDF; `knowledge_type_mismatch`: \
            not what its name or `Content-Type` says; `knowledge_charset`"),
    )
)]
pub(super) async fn upload_knowledge_document(
    can: Can<marks::Flows, marks::Write>,
    State(knowledge): State<Arc<Knowledge>>,
    Query(uploaded): Query<Uploaded>,
    mut file: SentFile,
) -> Result<Response, ApiError> {
    let Uploaded { router_id: Some(router_id), filename, name, tags } = uploaded else {
        return Err(ApiError::internal());
    };
    let _place = file.place.take();
    let router_id = can.admit(router_id)?.into_inner();
    let name = name.ok_or_else(|| ApiError::invalid(Problems::one("name", no_name())))?;
    let content = file.content(filename).await?;
    let new = can.admit(NewFile { router_id, name, tags, content })?;
    let once = of_caller(file.keyed, &can.caller)
        .map(|request| Once { request, answer: |made: &Document| stored(made) });
    Ok(match knowledge.upload(&can.caller.author(), new, once).await? {
        Outcome::Done(body) => {
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
