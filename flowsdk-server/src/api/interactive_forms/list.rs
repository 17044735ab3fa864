//! `GET /interactive-forms`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::form::InteractiveForm;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{NameParams, Named, OfRouter, PageParams, PageView, Query, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::Forms;

/// List interactive forms
///
/// Without their definitions. A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/interactive-forms", tag = "interactive-forms",
    params(PageParams, RouterParams, NameParams),
    responses((status = 200, description = "A page of forms", body = PageView<InteractiveForm>))
)]
pub(super) async fn list_interactive_forms(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(forms): State<Arc<Forms>>,
    Query((page, (OfRouter(router), Named(query)))): Query<(PageRequest, (OfRouter, Named))>,
) -> Result<Reply<PageView<InteractiveForm>>, ApiError> {
    let router = can.admit(router)?;
    let page = forms.list(can.reach(), &router, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, |form| form)))
}
