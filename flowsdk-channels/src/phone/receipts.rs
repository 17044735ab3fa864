//! The consumer of `stream:read-receipts`: contacts see that their messages were read, and that somebody types (WhatsApp
//! Cloud API, "Mark messages as read", "Typing indicators").

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::channel::{ChannelSender, SendError};
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::event::ReadReceipt;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::store::Store;
use flowsdk_core::stream::broker::Entry;
use flowsdk_core::stream::consumer::{BatchHandler, Verdict, Work};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_core::time::Timestamp;
use futures_util::future::join_all;

use super::sending::{HasOutbound, NumberState};

/// The consumer group on `stream:read-receipts`.
pub const RECEIPTS_GROUP: &str = "phone-receipts";

/// How long the provider shows that somebody types.
const TYPING_SHOWN: Duration = Duration::from_secs(25);
/// A receipt that is older says nothing any more.
const WORTH_TELLING: Duration = Duration::from_secs(60 * 60);

/// Tells the provider what was read. A receipt that fails is not tried again: it is a courtesy, and the next one counts for
/// all messages before it.
#[derive(Debug)]
pub struct ReceiptTeller<S> {
    store: Arc<S>,
    channel: Arc<dyn ChannelSender>,
    key: Arc<MasterKey>,
    cx: OpContext,
}

impl<S: Store> ReceiptTeller<S>
where
    S::Tx: HasOutbound,
{
    /// Creates a consumer that finds the tokens of numbers in `store`, and calls `channel`.
    pub fn new(store: Arc<S>, channel: Arc<dyn ChannelSender>, key: Arc<MasterKey>, cx: OpContext) -> Self {
        Self { store, channel, key, cx }
    }

    /// Returns the numbers of receipts, by the provider's id.
    async fn numbers(&self, receipts: &[&ReadReceipt]) -> Result<HashMap<String, NumberState>, StorageError> {
        let mut ids: Vec<String> =
            receipts.iter().map(|receipt| receipt.session_id.transport().to_owned()).collect();
        ids.sort_unstable();
        ids.dedup();
        let states = self.store.read().await?.outbound().numbers(&ids).await?;
        Ok(states.into_iter().map(|state| (state.phone_number_id.clone(), state)).collect())
    }

    async fn tell(&self, receipt: &ReadReceipt, number: &NumberState) {
        let Some(is_typing) = is_typing_told(receipt, self.cx.now()) else { return };
        // A number that is paused is not called until the probe succeeds.
        if !number.active || number.pause.is_some() {
            return;
        }
        let Some(account) = number.account(&self.key) else { return };
        let told = self.channel.mark_read(&account, &receipt.channel_message_id, is_typing).await;
        match told {
            Ok(()) => metrics::counter!("flowsdk_phone_receipts", "outcome" => "told").increment(1),
            Err(error) => {
                metrics::counter!("flowsdk_phone_receipts", "outcome" => "failed").increment(1);
                let code = if let SendError::Refused(refusal) = &error { refusal.error.code } else { 0 };
                tracing::debug!(
                    session = %receipt.session_id, code, error = %Chain(&error), "a read receipt is not told"
                );
            }
        }
    }
}

/// Returns whether a receipt shows that somebody types; `None` of one that is too old to be told.
fn is_typing_told(receipt: &ReadReceipt, now: Timestamp) -> Option<bool> {
    let age = now.since(receipt.timestamp);
    (age <= WORTH_TELLING).then_some(receipt.is_typing && age < TYPING_SHOWN)
}

#[async_trait]
impl<S: Store> BatchHandler for ReceiptTeller<S>
where
    S::Tx: HasOutbound,
{
    type Event = ReadReceipt;
    type Output = ();

    fn parse(&self, _topic: TopicName, entry: &Entry) -> Result<ReadReceipt, String> {
        serde_json::from_str(&entry.payload).map_err(|error| error.to_string())
    }

    async fn handle(&self, batch: &[Work<ReadReceipt, ()>]) -> Vec<Verdict<()>> {
        let receipts: Vec<&ReadReceipt> = batch.iter().map(|work| work.event()).collect();
        match self.numbers(&receipts).await {
            Ok(numbers) => {
                let known = receipts
                    .into_iter()
                    .filter_map(|receipt| Some((receipt, numbers.get(receipt.session_id.transport())?)));
                join_all(known.map(|(receipt, number)| self.tell(receipt, number))).await;
                Verdict::of_write(batch.len(), &Ok(()))
            }
            Err(error) => Verdict::of_write(batch.len(), &Err(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_receipts_show_less() {
        let now = Timestamp::from_millis(1_795_700_000_000);
        let second = Duration::from_secs(1);
        for (age, is_typing, told) in [
            (Duration::ZERO, true, Some(true)),
            (Duration::ZERO, false, Some(false)),
            (TYPING_SHOWN - second, true, Some(true)),
            (TYPING_SHOWN, true, Some(false)),
            (WORTH_TELLING, true, Some(false)),
            (WORTH_TELLING + second, true, None),
        ] {
            let receipt = ReadReceipt {
                session_id: "wa-111-5511987654321".parse().expect("a session"),
                channel_message_id: "wamid.1".to_owned(),
                is_typing,
                timestamp: now - age,
            };
            assert_eq!(is_typing_told(&receipt, now), told, "{age:?} {is_typing}");
        }
    }
}
