//! `GET /ai/usage`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_agent::usage::{Day, ModelWork, UsageFilter, UsageGrouping, UsageReport};
use flowsdk_core::id::AgentId;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::heavy::HeavyTurn;
use crate::api::query::{FromQuery, OfRouter, Query, QueryReader, RouterParams};
use crate::api::reply::Reply;
use crate::api::state::ModelUsages;

/// Which calls of models.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct UsageParams {
    /// Those of this AI agent.
    agent_id: Option<AgentId>,
    /// Those of this model.
    #[param(example = "gpt-5-mini")]
    model: Option<String>,
    /// Those that were made for this work.
    work: Option<ModelWork>,
    /// From this day on, in UTC; absent, 29 days before `to`. A period has at most 400 days.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}$", example = "2026-11-01")]
    from: Option<String>,
    /// Until this day, which is part of it; absent, today.
    #[param(pattern = r"^\d{4}-\d{2}-\d{2}$", example = "2026-11-30")]
    to: Option<String>,
    /// What the groups have in common: some of `router`, `agent`, `model`, `work` and `day`, separated by commas; absent, `day`.
    #[param(
        pattern = "^(router|agent|model|work|day)(,(router|agent|model|work|day))*$",
        example = "model,day"
    )]
    by: Option<String>,
}

impl FromQuery for UsageFilter {
    fn read(query: &mut QueryReader) -> Self {
        let OfRouter(router_id) = OfRouter::read(query);
        let mut day = |name| {
            let must = Text::new("Deve ser um dia, como 2026-11-30", "Must be a day, as 2026-11-30");
            query.parsed(name, |text| Day::parse(text).ok(), must)
        };
        let (from, to) = (day("from"), day("to"));
        let must = Text::new(
            "Deve ser uma lista de router, agent, model, work e day",
            "Must be a list of router, agent, model, work and day",
        );
        Self {
            router_id,
            agent_id: query.id("agentId", AgentId::parse),
            model: query.text("model"),
            work: query.one_of("work", &ModelWork::ALL, ModelWork::name),
            from,
            to,
            by: query.parsed("by", groupings, must).unwrap_or_else(|| vec![UsageGrouping::Day]),
        }
    }
}

/// Reads names between commas.
fn groupings(text: &str) -> Option<Vec<UsageGrouping>> {
    let grouping = |name| UsageGrouping::ALL.iter().copied().find(|known| known.name() == name);
    text.split(',').map(grouping).collect()
}

/// Report on what models used and cost
///
/// In the routers within the caller's reach. The cost of a call is that of the prices when it was counted, some seconds after
/// its answer.
#[utoipa::path(
    get, path = "/ai/usage", tag = "ai-usage",
    params(RouterParams, UsageParams),
    responses((status = 200, description = "The report", body = UsageReport))
)]
pub(super) async fn report_ai_usage(
    can: Can<marks::Reports, marks::Read>,
    State(usage): State<Arc<ModelUsages>>,
    Query(filter): Query<UsageFilter>,
    _turn: HeavyTurn,
) -> Result<Reply<UsageReport>, ApiError> {
    let filter = can.admit(filter)?;
    Ok(Reply(usage.report(can.reach(), &filter).await?))
}
