//! `GET /contacts/{contactId}/opt-in`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::contact::OptInStatus;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::text::Text;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::OptInView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::path::PathId;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::OptIns;

/// Of which router.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct OptInParams {
    /// Opt-ins are per router.
    #[param(value_type = RouterId)]
    router_id: String,
}

/// The router that is asked for; noted as missing where there is none.
pub(super) struct OfRouter(Option<RouterId>);

impl FromQuery for OfRouter {
    fn read(query: &mut QueryReader) -> Self {
        let router = query.id("routerId", RouterId::parse);
        if router.is_none() {
            // Where it is there and wrong, that is noted already.
            query.problem("routerId", Text::new("Campo obrigatório", "Required field"));
        }
        Self(router)
    }
}

/// Whether a router may write to a contact first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = CurrentOptIn)]
pub(super) struct CurrentOptIn {
    contact_id: ContactId,
    router_id: RouterId,
    /// Null, where the contact never said anything.
    #[schema(required = true)]
    status: Option<OptInStatus>,
    /// The record that counts.
    #[schema(required = true)]
    record: Option<OptInView>,
}

/// Show whether a router may write to a contact first
#[utoipa::path(
    get, path = "/contacts/{contactId}/opt-in", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact"), OptInParams),
    responses((status = 200, description = "The newest record of the contact", body = CurrentOptIn))
)]
pub(super) async fn get_contact_opt_in(
    can: Can<marks::Contacts, marks::Read>,
    State(opt_ins): State<Arc<OptIns>>,
    PathId(id): PathId<ContactId>,
    Query(OfRouter(router)): Query<OfRouter>,
) -> Result<Reply<CurrentOptIn>, ApiError> {
    let router = router.ok_or_else(ApiError::not_found)?;
    let router = can.admit(router)?;
    let record = opt_ins.current(can.reach(), &id, &router).await?;
    Ok(Reply(CurrentOptIn {
        contact_id: id,
        router_id: router.into_inner(),
        status: record.as_ref().map(|record| record.status),
        record: record.map(OptInView::from),
    }))
}
