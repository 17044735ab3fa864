//! `GET /dead-letters`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::page::PageRequest;
use flowsdk_core::stream::dead_letter::DeadLetterFilter;
use flowsdk_core::stream::topic::TopicName;
use utoipa::IntoParams;

use super::DeadLetterView;
use crate::api::error::ApiError;
use crate::api::guard::AdminOnly;
use crate::api::query::{FromQuery, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::DeadLetters;

/// The filters of the list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct DeadLetterParams {
    /// Only those of this stream.
    #[param(value_type = Option<TopicName>)]
    topic: Option<String>,
    /// Only those of this consumer group.
    #[param(example = "webchat")]
    group: Option<String>,
}

/// The dead letters that are asked for.
#[derive(Debug)]
pub(super) struct Wanted(DeadLetterFilter);

impl FromQuery for Wanted {
    fn read(query: &mut QueryReader) -> Self {
        let topic = query.one_of("topic", &TopicName::ALL, TopicName::name);
        Self(DeadLetterFilter { topic, group: query.text("group") })
    }
}

/// List dead letters
///
/// Entries of streams that failed for good, the last failure first.
#[utoipa::path(
    get, path = "/dead-letters", tag = "dead-letters",
    params(PageParams, DeadLetterParams),
    responses((status = 200, description = "A page of dead letters", body = PageView<DeadLetterView>))
)]
pub(super) async fn list_dead_letters(
    _admin: AdminOnly,
    State(letters): State<Arc<DeadLetters>>,
    Query((page, Wanted(filter))): Query<(PageRequest, Wanted)>,
) -> Result<Reply<PageView<DeadLetterView>>, ApiError> {
    let page = letters.list(&filter, &page).await?;
    Ok(Reply(PageView::of(page, DeadLetterView::from)))
}
