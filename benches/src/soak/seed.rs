//! The database of a soak: one router with its flow, an open channel, and one that embed tokens open.

use anyhow::Result;
use flowsdk_channels::webchat::Purpose;
use serde_json::Value;

use crate::webchat::seed::{Channel, Opening, Rows};

/// The channels that were made.
#[derive(Debug, Clone)]
pub(super) struct Seeded {
    /// The channel of anonymous visitors.
    pub(super) open: String,
    /// The channel of visitors with a token.
    pub(super) closed: String,
    signs: Channel,
}

impl Seeded {
    /// Signs a token for a visitor.
    pub(super) fn token(&self, visitor: &str) -> String {
        self.signs.token(visitor).unwrap_or_default()
    }

    /// Returns whether the session is that of a visitor of the soak, and not of an attacker.
    pub(super) fn owns(&self, session: &str) -> bool {
        [&self.open, &self.closed].into_iter().any(|channel| {
            session.strip_prefix("wc-").and_then(|rest| rest.strip_prefix(channel.as_str())).is_some()
        })
    }
}

/// Makes the schema and its rows.
pub(super) async fn seed(database: &str, definition: Value) -> Result<Seeded> {
    let rows = Rows { name: "Soak", definition, purpose: Purpose::Visitors };
    let [open, closed] = rows.make(&database.parse()?, [Opening::Anybody, Opening::Token]).await?;
    Ok(Seeded { open: open.id(), closed: closed.id(), signs: closed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_other_channels_are_not_of_the_soak() {
        let [open, closed, other] =
            ["cm000000000000000000000a", "cm000000000000000000000b", "cm000000000000000000000c"];
        let signs = Channel::new(closed.parse().expect("an id"), "a secret");
        let seeded = Seeded { open: open.to_owned(), closed: closed.to_owned(), signs };
        let owns = |channel: &str| seeded.owns(&format!("wc-{channel}-v1 | turn_too_long"));
        assert_eq!([open, closed, other].map(owns), [true, true, false]);
    }
}
