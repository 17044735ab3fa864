//! `GET /templates`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_channels::channel_number::ProviderId;
use flowsdk_channels::template::{TemplateFilter, TemplateStatus, TemplateView};
use flowsdk_core::page::PageRequest;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{
    FromQuery, NameParams, Named, OfRouter, PageParams, PageView, Query, QueryReader, RouterParams,
};
use crate::api::reply::Reply;
use crate::api::state::Templates;

/// Which templates.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct TemplateParams {
    /// Those of this business account of the provider.
    #[param(value_type = Option<ProviderId>)]
    business_account_id: Option<String>,
    /// Those that stand like this.
    #[param(value_type = Option<TemplateStatus>)]
    status: Option<String>,
    /// Those of this name, in any language.
    #[param(example = "order_update")]
    name: Option<String>,
}

/// The templates that are wanted.
#[derive(Debug)]
pub(super) struct Wanted(TemplateFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        let digits = Text::new("Deve ter de 1 a 32 dígitos", "Must be 1 to 32 digits");
        let parse = |text: &str| ProviderId::parse(text).ok();
        let business_account_id = query.parsed("businessAccountId", parse, digits);
        let status = query.one_of("status", &TemplateStatus::ALL, TemplateStatus::name);
        Self(TemplateFilter { router_id, business_account_id, status, name: query.text("name") })
    }
}

/// List message templates
///
/// A caller who is confined to routers sees theirs only.
#[utoipa::path(
    get, path = "/templates", tag = "templates",
    params(PageParams, RouterParams, TemplateParams, NameParams),
    responses((status = 200, description = "A page of templates", body = PageView<TemplateView>))
)]
pub(super) async fn list_templates(
    can: Can<marks::ChannelNumbers, marks::Read>,
    State(templates): State<Arc<Templates>>,
    Query((page, (Wanted(filter), Named(query)))): Query<(PageRequest, (Wanted, Named))>,
) -> Result<Reply<PageView<TemplateView>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = templates.list(can.reach(), &filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, TemplateView::from)))
}
