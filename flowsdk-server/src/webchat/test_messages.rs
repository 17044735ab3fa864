//! `POST /webchat/test/messages`: the test channel over HTTP.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use flowsdk_channels::webchat::payload::ServerMessage;
use flowsdk_channels::webchat::{TestChat, inbound};
use flowsdk_core::id::{ChatId, FlowId, MessageId};
use flowsdk_core::media::MediaLinks;
use flowsdk_core::message::SenderKind;
use flowsdk_core::schema::FlowMessage;
use flowsdk_core::session::SessionId;
use flowsdk_core::text::Text;
use flowsdk_core::time::Timestamp;
use flowsdk_store::sql::SqlStore;
use http::{Extensions, HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::caller;
use crate::api::ApiError;
use crate::api::body::Body;
use crate::api::error::Problems;
use crate::api::query::{FromQuery, Query, QueryReader};
use crate::api::reply::json;

const PATH: &str = "/webchat/test/messages";
/// Most bytes of a body: the longest text, each of its characters escaped.
const MAX_BODY: usize = 1 << 16;
/// How long answers are waited for, unless the client says otherwise, and at most.
const PATIENCE: u64 = 10;
const LONGEST: u64 = 30;

/// A test chat over the store of this server.
type Chat = TestChat<SqlStore>;

#[derive(Clone)]
struct Services {
    chat: Arc<Chat>,
    links: Arc<MediaLinks>,
    trusted_proxies: u32,
}

pub(super) fn routes(chat: Arc<Chat>, links: Arc<MediaLinks>, trusted_proxies: u32) -> Router {
    let handler = post(post_test_message).with_state(Services { chat, links, trusted_proxies });
    crate::api::twin(Router::new(), PATH, &handler)
}

/// A tap on a button, or the choice of a row.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = TestReplyType)]
enum ReplyType {
    ButtonReply,
    ListReply,
}

/// A text, or a tap with its id and title, as the socket's events `message` and `message_interactive` take it.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = NewTestMessage)]
struct NewMessage {
    /// At most 4,096 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "hi")]
    text: Option<String>,
    /// Instead of a text.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    kind: Option<ReplyType>,
    /// Of the button or row.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    id: Option<String>,
    /// Of the button or row.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    title: Option<String>,
    /// A name of this message. One that comes again under it is stored and answered once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, max_length = 64)]
    client_message_id: Option<String>,
    /// The flow that a session begins with, if one begins with this message: its test version, or else its published one. Without
    /// it the flow of the channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    flow_id: Option<FlowId>,
}

impl NewMessage {
    /// The fields that are missing, or that do not belong to the others.
    fn odd(&self) -> Problems {
        const MISSING: Text = Text::new("Campo obrigatório", "Required field");
        const OTHER: Text =
            Text::new("Não faz parte deste tipo de mensagem", "Not part of this kind of message");
        let tap = self.kind.is_some();
        let fields = [
            ("text", self.text.is_some(), !tap),
            ("id", self.id.is_some(), tap),
            ("title", self.title.is_some(), tap),
        ];
        let mut problems = Problems::default();
        for (field, is, must) in fields {
            if is != must {
                problems.add(field, if is { OTHER } else { MISSING });
            }
        }
        problems
    }
}

/// The outcome of a message.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TestTurn)]
struct Turn {
    /// The visitor, for the header `x-user-id` of the next message.
    user_id: String,
    /// The visitor's key, for `x-session-key`. It is shown to a new visitor; with a token there is none.
    session_key: Option<String>,
    #[schema(value_type = String, example = "wc-cmi7w0q2p00000qx1b3k9z5ra-cmi7w0q2p00010qx1b3k9z5rb")]
    session_id: SessionId,
    /// Of the stored message; of the first one, when it came twice.
    message_id: MessageId,
    /// Whether it came before. Its answers were given then, and are in the history.
    repeated: bool,
    /// Whether an error has stopped the session, in this turn or before: then the message waits, and
    /// `GET /sessions/frozen` tells the error.
    frozen: bool,
    /// In order.
    #[schema(value_type = Vec<Answer>)]
    messages: Vec<ServerMessage>,
}

/// The payload of the socket's event `message`: `type`, the field of that name, and what is known of every message.
#[derive(ToSchema)]
#[schema(as = TestAnswer)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct Answer {
    #[serde(flatten)]
    content: FlowMessage,
    id: MessageId,
    chat_id: ChatId,
    /// Its place in the chat, from 1.
    #[schema(minimum = 1, example = 7)]
    seq: i64,
    /// Milliseconds since 1970. They order nothing.
    #[schema(value_type = i64, example = 1_795_313_588_134_i64)]
    timestamp: Timestamp,
    sender: AnswerSender,
}

