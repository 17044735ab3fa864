//! What agents do over the socket: the use cases of the routes (rulings D6).

use std::sync::Arc;

use flowsdk_auth::access::Authenticated;
use flowsdk_auth::permission::{Action, Resource};
use flowsdk_core::change::Author;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::Fault;
use flowsdk_core::id::{MessageId, QueueId, RouterId, TicketId, UserId};
use flowsdk_core::idempotency::{IdempotencyKey, IdempotentRequest, Once, Outcome, StoredAnswer};
use flowsdk_core::message::ContentMessage;
use flowsdk_core::text::Language;
use flowsdk_helpdesk::agent::PresenceStatus;
use flowsdk_helpdesk::desk::{By, CloseTicket, Replied, ReplyToContact, TransferTicket};
use flowsdk_helpdesk::ticket::{TicketError, TicketView};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use super::hub::{Hub, Seat};
use super::payload::{DeskCommand, PresenceAnswer, TicketAnswer};
use crate::api::state::{Desk, Presence};

/// The services behind the commands.
pub(crate) struct Commands {
    pub(crate) hub: Arc<Hub>,
    pub(crate) desk: Arc<Desk>,
    pub(crate) presence: Arc<Presence>,
    pub(crate) language: Language,
    pub(crate) cx: OpContext,
}

/// The answer to a command that is not carried out: `{ ok: false, code, message }`.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) message: String,
}

impl Refusal {
    fn of(error: &impl Fault, language: Language) -> Self {
        let text = error.text();
        let message = match language {
            Language::English => text.english(),
            Language::Portuguese => text.portuguese(),
        };
        Self { code: error.code(), message: message.to_owned() }
    }
}

/// Whether an agent is there.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AgentStatus)]
pub(super) struct Status {
    status: PresenceStatus,
}

/// A message to the contact of a ticket: `text` or `content`.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = AgentReply)]
pub(super) struct Reply {
    ticket_id: TicketId,
    /// A text. Channels may take less than the longest.
    #[schema(min_length = 1, max_length = 4_096, pattern = r"\S", example = "I have sent you the invoice.")]
    text: Option<String>,
    /// A content, as `POST /tickets/{id}/messages` takes it.
    #[schema(value_type = Option<Object>, additional_properties = true)]
    content: Option<ContentMessage>,
    /// The newest message of the chat that the agent has seen. The reply is refused if the contact has written after it.
    last_seen_message_id: Option<MessageId>,
    /// A name of this command: under the same one it is carried out once.
    #[schema(min_length = 1, max_length = 255, pattern = "^[!-~]+$")]
    command_id: Option<String>,
}

/// A command on a ticket, with the fields of its route.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OnTicket {
    ticket_id: TicketId,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A ticket that is offered to the agent.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = OfferedTicket)]
pub(super) struct Offered {
    ticket_id: TicketId,
}

/// Where the ticket waits that is taken.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = PickUpTicket)]
pub(super) struct PickUp {
    /// In this queue of the agent; in any of them, if none is named.
    queue_id: Option<QueueId>,
}

/// Which ticket a desk looks at.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ViewTicket)]
pub(super) struct Viewing {
    /// The ticket that the desk looks at; without one it looks at none.
    ticket_id: Option<TicketId>,
}

/// To which ticket an agent writes an answer.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = TypeToTicket)]
pub(super) struct Typing {
    /// The ticket. The desk looks at it, too.
    ticket_id: TicketId,
}

/// Whose figures are watched.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = WatchFigures)]
pub(super) struct Monitor {
    /// Those of this router; of all within reach, if none is named.
    router_id: Option<RouterId>,
}

/// No fields. The payload may be left out.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {}

/// Most characters of a text and of a reason, and most tags, as in the routes.
const MAX_TEXT: usize = 4_096;
const MAX_REASON: usize = 200;
const MAX_TAGS: usize = 20;

