//! How the desk gets to its connection, and what it does when it is lost.

use flowsdk_core::fault::{BoxError, Chain};
use serde_json::json;
use tokio::time::Instant;

use super::agent::Agent;
use super::line::Line;
use super::link::{Link, LinkError, pause};
use crate::remote::RemoteError;

/// The error of a user who may not work at the helpdesk.
pub(super) const NO_RIGHTS: &str = "this user has no rights on the helpdesk: their group needs `helpdesk` with `read` \
                                    and `write`, and `chats` with `read`";
/// The error of a login that the server no longer takes.
const LOGIN_ENDED: &str = "the login has ended: start the desk again";

impl Agent<'_> {
    /// Connects, for the news that were not shown yet. Where that fails for a time, the next attempt is due later.
    ///
    /// # Errors
    /// The server refuses the user, or nothing can be printed.
    pub(super) async fn connect(&mut self) -> Result<(), BoxError> {
        let session = self.client.session();
        let opened = Link::open(self.client.http(), &session.url, &session.access_token, self.since).await;
        match opened {
            Ok(link) => self.enter(link).await,
            Err(LinkError::Refused(code)) if code == "permission_denied" => Err(NO_RIGHTS.into()),
            // The socket does not tell a token that has run out from one that is none.
            Err(LinkError::Refused(code)) if code.starts_with("token_") && !self.is_renewed => {
                self.renew().await
            }
            Err(LinkError::Refused(code)) if code.starts_with("token_") || code == "session_ended" => {
                Err(LOGIN_ENDED.into())
            }
            Err(error) => {
                self.put_off();
                self.tell_away(&Chain(&error).to_string())
            }
        }
    }

    /// Has another token for the next attempt.
    async fn renew(&mut self) -> Result<(), BoxError> {
        self.put_off();
        match self.client.renew().await {
            Ok(()) => {
                self.is_renewed = true;
                Ok(())
            }
            Err(error) if error.may_pass() => Ok(()),
            Err(error) => Err(ended(error)),
        }
    }

    async fn enter(&mut self, link: Link) -> Result<(), BoxError> {
        let is_first = self.since.is_none();
        self.link = Some(link);
        (self.is_away, self.is_renewed) = (false, false);
        let url = &self.client.session().url;
        let text = format!("connected to {url} as {}", self.client.session().email);
        (self.print)(Line::of_desk("desk:connected", text))?;
        if is_first {
            self.list("list").await?;
        }
        self.emit("agent:status", &json!({ "status": self.status })).await?;
        self.send_on().await
    }

    /// Forgets the connection, and is due to have another one.
    ///
    /// # Errors
    /// Nothing can be printed.
    pub(super) fn lose(&mut self) -> Result<(), BoxError> {
        self.link = None;
        self.put_off();
        self.tell_away("the connection is lost")?;
        self.hold_on()
    }

    fn put_off(&mut self) {
        self.next_attempt = Instant::now() + pause(self.attempts);
        self.attempts = self.attempts.saturating_add(1);
    }

    fn tell_away(&mut self, why: &str) -> Result<(), BoxError> {
        if std::mem::replace(&mut self.is_away, true) {
            return Ok(());
        }
        (self.print)(Line::of_desk("desk:lost", format!("{why}: connecting again")))
    }
}

/// Returns an error in words that fit the desk, whose login is kept nowhere.
pub(super) fn ended(error: RemoteError) -> BoxError {
    match error {
        RemoteError::LoggedOut { .. } => LOGIN_ENDED.into(),
        error => error.into(),
    }
}
