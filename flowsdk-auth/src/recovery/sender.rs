//! Sends the codes: a task of its own, so that nobody who asks waits for a provider.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::PasswordRecoveryId;
use flowsdk_core::store::{Store, Transaction as _};
use futures_util::stream::{self, StreamExt as _};
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{HasPasswordRecoveries, PasswordRecovery, code};
use crate::sms::{Sms, SmsError, SmsPurpose, SmsSender};
use crate::user::{Email, HasUsers};

/// How long a code is good (spec A 8).
const VALID_FOR: Duration = Duration::from_secs(30 * 60);
/// Requests that are worked on at once.
const PARALLEL: usize = 8;
/// The pauses after a transient failure: a lookup or a message is tried once more than there are.
const PAUSES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(3)];

/// Looks up who asked for a code, stores it and sends it.
#[derive(Debug)]
pub struct RecoverySender<S> {
    worker: Worker<S>,
    requests: mpsc::Receiver<Email>,
}

#[derive(Debug)]
struct Worker<S> {
    store: Arc<S>,
    cx: OpContext,
    sms: Arc<dyn SmsSender>,
}

impl<S: Store> RecoverySender<S>
where
    S::Tx: HasUsers + HasPasswordRecoveries,
{
    pub(super) fn new(
        store: Arc<S>,
        cx: OpContext,
        sms: Arc<dyn SmsSender>,
        requests: mpsc::Receiver<Email>,
    ) -> Self {
        Self { worker: Worker { store, cx, sms }, requests }
    }

    /// Sends until `stop`, then sends the earlier requests, and ends.
    pub async fn run(self, stop: CancellationToken) {
        let Self { worker, requests } = self;
        let requests = stream::unfold((requests, stop.clone()), |(mut requests, stop)| async {
            if !requests.is_closed() {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => requests.close(),
                    request = requests.recv() => return request.map(|request| (request, (requests, stop))),
                }
            }
            requests.recv().await.map(|request| (request, (requests, stop)))
        });
        requests.for_each_concurrent(PARALLEL, |email| worker.answer(email)).await;
        // The task lasts as long as its supervisor expects, also when nobody can ask any more.
        stop.cancelled().await;
    }
}

impl<S: Store> Worker<S>
where
    S::Tx: HasUsers + HasPasswordRecoveries,
{
    /// Sends a code to the user of the address, if there is one.
    async fn answer(&self, email: Email) {
        let mut pauses = PAUSES.iter();
        let prepared = loop {
            match self.prepare(&email).await {
                Err(error) if error.is_transient() => match pauses.next() {
                    Some(pause) => tokio::time::sleep(*pause).await,
                    None => break Err(error),
                },
                prepared => break prepared,
            }
        };
        match prepared {
            Ok(Some(sms)) => self.send(sms).await,
            Ok(None) => {}
            Err(error) => tracing::error!(error = %Chain(&error), "a recovery was not begun"),
        }
    }

    /// Stores a new code, the only one that counts from then on, and returns the message that tells it.
    async fn prepare(&self, email: &Email) -> Result<Option<Sms>, StorageError> {
        let mut tx = self.store.begin().await?;
        let Some(user) = tx.users().find_by_email(email).await? else {
            return Ok(None);
        };
        if user.phone.trim().is_empty() {
            tracing::warn!(user = user.id.as_str(), "no phone to send a recovery code to");
            return Ok(None);
        }
        // One request after the other, so that exactly one code is left open.
        let Some(user) = tx.users().find_for_update(&user.id).await? else {
            return Ok(None);
        };
        let (id, code, now) = (PasswordRecoveryId::generate(self.cx.ids()), code::generate(), self.cx.now());
        let recovery = PasswordRecovery {
            code_hash: code::hash(&id, &code),
            id,
            user_id: user.id,
            expires_at: now + VALID_FOR,
            completed: false,
            wrong_tries: 0,
            created_at: now,
        };
        tx.password_recoveries().complete_all(&recovery.user_id).await?;
        tx.password_recoveries().insert(&recovery).await?;
        tx.commit().await?;
        Ok(Some(Sms {
            to: user.phone,
            text: text(&code),
            purpose: SmsPurpose::PasswordRecovery,
            message_id: recovery.id.to_string(),
        }))
    }

    /// The id of the message stays the same when it is sent again, so that the provider can tell.
    async fn send(&self, sms: Sms) {
        let mut pauses = PAUSES.iter();
        while let Err(error) = self.sms.send(&sms).await {
            match (&error, pauses.next()) {
                (SmsError::Unavailable(_), Some(pause)) => tokio::time::sleep(*pause).await,
                _ => {
                    let recovery = sms.message_id.as_str();
                    return tracing::error!(error = %Chain(&error), recovery, "a recovery code was not sent");
                }
            }
        }
    }
}

/// Returns the text that the user reads.
fn text(code: &SecretString) -> SecretString {
    let minutes = VALID_FOR.as_secs() / 60;
    let code = code.expose_secret();
    SecretString::from(format!("Seu código para redefinir a senha: {code}. Válido por {minutes} minutos."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_fits_into_one_text_message() {
        let text = text(&"a1b2c3".into());
        assert_eq!(text.expose_secret(), "Seu código para redefinir a senha: a1b2c3. Válido por 30 minutos.");
        // With letters such as ó and á a text message has 70 characters.
        assert!(text.expose_secret().chars().count() <= 70);
    }
}
