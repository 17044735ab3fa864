//! The keys of a number's interactive forms (spec A 4.7).

use flowsdk_core::change::{Author, Change, Recorded as _};
use flowsdk_core::id::ChannelNumberId;
use flowsdk_core::idempotency::HasIdempotency;
use flowsdk_core::router::{HasRouters, Reach};
use flowsdk_core::session::HasLiveSessions;
use flowsdk_core::store::Store;
use secrecy::SecretString;

use super::{ChannelNumber, ChannelNumberError as Error, ChannelNumbers, FormKeys, HasChannelNumbers};
use crate::phone::sending::HasOutbound;

/// A private key on its way to the service that answers forms.
#[derive(Debug)]
pub struct ExportedKey {
    /// PKCS#8 PEM, protected by the passphrase.
    pub private_key: SecretString,
    /// Opens the private key: 64 hexadecimal digits.
    pub passphrase: SecretString,
}

impl<S: Store> ChannelNumbers<S>
where
    S::Tx: HasChannelNumbers + HasOutbound + HasRouters + HasLiveSessions + HasIdempotency,
{
    /// Replaces the key pair of a number. Data encrypted with the old pair cannot be read any
    /// more, so the provider has to be given the new public key.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Keys`], [`Error::Storage`].
    pub async fn generate_keys(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelNumberId,
    ) -> Result<ChannelNumber, Error> {
        // Checked first, so that a caller without access causes no work.
        self.get(reach, id).await?;
        let pair = self.maker.make().await?;
        let keys = FormKeys::seal(&pair, &self.master_key);
        self.rewrite(author, reach, id, |number| ChannelNumber { keys: Some(keys), ..number }).await
    }

    /// The private key of a number and its passphrase. Every export is logged and on record (spec A 4.7,
    /// rulings A11).
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::NoKeys`], [`Error::Sealed`], [`Error::Storage`].
    pub async fn export_private_key(
        &self,
        author: &Author,
        reach: Reach<'_>,
        id: &ChannelNumberId,
    ) -> Result<ExportedKey, Error> {
        let number = self.get(reach, id).await?;
        let keys = number.keys.as_ref().ok_or(Error::NoKeys)?;
        let exported = ExportedKey {
            private_key: self.master_key.decrypt(&keys.private_key)?,
            passphrase: self.master_key.decrypt(&keys.passphrase)?,
        };
        tracing::warn!(channel_number = %id, router = %number.router_id, author = author.id, ip = author.ip,
            "the private key of a phone number was exported");
        let (before, mut after) = (number.to_json(), number.to_json());
        after["privateKeyExportedAt"] = self.cx.now().to_iso().into();
        self.changes.note(author, number.entity(), Change::Updated { before, after, hidden: Vec::new() });
        Ok(exported)
    }
}