/// Who speaks.
#[derive(ToSchema)]
#[schema(as = TestAnswerSender)]
#[allow(dead_code, reason = "the document is made of it")]
struct AnswerSender {
    #[schema(value_type = String, example = "flow")]
    kind: SenderKind,
    /// Absent where a flow speaks.
    #[schema(nullable = false)]
    name: Option<String>,
}

/// How long to wait.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
struct WaitParams {
    /// Seconds for which answers are waited for where they do not come at once.
    #[param(minimum = 0, maximum = 30, default = 10, required = false)]
    wait: u64,
}

struct Wait(Duration);

impl FromQuery for Wait {
    fn read(query: &mut QueryReader) -> Self {
        let must = Text::new("Deve ser um inteiro de 0 a 30", "Must be an integer from 0 to 30");
        let parse = |text: &str| text.parse().ok().filter(|seconds| *seconds <= LONGEST);
        Self(Duration::from_secs(query.parsed("wait", parse, must).unwrap_or(PATIENCE)))
    }
}

/// Write to a test channel and read the answers
///
/// A turn of the web chat socket in one call: for scripts that try a flow. Only for the test channel of a router.
/// Without `x-user-id` and `x-session-key` (or an embed token as bearer, where the channel asks for one) a new visitor
/// writes; their id and key are in the answer. Typing times of the flow are not waited for. Messages of one visitor are
/// taken one after the other.
#[utoipa::path(
    post, path = "/webchat/test/messages", tag = "webchat",
    params(
        ("x-channel-id" = flowsdk_core::id::ChannelId, Header, description = "The test channel"),
        ("x-user-id" = Option<String>, Header, description = "A visitor who has been here before"),
        ("x-session-key" = Option<String>, Header, description = "The key of that visitor"),
        WaitParams,
    ),
    request_body = NewMessage,
    responses(
        (status = 200, description = "The turn is stored and over, these are its answers", body = Turn),
        (status = 202, description = "The message is stored; its turn is not over in time, or waits for something \
            outside. What follows is in `GET /webchat/history`", body = Turn),
        (status = 401, description = "`identity_invalid`, `token_invalid` or `token_expired`"),
        (status = 403, description = "`origin_refused`"),
        (status = 404, description = "`channel_unknown`: no such channel, or no test channel"),
        (status = 422, description = "`flow_unknown`: the flow is none of the router's, or has no version to run; `flow_is_tool`"),
        (status = 429, description = "`rate_limited`: too many messages, new visitors or wrong keys"),
    )
)]
async fn post_test_message(
    State(services): State<Services>,
    headers: HeaderMap,
    extensions: Extensions,
    Query(Wait(patience)): Query<Wait>,
    Body(mut body): Body<NewMessage, MAX_BODY>,
) -> Result<Response, ApiError> {
    let caller = caller::of(&headers, &extensions, services.trusted_proxies);
    let odd = body.odd();
    if !odd.is_empty() {
        return Err(ApiError::invalid(odd));
    }
    let flow = body.flow_id.take();
    let read = if body.kind.is_some() { inbound::interactive } else { inbound::text };
    let message = |cx: &_| read(serde_json::to_value(&body).unwrap_or(Value::Null), cx);
    let mut turn = services.chat.say(&caller::credentials(&headers), caller, message, flow, patience).await?;
    for message in &mut turn.messages {
        services.links.show(&turn.router_id, &mut message.content);
    }
    let status = if turn.complete { StatusCode::OK } else { StatusCode::ACCEPTED };
    let answer = Turn {
        user_id: turn.visitor.user_id,
        session_key: turn.visitor.session_key,
        session_id: turn.session_id,
        message_id: turn.message_id,
        repeated: turn.repeated,
        frozen: turn.frozen,
        messages: turn.messages,
    };
    Ok(json(status, &answer))
}

/// The operation, for the document of the API.
pub(crate) fn operation<S: Clone + Send + Sync + 'static>() -> utoipa_axum::router::UtoipaMethodRouter<S> {
    let (schemas, paths, _) = utoipa_axum::routes!(post_test_message);
    (schemas, paths, axum::routing::MethodRouter::new())
}
