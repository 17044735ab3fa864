//! The outbox: events written in the transaction of their cause (rulings S3).
//!
//! One row a subscribed group, deleted when that group acknowledges it, so the table only holds
//! pending events. With streams in the database the groups are the consumers; with a
//! broker of its own there is one group, the relay.

use async_trait::async_trait;
use flowsdk_core::event::WebhookEventType;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::stream::broker::NewEntry;
use flowsdk_core::stream::outbox::{HasOutbox, Outbox};
use flowsdk_core::stream::relay;
use flowsdk_core::stream::topic::{TopicName, partition_of};

use super::SqlTx;
use super::statement::RowsSql;

/// The groups that read each stream out of the database.
#[derive(Debug, Clone)]
pub struct OutboxRoutes {
    partitions: u32,
    groups: Vec<(TopicName, &'static str)>,
}

impl OutboxRoutes {
    /// Streams stay in the database and are read by these groups. Events of a stream that nobody reads
    /// are not stored.
    pub fn embedded(groups: impl IntoIterator<Item = (TopicName, &'static str)>) -> Self {
        Self { partitions: 1, groups: groups.into_iter().collect() }
    }

    /// Every stream is relayed to another broker, which has `partitions` of each.
    pub fn relayed() -> Self {
        Self {
            partitions: 1,
            groups: TopicName::ALL.into_iter().map(|topic| (topic, relay::GROUP)).collect(),
        }
    }

    /// Partitions of each stream in the database.
    pub fn partitions(&self) -> u32 {
        self.partitions
    }

    /// The rows that `entries` become.
    pub(super) fn rows<'a>(&self, entries: &'a [NewEntry]) -> Vec<OutboxRow<'a>> {
        entries
            .iter()
            .flat_map(|entry| {
                let part = i64::from(partition_of(&entry.key, self.partitions));
                let groups = self.groups.iter().filter(|(topic, _)| *topic == entry.topic);
                groups.map(move |&(_, group)| OutboxRow { entry, part, group })
            })
            .collect()
    }
}

/// A row to insert.
pub(super) struct OutboxRow<'a> {
    pub(super) entry: &'a NewEntry,
    pub(super) part: i64,
    pub(super) group: &'static str,
}

static INSERT: RowsSql =
    RowsSql::new("INSERT INTO stream_entry (topic, part, grp, key, payload) VALUES ", 5, "");

super::statement::statements! { ; INSERT }

super::accessor::has!(HasOutbox::outbox -> Outbox);

#[async_trait]
impl Outbox for SqlTx {
    async fn push_many(&mut self, entries: &[NewEntry]) -> Result<(), StorageError> {
        let routes = std::sync::Arc::clone(&self.routes);
        let rows = routes.rows(entries);
        for row in &rows {
            if !self.entered.contains(&row.entry.topic) {
                self.entered.push(row.entry.topic);
            }
        }
        self.conn
            .execute_rows(&INSERT, &rows[..], |to, row| {
                to.bind(row.entry.topic.name())
                    .bind(row.part)
                    .bind(row.group)
                    .bind(row.entry.key.as_str())
                    .bind(row.entry.payload.as_str());
            })
            .await
            .map(drop)
    }

    fn is_read(&self, topic: TopicName) -> bool {
        self.routes.groups.iter().any(|(read, _)| *read == topic)
    }

    fn is_announced(&self, router: &RouterId, event: WebhookEventType) -> bool {
        self.announced.contains(router, event)
    }

    fn is_announced_anywhere(&self, event: WebhookEventType) -> bool {
        self.announced.contains_anywhere(event)
    }
}
