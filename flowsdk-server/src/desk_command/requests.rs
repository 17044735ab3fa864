//! What the desk asks the API for.

use flowsdk_core::fault::{BoxError, Chain};
use serde::Deserialize;
use serde_json::Value;

use super::agent::Agent;
use super::answers;
use super::connecting::{NO_RIGHTS, ended};
use super::line::Line;
use crate::remote::{Client, RemoteError};

/// How many messages of a chat are shown: the last ones.
const SHOWN_MESSAGES: &str = "50";

#[derive(Deserialize)]
struct Page {
    items: Vec<Value>,
}

#[derive(Deserialize)]
struct Me {
    id: String,
    permissions: Vec<Value>,
}

/// Returns the id of the user, who may work at the helpdesk.
///
/// # Errors
/// They may not, or the server cannot be reached.
pub(super) async fn me(client: &mut Client) -> Result<String, BoxError> {
    let me: Me = client.get("/auth/me", &[]).await?;
    let may = |action: &str| {
        let helpdesk = me.permissions.iter().filter(|permission| permission["resource"] == "helpdesk");
        helpdesk.filter_map(|permission| permission["actions"].as_array()).flatten().any(|may| may == action)
    };
    if may("read") && may("write") { Ok(me.id) } else { Err(NO_RIGHTS.into()) }
}

impl Agent<'_> {
    /// Prints the tickets of the agent or, for `waiting`, those that wait.
    ///
    /// # Errors
    /// The login has ended, or nothing can be printed.
    pub(super) async fn list(&mut self, command: &'static str) -> Result<(), BoxError> {
        let query = match command {
            "waiting" => vec![("status", "waiting")],
            _ => vec![("status", "assigned"), ("assignedUserId", self.user.as_str())],
        };
        let listed = self.client.all("/tickets", &query).await;
        self.print_answer(command, listed, |agent, items| answers::tickets(command, items, &mut agent.names))
    }

    /// Prints the queues and agents to whom a ticket can be transferred.
    ///
    /// # Errors
    /// The login has ended, or nothing can be printed.
    pub(super) async fn targets(&mut self, ticket: &str) -> Result<(), BoxError> {
        let found: Result<Value, RemoteError> =
            self.client.get(&format!("/tickets/{ticket}/targets"), &[]).await;
        self.print_answer("targets", found, |agent, found| answers::targets(ticket, found, &mut agent.names))
    }

    /// Prints the last messages of a ticket's chat.
    ///
    /// # Errors
    /// The login has ended, or nothing can be printed.
    pub(super) async fn read(&mut self, ticket: &str) -> Result<(), BoxError> {
        let said = self.messages_of(ticket).await;
        self.print_answer("read", said, |agent, items| answers::messages(ticket, &items, &mut agent.names))
    }

    async fn messages_of(&mut self, ticket: &str) -> Result<Vec<Value>, RemoteError> {
        let found: Value = self.client.get(&format!("/tickets/{ticket}"), &[]).await?;
        let chat = found["chatId"].as_str().unwrap_or_default();
        let path = format!("/chats/{chat}/messages");
        let Page { mut items } = self.client.get(&path, &[("limit", SHOWN_MESSAGES)]).await?;
        // They come newest first.
        items.reverse();
        Ok(items)
    }

    fn print_answer<T>(
        &mut self,
        command: &str,
        answer: Result<T, RemoteError>,
        shown: impl FnOnce(&mut Self, T) -> Line,
    ) -> Result<(), BoxError> {
        let line = match answer {
            Ok(answer) => shown(self, answer),
            Err(RemoteError::Refused(refusal)) => Line::refused(command, &refusal.code, &refusal.message),
            Err(error @ RemoteError::LoggedOut { .. }) => return Err(ended(error)),
            Err(error) => Line::refused(command, "unreachable", &Chain(&error).to_string()),
        };
        (self.print)(line)
    }
}