impl Commands {
    /// Carries a command out. Returns the fields of its answer beside `ok`.
    pub(super) async fn perform(
        &self,
        name: &str,
        payload: Value,
        seat: &Arc<Seat>,
        caller: &Authenticated,
        author: &Author,
    ) -> Result<Value, Refusal> {
        let command = DeskCommand::parse(name);
        if name.starts_with("monitoring:") {
            return self.monitor(command, payload, seat, caller).await;
        }
        let refuse = |error: TicketError| self.refused(&error);
        let scope =
            caller.require(Resource::Helpdesk, Action::Write).map_err(|error| self.refused(&error))?;
        let by = By { author, user: Some(&seat.user), reach: scope.reach() };
        match command {
            Some(DeskCommand::Status) => {
                let Status { status } = self.read(payload)?;
                self.presence.set(&seat.user, status).await.map_err(|error| self.refused(&error))?;
                Ok(json!(PresenceAnswer { status }))
            }
            Some(DeskCommand::Heartbeat) => {
                let Nothing {} = self.read(payload)?;
                let status = self.presence.renew(&seat.user).await.map_err(|error| self.refused(&error))?;
                Ok(json!(PresenceAnswer { status }))
            }
            Some(DeskCommand::PickUp) => {
                let PickUp { queue_id } = self.read(payload)?;
                let picked = self.desk.pick_up_from(by, &seat.user, queue_id.as_ref()).await;
                match picked.map_err(refuse)? {
                    Some(ticket) => Ok(json!(TicketAnswer { ticket: TicketView::from(ticket) })),
                    None => Err(self.worded(
                        "nothing_waiting",
                        "Nenhum ticket espera nas suas filas",
                        "No ticket waits in your queues",
                    )),
                }
            }
            Some(DeskCommand::Accept) => {
                let Offered { ticket_id } = self.read(payload)?;
                let ticket = self.desk.accept(by, &seat.user, &ticket_id).await.map_err(refuse)?;
                Ok(json!(TicketAnswer { ticket: TicketView::from(ticket) }))
            }
            Some(DeskCommand::Decline) => {
                let Offered { ticket_id } = self.read(payload)?;
                let ticket = self.desk.decline(by, &seat.user, &ticket_id).await.map_err(refuse)?;
                Ok(json!(TicketAnswer { ticket: TicketView::from(ticket) }))
            }
            Some(DeskCommand::Viewing) => {
                let Viewing { ticket_id } = self.read(payload)?;
                self.view(seat, by, ticket_id.as_ref()).await.map_err(refuse)?;
                Ok(json!({}))
            }
            Some(DeskCommand::Typing) => {
                let Typing { ticket_id } = self.read(payload)?;
                let now = self.cx.now();
                if !seat.watched.has_typed(&ticket_id, now) {
                    let viewers = &self.hub.viewers;
                    let typing = viewers.typing(seat.desk(), &seat.user, by.reach, &ticket_id).await;
                    seat.watched.look(&ticket_id, &typing.map_err(refuse)?.router_id, Some(now));
                }
                Ok(json!({}))
            }
            Some(DeskCommand::Reply) => self.reply(payload, by, &seat.user).await,
            Some(DeskCommand::Transfer) => {
                let OnTicket { ticket_id, rest } = self.read(payload)?;
                let command: TransferTicket = self.read(Value::Object(rest))?;
                let next = self.desk.transfer(by, &ticket_id, command).await.map_err(refuse)?;
                Ok(json!(TicketAnswer { ticket: TicketView::from(next) }))
            }
            Some(DeskCommand::Close) => {
                let OnTicket { ticket_id, rest } = self.read(payload)?;
                let command: CloseTicket = self.read(Value::Object(rest))?;
                if command.reason.as_deref().is_some_and(|reason| !is_text(reason, MAX_REASON)) {
                    return Err(self.invalid("reason"));
                }
                if command.tag_ids.as_ref().is_some_and(|tags| tags.len() > MAX_TAGS) {
                    return Err(self.invalid("tagIds"));
                }
                let closed = self.desk.close(by, &ticket_id, command).await.map_err(refuse)?;
                Ok(json!(TicketAnswer { ticket: TicketView::from(closed) }))
            }
            Some(DeskCommand::Refresh) => {
                let Nothing {} = self.read(payload)?;
                let seats = [Arc::clone(seat)];
                let told = self.hub.tell_waiting(&seats, self.cx.now(), true).await;
                told.map_err(|error| self.refused(&error))?;
                Ok(json!({}))
            }
            None | Some(DeskCommand::MonitoringJoin | DeskCommand::MonitoringLeave) => Err(self.unknown()),
        }
    }

