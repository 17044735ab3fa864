//! Request bodies: read with a limit, parsed strictly, checked against the schema that the document
//! publishes, decoded.

mod large;
mod read;
mod schema;
mod streamed;
mod text;
mod wording;

pub use large::{LargeBodies, Place};
pub(crate) use read::any_bytes;
pub(super) use read::{bytes, is_json, unsupported};
pub(crate) use streamed::StreamedBody;
pub use text::{BodyText, WithText};

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use flowsdk_core::text::Text;
use http::StatusCode;
use serde::de::DeserializeOwned;
use tokio::sync::Semaphore;
use utoipa::ToSchema;

use super::error::{ApiError, Problems};
use crate::strict_json::Refused;

/// Most bytes of a body (rulings H5).
pub const LIMIT: usize = 1 << 20;
/// Most bytes of a body of a caller whom nobody knows yet.
pub const UNKNOWN_CALLER: usize = 16 << 10;

/// A JSON body of at most `MAX` bytes that fits the published schema of `T`.
#[derive(Debug)]
pub struct Body<T, const MAX: usize = LIMIT>(pub T);

impl<S, T, const MAX: usize> FromRequest<S> for Body<T, MAX>
where
    S: Send + Sync,
    T: ToSchema + DeserializeOwned + Send + 'static,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, _state: &S) -> Result<Self, ApiError> {
        decoded(read::bytes(request, MAX).await?).await.map(Self)
    }
}

/// Most bytes of a body that is worked on where it arrives: what takes a few milliseconds at worst.
const SMALL: usize = 32 << 10;

/// Bodies that are worked on elsewhere at once. More of them would only take the processors from everybody else.
static ASIDE: Semaphore = Semaphore::const_new(2);

/// Does `work` on a body of `size` bytes; work on a large one takes a while, in which others must not wait.
pub(super) async fn aside<T: Send + 'static>(
    size: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ApiError> {
    if size <= SMALL {
        return Ok(work());
    }
    // A closed semaphore cannot happen: nobody closes it.
    let _turn = ASIDE.acquire().await;
    Ok(flowsdk_core::aside::aside(work).await?)
}

/// Reads a `T` from JSON of any size.
///
/// # Errors
/// As [`decode`].
pub(super) async fn decoded<T>(bytes: Bytes) -> Result<T, ApiError>
where
    T: ToSchema + DeserializeOwned + Send + 'static,
{
    aside(bytes.len(), move || decode(&bytes)).await?
}

/// Reads a `T` from JSON.
///
/// # Errors
/// 400 with every problem; no value of the body is part of it.
pub(super) fn decode<T: ToSchema + DeserializeOwned + 'static>(bytes: &[u8]) -> Result<T, ApiError> {
    let value = schema::read::<T>(bytes).map_err(refused)?;
    schema::check::<T>(&value).map_err(ApiError::invalid)?;
    // The types check the rules that the schema cannot express. Their own words may show the value.
    serde_path_to_error::deserialize(value).map_err(|error| {
        let field = error.path().to_string();
        let field = if field == "." { String::new() } else { field };
        ApiError::invalid(Problems::one(field, Text::new("Valor inválido", "Invalid value")))
    })
}

/// Tells only the place of bad syntax: the text may be secret.
fn refused(refused: Refused) -> ApiError {
    let error = match refused {
        Refused::Field(field, text) => return ApiError::invalid(Problems::one(field, text)),
        Refused::Syntax(error) => error,
    };
    let (line, column) = (error.line(), error.column());
    let text = Text::of(
        format!("JSON inválido na linha {line}, coluna {column}"),
        format!("Invalid JSON at line {line}, column {column}"),
    );
    ApiError::new(StatusCode::BAD_REQUEST, "validation_failed", text)
}

#[cfg(test)]
mod tests;
