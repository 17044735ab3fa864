//! Whether a number sends.

use flowsdk_core::id::ChannelNumberId;
use flowsdk_core::router::Reach;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::store::Store;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::service::within;
use super::{ChannelNumberError as Error, ChannelNumbers, HasChannelNumbers};
use crate::phone::sending::{HasOutbound, Pause};

/// What keeps a number from sending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub enum HealthStatus {
    /// Nothing.
    Ok,
    /// The provider refuses its account, such as its token. What is to be sent waits.
    Paused,
    /// It has no access token.
    NoAccessToken,
    /// It is not active.
    Inactive,
}

/// The error for which a number is paused.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct HealthError {
    /// The code of the provider.
    #[schema(example = 190)]
    code: i64,
    /// The words of the provider.
    #[schema(required = true)]
    title: Option<String>,
}

/// Whether a number sends, and how many messages wait for it.
#[derive(Debug, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ChannelNumberHealth)]
pub struct ChannelNumberHealth {
    status: HealthStatus,
    /// Why it is paused; null otherwise.
    #[schema(required = true)]
    error: Option<HealthError>,
    /// Since when it is paused; null otherwise.
    #[schema(required = true)]
    paused_at: Option<IsoTime>,
    /// Messages that wait to be sent, or whose call is under way.
    waiting: i64,
    /// Since when the oldest of them waits; null where none does.
    #[schema(required = true)]
    waiting_since: Option<IsoTime>,
}

impl<S: Store> ChannelNumbers<S>
where
    S::Tx: HasChannelNumbers + HasOutbound,
{
    /// Returns whether a number within the caller's reach sends.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Storage`].
    pub async fn health(&self, reach: Reach<'_>, id: &ChannelNumberId) -> Result<ChannelNumberHealth, Error> {
        let mut tx = self.store.read().await?;
        let number = within(tx.channel_numbers().find(id).await?, reach)?;
        let asked = number.phone_number_id.as_str();
        let states = tx.outbound().numbers(&[asked.to_owned()]).await?;
        let (waiting, waiting_since) = tx.outbound().waiting(asked).await?;
        let state = states.into_iter().next().ok_or(Error::NotFound)?;
        let (status, pause) = (state.health(), state.pause);
        Ok(ChannelNumberHealth {
            status,
            paused_at: pause.as_ref().map(|pause| IsoTime(pause.since)),
            error: pause.map(|Pause { error, .. }| HealthError { code: error.code, title: error.title }),
            waiting,
            waiting_since: waiting_since.map(IsoTime),
        })
    }
}
