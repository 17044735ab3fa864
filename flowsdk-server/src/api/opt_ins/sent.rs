//! Rows as clients send them: as JSON or as a table.

use axum::extract::{FromRequest, Request};
use flowsdk_core::admin::contact::SentRow;
use flowsdk_core::text::Text;
use http::header;
use serde::Deserialize;
use utoipa::ToSchema;

use super::table;
use crate::api::body::{self, Place};
use crate::api::error::{ApiError, Problems};
use crate::api::idempotency::{Head, Keyed};
use crate::api::state::ApiState;

/// Most rows of an import.
pub(super) const MAX_ROWS: usize = 10_000;
/// Most bytes of an import (rulings H5).
const MAX_BYTES: usize = 32 << 20;

/// A row of an import.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = OptInRow)]
pub(super) struct RowBody {
    /// A contact that is known; without it the number counts.
    #[schema(required = false)]
    contact_id: Option<String>,
    /// As people write it; with country code. A contact that is not known is created.
    #[schema(required = false, example = "+55 11 98765-4321")]
    phone_number: Option<String>,
    /// The name of a contact that is created.
    #[schema(required = false)]
    name: Option<String>,
    /// `accepted` or `revoked`; a row that says neither is refused.
    #[schema(required = false, example = "accepted")]
    status: Option<String>,
    /// ISO 8601, not in the future; now, where nothing is said.
    #[schema(required = false, example = "2026-11-20T10:57:00.000Z")]
    recorded_at: Option<String>,
}

/// Rows to import. As `text/csv` a table with a head of the same names, `status` and `phoneNumber` or `contactId` among them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ImportOptIns)]
pub(super) struct RowsBody {
    #[schema(max_items = 10_000)]
    rows: Vec<RowBody>,
}

impl From<RowBody> for SentRow {
    fn from(row: RowBody) -> Self {
        Self {
            contact_id: row.contact_id.unwrap_or_default(),
            phone_number: row.phone_number.unwrap_or_default(),
            name: row.name.unwrap_or_default(),
            status: row.status.unwrap_or_default(),
            recorded_at: row.recorded_at.unwrap_or_default(),
            line: None,
            has_more_cells: false,
        }
    }
}

/// The rows of a request, which takes effect once, if it has a key.
#[derive(Debug)]
pub(super) struct SentRows {
    pub(super) rows: Vec<SentRow>,
    pub(super) keyed: Keyed,
    /// The place of a large body, held until the work on it is done.
    pub(super) place: Option<Place>,
}

impl FromRequest<ApiState> for SentRows {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let head = Head::of(&request, true)?;
        let (place, request) = state.large_bodies().admit(request, MAX_BYTES).await?;
        if body::is_json(request.headers()) {
            let bytes = body::any_bytes(request, MAX_BYTES).await?;
            let keyed = head.with(&bytes, state).await?;
            let RowsBody { rows } = body::decoded(bytes).await?;
            return Ok(Self { rows: rows.into_iter().map(SentRow::from).collect(), keyed, place });
        }
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        let mut parts = kind.split(';').map(str::trim);
        if parts.next() != Some("text/csv") {
            return Err(body::unsupported(Text::new(
                "O conteúdo deve ser application/json ou text/csv",
                "The content must be application/json or text/csv",
            )));
        }
        let charset = parts.find_map(|part| part.strip_prefix("charset=")).map(|name| name.trim_matches('"'));
        let charset = charset.map(str::to_owned);
        let bytes = body::any_bytes(request, MAX_BYTES).await?;
        let keyed = head.with(&bytes, state).await?;
        let rows = table::read(&bytes, charset.as_deref(), MAX_ROWS);
        rows.map(|rows| Self { rows, keyed, place })
            .map_err(|text| ApiError::invalid(Problems::one("rows", text)))
    }
}
