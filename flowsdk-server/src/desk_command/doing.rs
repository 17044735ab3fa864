//! Commands over the socket: one at a time, and what becomes of them when the connection is lost.

use std::ops::ControlFlow;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use serde_json::{Value, json};

use super::agent::Agent;
use super::answers;
use super::command::{self, Command, HELP, Receiver};
use super::line::Line;

/// A command that is not answered yet.
#[derive(Debug)]
pub(super) struct Doing {
    /// The word that the agent wrote.
    name: &'static str,
    event: &'static str,
    payload: Value,
    /// The number of its answer, once it was sent over the connection that there is.
    sent: Option<u64>,
}

impl Doing {
    /// Whether nothing happens twice when it is sent twice. A second `pickup` would take a second ticket.
    fn may_repeat(&self) -> bool {
        matches!(self.event, "agent:reply" | "agent:status")
    }
}

impl Agent<'_> {
    /// Reads a line and does what it asks for; breaks at the end of the desk.
    ///
    /// # Errors
    /// The login has ended, or nothing can be printed.
    pub(super) async fn obey(&mut self, line: &str) -> Result<ControlFlow<()>, BoxError> {
        match command::read(line) {
            Ok(None) => {}
            Ok(Some(Command::Quit)) => return Ok(ControlFlow::Break(())),
            Ok(Some(command)) => self.carry_out(command).await?,
            Err(error) => {
                (self.print)(Line::refused(command::name(line), "invalid_command", &error.to_string()))?;
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    async fn carry_out(&mut self, command: Command) -> Result<(), BoxError> {
        match command {
            Command::Quit => Ok(()),
            Command::Help => {
                (self.print)(Line::new(HELP, json!({ "answer": "help", "ok": true, "text": HELP })))
            }
            Command::List => self.list("list").await,
            Command::Waiting => self.list("waiting").await,
            Command::Read { ticket } => match self.meant("read", &ticket)? {
                Some(id) => self.read(&id).await,
                None => Ok(()),
            },
            Command::Targets { ticket } => match self.meant("targets", &ticket)? {
                Some(id) => self.targets(&id).await,
                None => Ok(()),
            },
            Command::Status(status) => {
                self.status = status;
                self.begin("status", "agent:status", json!({ "status": status })).await
            }
            Command::Pickup => self.begin("pickup", "agent:pickup", json!({})).await,
            Command::Accept { ticket } => self.on(&ticket, "accept", "agent:accept", json!({})).await,
            Command::Decline { ticket } => self.on(&ticket, "decline", "agent:decline", json!({})).await,
            Command::Reply { ticket, text } => {
                let id = OpContext::system().ids().next_id();
                self.on(&ticket, "reply", "agent:reply", json!({ "text": text, "commandId": id })).await
            }
            Command::Transfer { ticket, to } => {
                let to = match to {
                    Receiver::User(id) => json!({ "toUserId": id }),
                    Receiver::Queue(id) => json!({ "toQueueId": id }),
                };
                self.on(&ticket, "transfer", "agent:transfer", to).await
            }
            Command::Close { ticket, reason } => {
                let why = reason.map_or_else(|| json!({}), |reason| json!({ "reason": reason }));
                self.on(&ticket, "close", "agent:close", why).await
            }
        }
    }

    /// Begins a command on a ticket.
    async fn on(
        &mut self,
        ticket: &str,
        name: &'static str,
        event: &'static str,
        mut payload: Value,
    ) -> Result<(), BoxError> {
        let Some(id) = self.meant(name, ticket)? else { return Ok(()) };
        payload["ticketId"] = id.into();
        self.begin(name, event, payload).await
    }

    fn meant(&mut self, name: &str, ticket: &str) -> Result<Option<String>, BoxError> {
        let id = self.names.meant(ticket);
        if id.is_none() {
            let message =
                format!("there is no ticket `{ticket}`: `list` and `waiting` show those that there are");
            (self.print)(Line::refused(name, "ticket_unknown", &message))?;
        }
        Ok(id)
    }

    async fn begin(
        &mut self,
        name: &'static str,
        event: &'static str,
        payload: Value,
    ) -> Result<(), BoxError> {
        self.doing = Some(Doing { name, event, payload, sent: None });
        self.send_on().await
    }

    /// Sends the command that there is, unless it was or there is no connection: then it waits for one.
    ///
    /// # Errors
    /// Nothing can be printed.
    pub(super) async fn send_on(&mut self) -> Result<(), BoxError> {
        let Some(mut doing) = self.doing.take_if(|doing| doing.sent.is_none()) else { return Ok(()) };
        let sent = self.emit(doing.event, &doing.payload).await?;
        doing.sent = sent;
        self.doing = Some(doing);
        Ok(())
    }

    /// Keeps a command whose answer is lost, to be sent again; if it must not be, its agent is told.
    ///
    /// # Errors
    /// Nothing can be printed.
    pub(super) fn hold_on(&mut self) -> Result<(), BoxError> {
        let Some(mut doing) = self.doing.take_if(|doing| doing.sent.is_some()) else { return Ok(()) };
        if doing.may_repeat() {
            doing.sent = None;
            self.doing = Some(doing);
            return Ok(());
        }
        let message = "the connection was lost before the answer came: `list` shows what holds";
        (self.print)(Line::refused(doing.name, "connection_lost", message))
    }

    /// Prints the answer to the command that there is.
    ///
    /// # Errors
    /// Nothing can be printed.
    pub(super) fn finish(&mut self, id: u64, answer: &Value) -> Result<(), BoxError> {
        let Some(doing) = self.doing.take_if(|doing| doing.sent == Some(id)) else { return Ok(()) };
        let ticket = doing.payload["ticketId"].as_str();
        (self.print)(answers::shown(doing.name, ticket, answer, &mut self.names))
    }
}
