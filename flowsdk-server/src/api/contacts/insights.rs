//! `GET /contacts/{contactId}/insights`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::contact::{ContactInsights, DayOfMessages};
use flowsdk_core::id::ContactId;
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::opt_ins::OptInView;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::Contacts;

/// Messages of a day.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DayOfMessages)]
struct DayView {
    /// In UTC.
    #[schema(example = "2026-11-20", format = Date)]
    date: String,
    /// From the contact.
    incoming: i64,
    /// To the contact.
    outgoing: i64,
}

impl From<DayOfMessages> for DayView {
    fn from(day: DayOfMessages) -> Self {
        let DayOfMessages { day, incoming, outgoing } = day;
        Self { date: day.to_iso().chars().take("2026-11-20".len()).collect(), incoming, outgoing }
    }
}

/// Figures of a contact's activity.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ContactInsights)]
pub(super) struct InsightsView {
    live_sessions: i64,
    chats: i64,
    open_chats: i64,
    /// When the contact last wrote.
    #[schema(required = true)]
    last_seen_at: Option<IsoTime>,
    /// Days with messages among the last 30, newest first.
    messages_by_day: Vec<DayView>,
    /// The newest opt-in record of the contact, one a router.
    opt_ins: Vec<OptInView>,
}

impl From<ContactInsights> for InsightsView {
    fn from(insights: ContactInsights) -> Self {
        Self {
            live_sessions: insights.live_sessions,
            chats: insights.chats,
            open_chats: insights.open_chats,
            last_seen_at: insights.last_seen_at.map(IsoTime::from),
            messages_by_day: insights.messages_by_day.into_iter().map(DayView::from).collect(),
            opt_ins: insights.opt_ins.into_iter().map(OptInView::from).collect(),
        }
    }
}

/// Show a contact's activity
///
/// Only of the routers that the caller is confined to, if they are.
#[utoipa::path(
    get, path = "/contacts/{contactId}/insights", tag = "contacts",
    params(("contactId" = ContactId, Path, description = "The contact")),
    responses((status = 200, description = "The contact's activity", body = InsightsView))
)]
pub(super) async fn get_contact_insights(
    can: Can<marks::Contacts, marks::Read>,
    State(contacts): State<Arc<Contacts>>,
    PathId(id): PathId<ContactId>,
) -> Result<Reply<InsightsView>, ApiError> {
    Ok(Reply(contacts.insights(can.reach(), &id).await?.into()))
}
