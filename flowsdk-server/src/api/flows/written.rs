//! Definitions as their authors send them.

use flowsdk_core::flow::Written;

use crate::api::body::{self, BodyText};
use crate::api::error::ApiError;

/// Returns a definition with the text that it has in its body.
///
/// # Errors
/// The server ends.
pub(super) async fn with_text(definition: Written, body: BodyText) -> Result<Written, ApiError> {
    let size = body.size();
    let read = move || {
        let text = body.member("definition").map(Written::read);
        text.and_then(Result::ok).unwrap_or(definition)
    };
    body::aside(size, read).await
}
