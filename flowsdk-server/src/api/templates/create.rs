//! `POST /templates`.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use flowsdk_channels::channel_number::ProviderId;
use flowsdk_channels::template::{
    Component, NewTemplate, Template, TemplateCategory, TemplateLanguage, TemplateName, TemplateStatus,
};
use flowsdk_core::id::RouterId;
use flowsdk_core::idempotency::{Once, Outcome};
use serde::Deserialize;
use utoipa::ToSchema;

use super::{COLLECTION, TemplateView};
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::idempotency::{IdempotencyParams, Idempotent, Replayed, stored};
use crate::api::reply::Created;
use crate::api::state::Templates;

/// A template to be. Router, business account, name and language cannot be changed later.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CreateTemplate {
    router_id: RouterId,
    /// The provider's business account that has it.
    business_account_id: ProviderId,
    name: TemplateName,
    language: TemplateLanguage,
    category: TemplateCategory,
    /// How it stands with the provider; `DRAFT` when nothing is said.
    #[schema(value_type = TemplateStatus, required = false)]
    status: Option<TemplateStatus>,
    #[schema(max_items = 4)]
    components: Vec<Component>,
}

/// Create a message template
///
/// As it is with the provider, or is to be there: nothing is sent to him.
#[utoipa::path(
    post, path = "/templates", tag = "templates",
    params(IdempotencyParams),
    request_body = CreateTemplate,
    responses(
        (status = 201, description = "The template", body = TemplateView),
        (status = 409, description = "`name_taken`: router, account, name and language are those of another one; `idempotency_conflict`"),
        (status = 422, description = "`router_unknown`"),
    )
)]
pub(super) async fn create_template(
    can: Can<marks::ChannelNumbers, marks::Write>,
    State(templates): State<Arc<Templates>>,
    body: Idempotent<CreateTemplate>,
) -> Result<Response, ApiError> {
    let (body, request) = body.of(&can.caller);
    let once = request.map(|request| Once {
        request,
        answer: |template: &Template| stored(&TemplateView::from(template.clone())),
    });
    let new = can.admit(NewTemplate {
        router_id: body.router_id,
        business_account_id: body.business_account_id,
        name: body.name,
        language: body.language,
        category: body.category,
        status: body.status.unwrap_or(TemplateStatus::Draft),
        components: body.components,
    })?;
    Ok(match templates.create(&can.caller.author(), new, once).await? {
        Outcome::Done(template) => {
            let body = TemplateView::from(template);
            Created { collection: COLLECTION, id: body.id.to_string(), body }.into_response()
        }
        Outcome::Replayed(answer) => Replayed { answer, collection: COLLECTION }.into_response(),
    })
}
