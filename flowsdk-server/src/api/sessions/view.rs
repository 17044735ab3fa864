//! Sessions as clients see them.

use flowsdk_core::admin::session::{Named, Redirected, SessionState};
use flowsdk_core::id::{BlockId, ChatId, ContactId, FlowId, RouterId};
use flowsdk_core::schema::AnyId;
use flowsdk_core::session::{Channel, Frost, Mode, Session, SessionId};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::frozen::FrozenErrorView;
use super::outcome::OutcomeView;
use crate::api::request;

/// A flow or a block.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Named)]
pub(super) struct NamedView {
    #[schema(value_type = AnyId)]
    id: String,
    /// The id, where the thing is gone.
    #[schema(example = "Welcome")]
    name: String,
}

impl From<Named> for NamedView {
    fn from(named: Named) -> Self {
        Self { id: named.id, name: named.name }
    }
}

// Rulings S5.
/// Why and when an error stopped a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionFrost)]
pub(super) struct FrostView {
    error: FrozenErrorView,
    frozen_at: IsoTime,
}

impl From<Frost> for FrostView {
    fn from(frost: Frost) -> Self {
        let (_, language) = request::facts();
        Self { error: FrozenErrorView::of(frost.error, language), frozen_at: frost.frozen_at.into() }
    }
}

/// A stop at an input block.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SessionStop)]
struct StopView {
    flow: NamedView,
    block: NamedView,
}

/// Where a redirect led.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionRedirect)]
struct RedirectView {
    flow_id: FlowId,
    block_id: BlockId,
}

// Spec A 2.6.
/// The state of a session.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionState)]
pub(super) struct SessionStateView {
    mode: Mode,
    router_id: RouterId,
    #[schema(required = true)]
    flow_id: Option<FlowId>,
    contact_id: ContactId,
    chat_id: ChatId,
    #[schema(required = true)]
    current_block_id: Option<BlockId>,
    #[schema(value_type = Object)]
    variables: Map<String, Value>,
    source: Channel,
    /// The session id.
    contact_identity: SessionId,
    #[schema(required = true)]
    current_flow: Option<NamedView>,
    #[schema(required = true)]
    current_block: Option<NamedView>,
    /// Absent at the first stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    previous_block: Option<NamedView>,
    /// The latest stops, oldest first.
    session_history: Vec<StopView>,
    /// How long it waits for input, in milliseconds.
    #[schema(minimum = 0, example = 1_800_000)]
    expiry_timeout: i64,
    /// Milliseconds since 1970.
    #[schema(example = 1_795_085_820_050_i64)]
    started_at: i64,
    /// Milliseconds since 1970.
    #[schema(example = 1_795_085_820_050_i64)]
    last_interaction_at: i64,
    /// The latest redirects, oldest first.
    redirect_history: Vec<RedirectView>,
    /// Null unless an error stopped it; the entries kept for it are in `/sessions/frozen`.
    #[schema(required = true)]
    frozen: Option<FrostView>,
}

impl From<(SessionState, Option<Frost>)> for SessionStateView {
    fn from((state, frost): (SessionState, Option<Frost>)) -> Self {
        let SessionState { session, current_flow, current_block, previous_block, history } = state;
        let position = session.position.as_ref();
        Self {
            mode: session.mode,
            router_id: session.router_id,
            flow_id: position.map(|position| position.flow_id.clone()),
            contact_id: session.contact_id,
            chat_id: session.chat_id,
            current_block_id: position.and_then(|position| position.block_id.clone()),
            source: session.id.channel(),
            contact_identity: session.id,
            current_flow: current_flow.map(NamedView::from),
            current_block: current_block.map(NamedView::from),
            previous_block: previous_block.map(NamedView::from),
            session_history: history
                .into_iter()
                .map(|(flow, block)| StopView { flow: flow.into(), block: block.into() })
                .collect(),
            expiry_timeout: i64::try_from(session.expiry_timeout.as_millis()).unwrap_or(i64::MAX),
            started_at: session.started_at.as_millis(),
            last_interaction_at: session.last_interaction_at.as_millis(),
            redirect_history: session
                .redirects
                .into_iter()
                .map(|to| RedirectView { flow_id: to.flow_id, block_id: to.block_id })
                .collect(),
            variables: session.variables,
            frozen: frost.map(FrostView::from),
        }
    }
}

/// A session in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub(super) struct SessionView {
    session_id: SessionId,
    mode: Mode,
    router_id: RouterId,
    #[schema(required = true)]
    flow_id: Option<FlowId>,
    contact_id: ContactId,
    chat_id: ChatId,
    #[schema(required = true)]
    current_block_id: Option<BlockId>,
    source: Channel,
    /// Milliseconds since 1970.
    #[schema(example = 1_795_085_820_050_i64)]
    started_at: i64,
    /// Milliseconds since 1970.
    #[schema(example = 1_795_085_820_050_i64)]
    last_interaction_at: i64,
    /// Null unless an error stopped it.
    #[schema(required = true)]
    frozen: Option<FrostView>,
}

impl From<(Session, Option<Frost>)> for SessionView {
    fn from((session, frost): (Session, Option<Frost>)) -> Self {
        let position = session.position.as_ref();
        Self {
            mode: session.mode,
            router_id: session.router_id,
            flow_id: position.map(|position| position.flow_id.clone()),
            contact_id: session.contact_id,
            chat_id: session.chat_id,
            current_block_id: position.and_then(|position| position.block_id.clone()),
            source: session.id.channel(),
            started_at: session.started_at.as_millis(),
            last_interaction_at: session.last_interaction_at.as_millis(),
            session_id: session.id,
            frozen: frost.map(FrostView::from),
        }
    }
}

/// A redirect that was published.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionRedirected)]
pub(super) struct RedirectedView {
    /// Always true.
    ok: bool,
    session_id: SessionId,
    flow_id: FlowId,
    block_id: BlockId,
    execute_on_entry: bool,
    /// `redirectId` of the event on the flow stream.
    #[schema(value_type = AnyId)]
    stream_entry_id: String,
    /// Only with `wait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, nullable = false)]
    outcome: Option<OutcomeView>,
}

impl RedirectedView {
    pub(super) fn of(session_id: SessionId, redirected: Redirected, outcome: Option<OutcomeView>) -> Self {
        let Redirected { redirect, stream_entry_id, .. } = redirected;
        Self {
            ok: true,
            session_id,
            flow_id: redirect.flow_id,
            block_id: redirect.block_id,
            execute_on_entry: redirect.execute_on_entry,
            stream_entry_id,
            outcome,
        }
    }

    pub(super) fn outcome(&self) -> Option<&OutcomeView> {
        self.outcome.as_ref()
    }
}
