//! `GET /llm-credentials`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::credential::LlmCredentialView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::LlmCredentials;

/// List credentials of model providers
#[utoipa::path(
    get, path = "/llm-credentials", tag = "llm-credentials",
    params(PageParams, NameParams),
    responses((status = 200, description = "A page of credentials", body = PageView<LlmCredentialView>))
)]
pub(super) async fn list_llm_credentials(
    _can: Can<marks::Settings, marks::Read>,
    State(credentials): State<Arc<LlmCredentials>>,
    Query((page, Named(query))): Query<(PageRequest, Named)>,
) -> Result<Reply<PageView<LlmCredentialView>>, ApiError> {
    Ok(Reply(PageView::of(credentials.list(query.as_ref(), &page).await?, LlmCredentialView::from)))
}
