//! The business accounts at the provider, as deliveries name them.

use async_trait::async_trait;
use flowsdk_core::crypto::Encrypted;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, RouterId};
use flowsdk_core::session::SessionId;

/// A number of a business account, with what the deliveries about it are checked with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountNumber {
    /// The provider's id of the business account.
    pub account_id: String,
    /// The provider's id of the number.
    pub phone_number_id: String,
    /// The router that the number belongs to.
    pub router_id: RouterId,
    /// The secret of the router's app, which signs the deliveries.
    pub app_secret: Option<Encrypted>,
}

/// Business accounts of one transaction.
#[async_trait]
pub trait PhoneAccountRepository: Send {
    /// Returns the numbers of these business accounts.
    async fn numbers_of(&mut self, accounts: &[String]) -> Result<Vec<AccountNumber>, StorageError>;

    /// Returns the tokens with which the provider proves itself when a webhook is set up: that of one router, if it is
    /// given, else those of all.
    async fn verify_tokens(&mut self, router: Option<&RouterId>) -> Result<Vec<String>, StorageError>;

    /// Returns the sessions that contacts with these identities have at a number, the one that was used last first. Each
    /// comes with the identity that was asked for.
    async fn sessions_at(
        &mut self,
        phone_number_id: &str,
        identities: &[String],
    ) -> Result<Vec<(String, SessionId)>, StorageError>;

    /// Returns the app secrets of the routers that know a contact.
    async fn secrets_around(&mut self, contact: &ContactId) -> Result<Vec<Option<Encrypted>>, StorageError>;
}

/// A transaction with business accounts of the phone channel.
pub trait HasPhoneAccounts: Send {
    /// Returns the repository of this transaction.
    fn phone_accounts(&mut self) -> &mut dyn PhoneAccountRepository;
}