    /// Lets a desk look at a ticket, or at none.
    async fn view(&self, seat: &Seat, by: By<'_>, ticket: Option<&TicketId>) -> Result<(), TicketError> {
        let viewers = &self.hub.viewers;
        match ticket {
            Some(ticket) => {
                let ticket = viewers.look(seat.desk(), &seat.user, by.reach, ticket).await?;
                seat.watched.look(&ticket.id, &ticket.router_id, None);
            }
            None if seat.watched.look_away() => viewers.look_away(seat.desk()).await?,
            None => {}
        }
        Ok(())
    }

    /// Shows the figures to whoever may read reports, or stops it.
    async fn monitor(
        &self,
        command: Option<DeskCommand>,
        payload: Value,
        seat: &Seat,
        caller: &Authenticated,
    ) -> Result<Value, Refusal> {
        match command {
            Some(DeskCommand::MonitoringJoin) => {
                let Monitor { router_id } = self.read(payload)?;
                let reports = caller.require(Resource::Reports, Action::Read);
                let reports = reports.map_err(|error| self.refused(&error))?;
                reports.admit(router_id.clone()).map_err(|error| self.refused(&error))?;
                seat.monitor(router_id, reports);
                let shown = self.hub.show_figures(seat, self.cx.now()).await;
                shown.map_err(|error| self.refused(&error))?;
            }
            Some(DeskCommand::MonitoringLeave) => {
                let Nothing {} = self.read(payload)?;
                seat.stop_monitoring();
            }
            _ => return Err(self.unknown()),
        }
        Ok(json!({}))
    }

    async fn reply(&self, payload: Value, by: By<'_>, user: &UserId) -> Result<Value, Refusal> {
        let digest = hex::encode(Sha256::digest(payload.to_string()));
        let Reply { ticket_id, text, content, last_seen_message_id, command_id } = self.read(payload)?;
        if text.as_deref().is_some_and(|text| !is_text(text, MAX_TEXT)) {
            return Err(self.invalid("text"));
        }
        let key = command_id.map(|id| IdempotencyKey::parse(&id)).transpose();
        let key = key.map_err(|_| self.invalid("commandId"))?;
        let once = key.map(|key| Once {
            request: IdempotentRequest { principal_id: user.to_string(), key, digest },
            answer: |done: &Replied| StoredAnswer {
                status: 201,
                body: serde_json::to_string(done).unwrap_or_default(),
            },
        });
        let reply = ReplyToContact { text, content, last_seen_message_id };
        let outcome = self.desk.reply(by, &ticket_id, reply, once).await;
        match outcome.map_err(|error| self.refused(&error))? {
            Outcome::Done(replied) => Ok(json!(replied)),
            Outcome::Replayed(answer) => Ok(serde_json::from_str(&answer.body).unwrap_or_default()),
        }
    }

    fn read<T: DeserializeOwned>(&self, payload: Value) -> Result<T, Refusal> {
        // Serde alone would take a list of the fields' values for an object.
        let payload = if payload.is_null() { json!({}) } else { payload };
        let fields = Some(payload).filter(Value::is_object);
        let read = fields.map(serde_json::from_value);
        read.and_then(Result::ok)
            .ok_or_else(|| self.worded("invalid_payload", "Dados inválidos", "Invalid data"))
    }

    fn invalid(&self, field: &str) -> Refusal {
        let (portuguese, english) = (format!("Campo inválido: {field}"), format!("Invalid field: {field}"));
        self.worded("invalid_payload", &portuguese, &english)
    }

    fn unknown(&self) -> Refusal {
        self.worded("event_unknown", "Evento desconhecido", "Unknown event")
    }

    pub(super) fn refused(&self, error: &impl Fault) -> Refusal {
        Refusal::of(error, self.language)
    }

    fn worded(&self, code: &'static str, portuguese: &str, english: &str) -> Refusal {
        let message = if self.language == Language::English { english } else { portuguese };
        Refusal { code, message: message.to_owned() }
    }
}

/// Returns whether a text says something within this many characters.
fn is_text(text: &str, most: usize) -> bool {
    !text.trim().is_empty() && text.chars().count() <= most
}
