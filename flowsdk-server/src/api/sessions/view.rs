//! Sessions as clients see them.

use flowsdk_core::admin::session::{Named, Redirected, SessionState};
use flowsdk_core::session::{Frost, Session};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::frozen::FrozenErrorView;
use crate::api::openapi::types::{ChannelName, Id, IsoTime, ModeName, SessionIdText};
use crate::api::request;

/// A flow or a block.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Named)]
pub(super) struct NamedView {
    #[schema(value_type = Id)]
    id: String,
    /// The id, where the thing is gone.
    #[schema(example = "Boas-vindas")]
    name: String,
}

impl From<Named> for NamedView {
    fn from(named: Named) -> Self {
        Self { id: named.id, name: named.name }
    }
}

/// That an error stopped a session (rulings S5).
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
    #[schema(value_type = Id)]
    flow_id: String,
    #[schema(value_type = Id)]
    block_id: String,
}

/// The state of a session (spec A 2.6).
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = SessionState)]
pub(super) struct SessionStateView {
    #[schema(value_type = ModeName)]
    mode: &'static str,
    #[schema(value_type = Id)]
    router_id: String,
    #[schema(value_type = Option<Id>, required = true)]
    flow_id: Option<String>,
    #[schema(value_type = Id)]
    contact_id: String,
    #[schema(value_type = Id)]
    chat_id: String,
    #[schema(value_type = Option<Id>, required = true)]
    current_block_id: Option<String>,
    #[schema(value_type = Object)]
    variables: Map<String, Value>,
    #[schema(value_type = ChannelName)]
    source: &'static str,
    /// The session id.
    #[schema(value_type = SessionIdText)]
    contact_identity: String,
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
    /// Null unless an error stopped it; what is kept for it is in `/sessions/frozen`.
    #[schema(required = true)]
    frozen: Option<FrostView>,
}

impl From<(SessionState, Option<Frost>)> for SessionStateView {
    fn from((state, frost): (SessionState, Option<Frost>)) -> Self {
        let SessionState { session, current_flow, current_block, previous_block, history } = state;
        let position = session.position.as_ref();
        Self {
            mode: session.mode.name(),
            router_id: session.router_id.to_string(),
            flow_id: position.map(|position| position.flow_id.to_string()),
            contact_id: session.contact_id.to_string(),
            chat_id: session.chat_id.to_string(),
            current_block_id: position
                .and_then(|position| position.block_id.as_ref())
                .map(ToString::to_string),
            source: session.id.channel().name(),
            contact_identity: session.id.to_string(),
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
                .iter()
                .map(|to| RedirectView { flow_id: to.flow_id.to_string(), block_id: to.block_id.to_string() })
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
    #[schema(value_type = SessionIdText)]
    session_id: String,
    #[schema(value_type = ModeName)]
    mode: &'static str,
    #[schema(value_type = Id)]
    router_id: String,
    #[schema(value_type = Option<Id>, required = true)]
    flow_id: Option<String>,
    #[schema(value_type = Id)]
    contact_id: String,
    #[schema(value_type = Id)]
    chat_id: String,
    #[schema(value_type = Option<Id>, required = true)]
    current_block_id: Option<String>,
    #[schema(value_type = ChannelName)]
    source: &'static str,
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
            mode: session.mode.name(),
            router_id: session.router_id.to_string(),
            flow_id: position.map(|position| position.flow_id.to_string()),
            contact_id: session.contact_id.to_string(),
            chat_id: session.chat_id.to_string(),
            current_block_id: position
                .and_then(|position| position.block_id.as_ref())
                .map(ToString::to_string),
            source: session.id.channel().name(),
            started_at: session.started_at.as_millis(),
            last_interaction_at: session.last_interaction_at.as_millis(),
            session_id: session.id.to_string(),
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
    #[schema(value_type = SessionIdText)]
    session_id: String,
    #[schema(value_type = Id)]
    flow_id: String,
    #[schema(value_type = Id)]
    block_id: String,
    execute_on_entry: bool,
    /// `redirectId` of the event on the flow stream.
    #[schema(value_type = Id)]
    stream_entry_id: String,
}

impl RedirectedView {
    pub(super) fn of(session_id: String, redirected: Redirected) -> Self {
        let Redirected { redirect, stream_entry_id } = redirected;
        Self {
            ok: true,
            session_id,
            flow_id: redirect.flow_id.to_string(),
            block_id: redirect.block_id.to_string(),
            execute_on_entry: redirect.execute_on_entry,
            stream_entry_id,
        }
    }
}
