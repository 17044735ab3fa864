//! How far an outgoing message came (spec A 3.1, rulings C4).

use serde::{Deserialize, Serialize};

use crate::cell::Named;
use crate::schema::SchemaAttributes;

/// The status of an outgoing message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum MessageStatus {
    /// Stored, not yet confirmed by the channel.
    Pending,
    /// The channel has it.
    Sent,
    /// The contact's device has it.
    Delivered,
    /// The contact opened it.
    Read,
    /// The contact played it.
    Played,
    /// It will not arrive.
    Failed,
}

impl MessageStatus {
    /// Returns its rank: pending < sent < delivered < read < played.
    const fn rank(self) -> u8 {
        match self {
            Self::Pending => 0,
            Self::Sent => 1,
            Self::Delivered => 2,
            Self::Read => 3,
            Self::Played => 4,
            Self::Failed => 5,
        }
    }

    /// Returns the statuses from which a message may come to `self`.
    pub fn predecessors(self) -> &'static [MessageStatus] {
        match self {
            Self::Pending => &[],
            Self::Sent => &[Self::Pending],
            Self::Delivered | Self::Failed => &[Self::Pending, Self::Sent],
            Self::Read => &[Self::Pending, Self::Sent, Self::Delivered],
            Self::Played => &[Self::Pending, Self::Sent, Self::Delivered, Self::Read],
        }
    }
}

/// Why a message failed, as the provider reports it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, SchemaAttributes)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct StatusError {
    /// The code of the provider.
    #[schema(example = 131_026)]
    pub code: i64,
    /// The text of the provider.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "Message undeliverable")]
    pub title: Option<String>,
}

/// The code by which the provider of the phone channel refuses what the contact has stopped (WhatsApp Cloud API, "Error
/// codes": 131050).
const STOPPED: i64 = 131_050;

/// The codes by which a provider refuses a message because the window of its contact is closed (rulings C1): 131026 as the
/// contract has it, and 131047, which is that of the phone channel (WhatsApp Cloud API, "Error codes").
pub const WINDOW_CODES: &[i64] = &[131_026, 131_047];

impl StatusError {
    /// Returns whether the contact has told the provider that businesses may not write to them first.
    pub fn is_opt_out(&self) -> bool {
        self.code == STOPPED
    }
}

/// Returns the status after `event`: a lower or equal rank changes nothing, steps may be skipped, `failed` comes
/// only from pending or sent and is final.
pub fn advance(current: MessageStatus, event: MessageStatus) -> MessageStatus {
    if event.predecessors().contains(&current) { event } else { current }
}

/// Returns the later of two statuses that were reported for one message, in any order.
pub(crate) fn later(one: MessageStatus, other: MessageStatus) -> MessageStatus {
    let (low, high) = if one.rank() <= other.rank() { (one, other) } else { (other, one) };
    advance(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use MessageStatus::{Delivered, Failed, Pending, Played, Read, Sent};

    #[test]
    fn the_table_of_every_status_and_event() {
        let all = [Pending, Sent, Delivered, Read, Played, Failed];
        for (current, row) in [
            (Pending, [Pending, Sent, Delivered, Read, Played, Failed]),
            (Sent, [Sent, Sent, Delivered, Read, Played, Failed]),
            (Delivered, [Delivered, Delivered, Delivered, Read, Played, Delivered]),
            (Read, [Read, Read, Read, Read, Played, Read]),
            (Played, [Played; 6]),
            (Failed, [Failed; 6]),
        ] {
            for (event, expected) in all.into_iter().zip(row) {
                assert_eq!(advance(current, event), expected, "{current:?} + {event:?}");
            }
        }
    }

    #[test]
    fn reports_in_any_order_come_to_the_same() {
        assert_eq!(later(Sent, Delivered), later(Delivered, Sent));
        assert_eq!(later(Delivered, Failed), Delivered);
        assert_eq!(later(Failed, Sent), Failed);
    }
}
