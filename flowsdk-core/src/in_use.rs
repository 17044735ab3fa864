//! The dependants that prevent a deletion (rulings S13).

use async_trait::async_trait;

use crate::fault::{Fault, StorageError};
use crate::id::{AgentId, FlowId, LlmCredentialId, QueueId, RouterId};
use crate::text::Text;

/// A row that rows of other aggregates refer to.
#[derive(Debug, Clone, Copy)]
pub enum Referred<'a> {
    /// A flow, draft and versions included.
    Flow(&'a FlowId),
    /// A credential of a model provider.
    LlmCredential(&'a LlmCredentialId),
    /// A queue of the helpdesk. Its tickets do not refer to it: they are [counted](Dependants::tickets).
    Queue(&'a QueueId),
    /// An AI agent. What stands beside it goes with it.
    AiAgent(&'a AgentId),
}

/// A reference that stands in the way of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Referrer {
    /// The kind of the row that refers and its field, as they are called on the wire.
    pub field: String,
    /// The id of that row.
    pub id: String,
}

/// The references between aggregates, in one transaction.
#[async_trait]
pub trait References: Send {
    /// Returns the references to a row that stand in the way of its deletion: of each field up to 100, in the order
    /// of their ids.
    async fn referrers(&mut self, to: Referred<'_>) -> Result<Vec<Referrer>, StorageError>;

    /// Returns the flows of a router whose published versions name something by its id, oldest first, up to 100. A flow
    /// that names itself is none of them.
    async fn published_flows_naming(
        &mut self,
        router: &RouterId,
        id: &str,
    ) -> Result<Vec<FlowId>, StorageError>;

    /// Leaves rows without their reference to a row that is about to be deleted.
    async fn detach(&mut self, from: Referred<'_>) -> Result<(), StorageError>;
}

/// A transaction with references.
pub trait HasReferences: Send {
    /// Returns the references of this transaction.
    fn references(&mut self) -> &mut dyn References;
}

/// The dependants of an entity, because of which it is not deleted: the name of each on the wire, and its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, thiserror::Error, Fault)]
#[error("in use")]
#[fault(Conflict, "in_use", pt = "Registro em uso", en = "Record in use", details = .0.clone())]
pub struct Dependants(Vec<(String, Text)>);

impl Dependants {
    /// Notes open sessions, if there are any.
    pub fn sessions(&mut self, count: i64) {
        let text = match count {
            ..=0 => return,
            1 => Text::new("1 sessão aberta", "1 open session"),
            _ => Text::of(format!("{count} sessões abertas"), format!("{count} open sessions")),
        };
        self.0.push(("sessions".to_owned(), text));
    }

    /// Notes chats, if there are any.
    pub fn chats(&mut self, count: i64) {
        let text = match count {
            ..=0 => return,
            1 => Text::new("1 conversa", "1 chat"),
            _ => Text::of(format!("{count} conversas"), format!("{count} chats")),
        };
        self.0.push(("chats".to_owned(), text));
    }

    /// Notes open tickets, if there are any.
    pub fn tickets(&mut self, count: i64) {
        let text = match count {
            ..=0 => return,
            1 => Text::new("1 ticket aberto", "1 open ticket"),
            _ => Text::of(format!("{count} tickets abertos"), format!("{count} open tickets")),
        };
        self.0.push(("tickets".to_owned(), text));
    }

    /// Notes something that refers to the thing: its field on the wire and its id.
    pub fn reference(&mut self, field: impl Into<String>, id: &str) {
        self.0.push((field.into(), Text::of(id.to_owned(), id.to_owned())));
    }

    /// Notes the records that refer to it.
    pub fn references(&mut self, referrers: &[Referrer]) {
        for Referrer { field, id } in referrers {
            self.reference(field, id);
        }
    }

    /// Notes the flows that are published with its id.
    pub fn published_flows(&mut self, flows: &[FlowId]) {
        for flow in flows {
            self.reference("flow.published", flow.as_str());
        }
    }

    /// Returns whether nothing prevents the deletion.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Fails if there are any dependants.
    ///
    /// # Errors
    /// The dependants.
    pub fn must_be_none(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_counted_in_words_that_agree() {
        for (count, portuguese, english) in [
            (1, "1 sessão aberta", "1 open session"),
            (2, "2 sessões abertas", "2 open sessions"),
            (11, "11 sessões abertas", "11 open sessions"),
        ] {
            let mut dependants = Dependants::default();
            dependants.sessions(count);
            let details = dependants.details();
            let [(field, text)] = &details[..] else { panic!("{details:?}") };
            assert_eq!(field, "sessions");
            assert_eq!((text.portuguese(), text.english()), (portuguese, english));
        }
        for (count, portuguese, english) in [(1, "1 conversa", "1 chat"), (3, "3 conversas", "3 chats")] {
            let mut dependants = Dependants::default();
            dependants.chats(count);
            let details = dependants.details();
            let [(field, text)] = &details[..] else { panic!("{details:?}") };
            assert_eq!(field, "chats");
            assert_eq!((text.portuguese(), text.english()), (portuguese, english));
        }
        for (count, portuguese, english) in
            [(1, "1 ticket aberto", "1 open ticket"), (2, "2 tickets abertos", "2 open tickets")]
        {
            let mut dependants = Dependants::default();
            dependants.tickets(count);
            let details = dependants.details();
            let [(field, text)] = &details[..] else { panic!("{details:?}") };
            assert_eq!(field, "tickets");
            assert_eq!((text.portuguese(), text.english()), (portuguese, english));
        }
        let mut none = Dependants::default();
        none.sessions(0);
        none.tickets(0);
        none.chats(0);
        assert!(none.is_empty());
    }
}
