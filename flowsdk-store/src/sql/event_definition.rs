//! Event definitions, and the counts of tracked events by name.

use std::collections::HashMap;

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::event_definition::{
    EventCountRepository, EventDefinition, EventDefinitionId, HasEventCounts, MOST_COUNTED, Occurrences,
    TrackedName,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::record::record;
use super::router_record::{RecordSql, RouterTable};
use super::statement::{Sql, sql, sql_list, sql_per};

record! {
    EventDefinition in "event_definition" {
        id, router_id, created_at;
        name, description, properties: json, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<EventDefinition>(&[]);

/// One event more than are counted tells that there are more.
const OCCURRENCES: Sql = sql_list!(
    "SELECT d.id,
        (SELECT COUNT(*) FROM (SELECT 1 FROM flow_event e
            WHERE e.router_id = d.router_id AND e.name = d.name LIMIT $2) AS counted),
        (SELECT MAX(e.created_at) FROM flow_event e WHERE e.router_id = d.router_id AND e.name = d.name)
     FROM event_definition d WHERE d.id ",
    "$1",
    ""
);

/// The same by name; a list of texts is a table of another kind on each engine.
const OCCURRENCES_OF_NAMES: Sql = sql_per(
    "SELECT n.value,
        (SELECT COUNT(*) FROM (SELECT 1 FROM flow_event e
            WHERE e.router_id = $1 AND e.name = n.value LIMIT $3) AS counted),
        (SELECT MAX(e.created_at) FROM flow_event e WHERE e.router_id = $1 AND e.name = n.value)
     FROM json_each($2) AS n",
    "SELECT n.value,
        (SELECT COUNT(*) FROM (SELECT 1 FROM flow_event e
            WHERE e.router_id = $1 AND e.name = n.value LIMIT $3) AS counted),
        (SELECT MAX(e.created_at) FROM flow_event e WHERE e.router_id = $1 AND e.name = n.value)
     FROM jsonb_array_elements_text($2) AS n (value)",
);

/// Jumps from name to name in the index, however many events have each.
const TRACKED_NAMES: Sql = sql("WITH RECURSIVE names (name, place) AS (
        SELECT (SELECT MIN(e.name) FROM flow_event e WHERE e.router_id = $1 AND e.name > $2), CAST(1 AS BIGINT)
        UNION ALL
        SELECT (SELECT MIN(e.name) FROM flow_event e WHERE e.router_id = $1 AND e.name > n.name), n.place + 1
        FROM names n WHERE n.name IS NOT NULL AND n.place < $3)
     SELECT n.name, CAST(CASE WHEN EXISTS (SELECT 1 FROM event_definition d
        WHERE d.router_id = $1 AND d.name = n.name) THEN 1 ELSE 0 END AS BIGINT)
     FROM names n WHERE n.name IS NOT NULL ORDER BY n.place");

super::statement::statements! { OCCURRENCES, OCCURRENCES_OF_NAMES, TRACKED_NAMES; TABLE }

impl RouterTable for EventDefinition {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}

super::accessor::has!(HasEventCounts::event_counts -> EventCountRepository);

/// A name or an id, with the count of its events and the time of the last one.
type Counted<K> = (K, u32, Option<Timestamp>);

fn by_key<K: Eq + std::hash::Hash>(rows: Vec<Counted<K>>) -> HashMap<K, Occurrences> {
    rows.into_iter().map(|(key, count, last)| (key, Occurrences::new(count, last))).collect()
}

#[async_trait]
impl EventCountRepository for SqlTx {
    async fn of_definitions(
        &mut self,
        ids: &[EventDefinitionId],
    ) -> Result<HashMap<EventDefinitionId, Occurrences>, StorageError> {
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let binds = (Json(ids), i64::from(MOST_COUNTED) + 1);
        Ok(by_key(self.conn.fetch_all(OCCURRENCES, binds).await?))
    }

    async fn of_names(
        &mut self,
        router: &RouterId,
        names: &[String],
    ) -> Result<HashMap<String, Occurrences>, StorageError> {
        if names.is_empty() {
            return Ok(HashMap::new());
        }
        let binds = (router, Json(names), i64::from(MOST_COUNTED) + 1);
        Ok(by_key(self.conn.fetch_all(OCCURRENCES_OF_NAMES, binds).await?))
    }

    async fn tracked_names(
        &mut self,
        router: &RouterId,
        after: &str,
        limit: u32,
    ) -> Result<Vec<TrackedName>, StorageError> {
        let rows: Vec<(String, bool)> =
            self.conn.fetch_all(TRACKED_NAMES, (router, after, i64::from(limit))).await?;
        Ok(rows.into_iter().map(|(name, is_defined)| TrackedName { name, is_defined }).collect())
    }
}
