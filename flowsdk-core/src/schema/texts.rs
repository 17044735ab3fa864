//! Schemas of texts that have no type of their own, for `#[schema(value_type = ..)]` of a field.

use std::sync::Arc;

use utoipa::ToSchema;

use crate::id::Id;

/// Identifier of any kind, where a field holds one of several: of a flow or a block, of a user or an API client.
#[derive(Debug, Id)]
pub struct AnyId(Arc<str>);

/// An address of the web.
#[derive(Debug, ToSchema)]
#[schema(pattern = r"^https?://[^\s]+$", max_length = 2_048, examples("https://example.com/logo.png"))]
pub struct WebAddress(pub String);

/// An https address. Without user, query and fragment.
#[derive(Debug, ToSchema)]
#[schema(
    pattern = r"^https://[^\s/?#@\\]+(/[^\s?#\\]*)?$",
    max_length = 2_048,
    examples("https://api.example.com/v1")
)]
pub struct SecureAddress(pub String);

/// The origin of a page, as browsers write it.
#[derive(Debug, ToSchema)]
#[schema(pattern = r"^https?://[^/\s]+$", max_length = 300, examples("https://shop.example.com"))]
pub struct Origin(pub String);
