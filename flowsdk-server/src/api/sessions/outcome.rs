//! The outcome of a redirect or of a resumption, for a caller who waits for it.

use std::time::Duration;

use axum::response::Response;
use flowsdk_core::admin::session::{Ending, Obstacle, Outcome};
use flowsdk_core::id::{BlockId, FlowId};
use flowsdk_core::session::Mode;
use flowsdk_core::text::Text;
use http::StatusCode;
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use super::frozen::FrozenErrorView;
use crate::api::query::{FromQuery, QueryReader};
use crate::api::reply::json;
use crate::api::request;

/// Longest wait for an outcome, in seconds.
const LONGEST: u64 = 10;

/// Whether to wait for the outcome.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
pub(super) struct WaitParams {
    /// Seconds for which the outcome is waited for. Without it, or with 0, the answer says only what was published.
    #[param(minimum = 0, maximum = 10, default = 0, required = false)]
    wait: u64,
}

/// How long to wait; `None`: not at all.
pub(super) struct Wait(pub(super) Option<Duration>);

impl FromQuery for Wait {
    fn read(query: &mut QueryReader) -> Self {
        let must = Text::new("Deve ser um inteiro de 0 a 10", "Must be an integer from 0 to 10");
        let parse = |text: &str| text.parse().ok().filter(|seconds| *seconds <= LONGEST);
        let seconds = query.parsed("wait", parse, must).filter(|seconds| *seconds > 0);
        Self(seconds.map(Duration::from_secs))
    }
}

/// How an event ended.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum OutcomeResult {
    /// It had its effect.
    Done,
    /// It changed nothing; `reason` says why.
    Ignored,
    /// An error has stopped the session, at the event or before it; `error` says which. The event waits then.
    Frozen,
    /// The session is over.
    Ended,
    /// Not known in time.
    Pending,
}

/// The outcome, and where the session stands now.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionOutcome)]
pub(super) struct OutcomeView {
    result: OutcomeResult,
    /// Of `ignored`: `session_in_human_attendance`, or `block_not_found` where the target is gone since.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false, example = "block_not_found")]
    reason: Option<&'static str>,
    /// Of `frozen`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    error: Option<FrozenErrorView>,
    /// Null when the session is over.
    #[schema(required = true)]
    mode: Option<Mode>,
    #[schema(required = true)]
    flow_id: Option<FlowId>,
    #[schema(required = true)]
    block_id: Option<BlockId>,
}

impl From<Outcome> for OutcomeView {
    fn from(outcome: Outcome) -> Self {
        let Outcome { ending, session } = outcome;
        let position = session.as_ref().and_then(|session| session.position.as_ref());
        let mut view = Self {
            result: OutcomeResult::Pending,
            reason: None,
            error: None,
            mode: session.as_ref().map(|session| session.mode),
            flow_id: position.map(|position| position.flow_id.clone()),
            block_id: position.and_then(|position| position.block_id.clone()),
        };
        match ending {
            None => {}
            Some(Ending::Done) => view.result = OutcomeResult::Done,
            Some(Ending::Ended) => {
                view =
                    Self { result: OutcomeResult::Ended, mode: None, flow_id: None, block_id: None, ..view };
            }
            Some(Ending::Ignored(obstacle)) => {
                view.result = OutcomeResult::Ignored;
                view.reason = Some(match obstacle {
                    Obstacle::HumanAttendance => "session_in_human_attendance",
                    Obstacle::LeadsNowhere => "block_not_found",
                });
            }
            Some(Ending::Frozen(error)) => {
                let (_, language) = request::facts();
                view.result = OutcomeResult::Frozen;
                view.error = Some(FrozenErrorView::of(error, language));
            }
        }
        view
    }
}

/// Answers 202 where the outcome was waited for and is not known, else 200.
pub(super) fn answer(outcome: Option<&OutcomeView>, body: &impl Serialize) -> Response {
    let is_pending = outcome.is_some_and(|outcome| matches!(outcome.result, OutcomeResult::Pending));
    json(if is_pending { StatusCode::ACCEPTED } else { StatusCode::OK }, body)
}
