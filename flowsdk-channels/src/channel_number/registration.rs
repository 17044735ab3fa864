//! Makes the public key of a number's forms known to the provider (WhatsApp Cloud API, "Set business public key").

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use flowsdk_core::change::{Author, Change, ChangeLog, Recorded as _};
use flowsdk_core::channel::{SendError, SendingAccount};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::{Fault, StorageError};
use flowsdk_core::id::ChannelNumberId;
use flowsdk_core::router::Reach;
use flowsdk_core::store::Store;

use super::service::within;
use super::{ChannelNumber, ChannelNumberError, HasChannelNumbers};
use crate::ProviderFault;

/// The keys that the provider knows.
#[async_trait]
pub trait FormKeyRegistry: Send + Sync + Debug {
    /// Gives the provider the public key of a number, an SPKI PEM, in place of the one before.
    ///
    /// # Errors
    /// [`SendError`].
    async fn register(&self, account: &SendingAccount, public_key: &str) -> Result<(), SendError>;
}

/// The reason why a key was not registered.
#[derive(Debug, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum RegistrationError {
    /// The number has no access token that can be read.
    #[error("no access token")]
    #[fault(
        Unprocessable,
        "no_access_token",
        pt = "O número não tem um token de acesso",
        en = "The number has no access token"
    )]
    NoToken,
    /// The provider has not taken it.
    #[error(transparent)]
    #[fault(transparent)]
    Provider(#[from] ProviderFault),
    /// The number or its keys are not there.
    #[error(transparent)]
    #[fault(transparent)]
    Number(#[from] ChannelNumberError),
}

impl From<StorageError> for RegistrationError {
    fn from(error: StorageError) -> Self {
        Self::Number(error.into())
    }
}

/// Registers keys.
#[derive(Debug)]
pub struct FormKeyRegistration<S> {
    store: Arc<S>,
    registry: Arc<dyn FormKeyRegistry>,
    master_key: Arc<MasterKey>,
    cx: OpContext,
    changes: Arc<dyn ChangeLog>,
}

impl<S: Store> FormKeyRegistration<S>
where
    S::Tx: HasChannelNumbers,
{
    /// Creates a service over `store` that calls `registry` and notes in `changes` what it did.
    pub fn new(
        store: Arc<S>,
        registry: Arc<dyn FormKeyRegistry>,
        master_key: Arc<MasterKey>,
        cx: OpContext,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, registry, master_key, cx, changes }
    }

    /// Gives the provider the public key of a number. Doing it again changes nothing there.
    ///
    /// # Errors
    /// [`RegistrationError`].
    pub async fn register(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelNumberId,
    ) -> Result<ChannelNumber, RegistrationError> {
        let number = within(self.store.read().await?.channel_numbers().find(id).await?, reach)?;
        let keys = number.keys.as_ref().ok_or(ChannelNumberError::NoKeys)?;
        let token = number.access_token.as_ref().and_then(|token| self.master_key.decrypt(token).ok());
        let access_token = token.ok_or(RegistrationError::NoToken)?;
        let account = SendingAccount { id: number.phone_number_id.to_string(), access_token };
        self.registry.register(&account, &keys.public_key).await.map_err(ProviderFault::from)?;
        let (before, mut after) = (number.to_json(), number.to_json());
        after["publicKeyRegisteredAt"] = self.cx.now().to_iso().into();
        self.changes.note(author, number.entity(), Change::Updated { before, after, hidden: Vec::new() });
        Ok(number)
    }
}
