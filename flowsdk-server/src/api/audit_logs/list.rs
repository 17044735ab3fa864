//! `GET /audit-logs`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::audit::{AuditAction, AuditFilter, AuditStatus};
use flowsdk_core::change::EntityKind;
use flowsdk_core::id::{AuditLogId, RouterId};
use flowsdk_core::text::Text;
use flowsdk_core::time::{IsoTime, Timestamp};
use utoipa::IntoParams;

use super::AuditLogView;
use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader, invalid_cursor};
use crate::api::reply::Reply;
use crate::api::state::AuditLogs;

/// Which records.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct AuditParams {
    action: Option<AuditAction>,
    entity_type: Option<EntityKind>,
    /// A user or an API client.
    actor_id: Option<String>,
    router_id: Option<RouterId>,
    status: Option<AuditStatus>,
    /// From this moment on.
    #[param(value_type = Option<IsoTime>)]
    from: Option<Timestamp>,
    /// Up to and including this moment.
    #[param(value_type = Option<IsoTime>)]
    to: Option<Timestamp>,
}

/// Which page of which records. The cursor is the id of a record.
pub(super) struct AuditQuery {
    filter: AuditFilter,
    before: Option<AuditLogId>,
    limit: u32,
}

impl FromQuery for AuditQuery {
    fn read(query: &mut QueryReader) -> Self {
        let not_an_id = Text::new("Id inválido", "Invalid id");
        let filter = AuditFilter {
            action: query.one_of("action", &AuditAction::ALL, AuditAction::name),
            entity_type: query.one_of("entityType", &EntityKind::ALL, EntityKind::name),
            actor_id: query.text("actorId"),
            router_id: query.parsed("routerId", |text| RouterId::parse(text).ok(), not_an_id),
            status: query.one_of("status", &AuditStatus::ALL, AuditStatus::name),
            from: query.time("from"),
            to: query.time("to"),
            ..AuditFilter::default()
        };
        let before = query.parsed("cursor", |text| AuditLogId::parse(text).ok(), invalid_cursor());
        Self { filter, before, limit: query.limit() }
    }
}

/// List records of the audit log
///
/// A caller who is confined to routers sees the records of these only.
#[utoipa::path(
    get, path = "/audit-logs", tag = "audit-logs",
    params(PageParams, AuditParams),
    responses((status = 200, description = "A page of records", body = PageView<AuditLogView>))
)]
pub(super) async fn list_audit_logs(
    can: Can<marks::AuditLogs, marks::Read>,
    State(logs): State<Arc<AuditLogs>>,
    Query(AuditQuery { filter, before, limit }): Query<AuditQuery>,
) -> Result<Reply<PageView<AuditLogView>>, ApiError> {
    let filter = can.admit(filter)?;
    let page = logs.list(can.reach(), filter, before.as_ref(), limit).await?;
    let items = page.items.into_iter().map(AuditLogView::from).collect();
    Ok(Reply(PageView { items, next_cursor: page.next.map(String::from) }))
}
