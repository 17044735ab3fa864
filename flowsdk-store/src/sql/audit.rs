//! The audit log.

use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_auth::audit::{
    AuditAction, AuditActor, AuditEntityType, AuditFilter, AuditRecord, AuditRepository, AuditStatus,
    RecordedAudit,
};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{self, AuditLogId, RouterId};
use flowsdk_core::time::Timestamp;
use serde_json::Value;
use sqlx::types::Json;

use super::audit_list::{AuditListSql, Routers, Shape};
use super::executor::{
    corrupt, execute, execute_rows, fetch_all_replanned, fetch_optional, json, optional_id, text,
};
use super::statement::{RowsSql, Sql, sql};
use super::{SqlTx, list};

/// A batch may come again when its commit was not heard of.
static APPEND: RowsSql = RowsSql::new(
    "INSERT INTO audit_log (id, action, entity_type, entity_id, actor_id, router_id, status, changes, metadata,
                            created_at, id_drift) VALUES ",
    11,
    " ON CONFLICT (id) DO NOTHING",
);

static LIST: AuditListSql = AuditListSql::new();

/// Read from its index, which holds next to nothing.
const LARGEST_DRIFT: Sql =
    sql("SELECT id_drift FROM audit_log WHERE id_drift > 0 ORDER BY id_drift DESC LIMIT 1");

const PURGE: Sql = sql("DELETE FROM audit_log
     WHERE id IN (SELECT id FROM audit_log WHERE created_at < $1 ORDER BY created_at LIMIT $2)");

super::statement::statements! { LARGEST_DRIFT, PURGE; APPEND, LIST }

/// How far the time in an id may be from the record's own before it is noted.
const DRIFT: Duration = Duration::from_secs(60);

/// What stands in `id_drift`. Ids of another shape than ours have nothing to do with time.
fn drift(record: &AuditRecord) -> i64 {
    let (text, at) = (record.id.as_str(), record.created_at);
    match id::created_at(text).filter(|made| text.starts_with(&id::least_id(*made))) {
        Some(made) => {
            let drift = made.as_millis().abs_diff(at.as_millis());
            if u128::from(drift) < DRIFT.as_millis() { 0 } else { i64::try_from(drift).unwrap_or(i64::MAX) }
        }
        None => i64::MAX,
    }
}

/// Above every id: none has this character.
const ABOVE_ALL: &str = "~";

/// The ids that records of a time range can have: from the first one on, before the second.
fn id_range(from: Option<Timestamp>, to: Option<Timestamp>, drift: i64) -> (String, String) {
    let drift = Duration::from_millis(u64::try_from(drift).unwrap_or(0)) + DRIFT;
    let in_time = |at: Timestamp| (1..i64::MAX).contains(&at.as_millis());
    let from = from.map(|from| from - drift).filter(|from| in_time(*from));
    let to = to.map(|to| to + drift).filter(|to| in_time(*to));
    (from.map_or_else(String::new, id::least_id), to.map_or_else(|| ABOVE_ALL.to_owned(), id::least_id))
}

type Row = (
    String,
    String,
    Option<String>,
    Option<String>,
    Option<String>,
    Option<String>,
    String,
    Option<Json<Value>>,
    Option<Json<Value>>,
    i64,
    Option<String>,
    Option<String>,
    Option<String>,
);

fn recorded(row: Row) -> Result<RecordedAudit, StorageError> {
    let (
        record_id,
        action,
        entity_type,
        entity_id,
        actor_id,
        router_id,
        status,
        changes,
        metadata,
        created_at,
        user_id,
        user_name,
        user_email,
    ) = row;
    let unknown = corrupt("audit_log");
    let actor = match (user_id, user_name, user_email) {
        (Some(user_id), Some(name), Some(email)) => {
            Some(AuditActor { id: super::executor::id("user", user_id)?, name, email })
        }
        _ => None,
    };
    let entity_type = match entity_type {
        Some(name) => Some(AuditEntityType::parse(&name).ok_or_else(|| unknown(&name))?),
        None => None,
    };
    let record = AuditRecord {
        id: super::executor::id("audit_log", record_id)?,
        action: AuditAction::parse(&action).ok_or_else(|| unknown(&action))?,
        entity_type,
        entity_id,
        actor_id,
        router_id: optional_id("audit_log", router_id)?,
        status: AuditStatus::parse(&status).ok_or_else(|| unknown(&status))?,
        changes: changes.map(|Json(value)| value),
        metadata: metadata.map(|Json(value)| value),
        created_at: Timestamp::from_millis(created_at),
    };
    Ok(RecordedAudit { record, actor })
}

/// What filter and scope say of routers together; `None` when no record fits both.
fn routers(filter: &AuditFilter) -> Option<(Routers, Vec<&RouterId>)> {
    let Some(routers) = list::routers(filter.router_id.as_ref(), filter.scope.routers()) else {
        return Some((Routers::All, Vec::new()));
    };
    let routers: BTreeSet<&RouterId> = routers.iter().collect();
    let kind = match routers.len() {
        0 => return None,
        1 => Routers::One,
        _ => Routers::Several,
    };
    Some((kind, routers.into_iter().collect()))
}

#[async_trait]
impl AuditRepository for SqlTx {
    async fn append(&mut self, records: &[AuditRecord]) -> Result<(), StorageError> {
        execute_rows!(self.conn, APPEND, records, |query, record| query
            .bind(record.id.as_str())
            .bind(record.action.name())
            .bind(record.entity_type.map(AuditEntityType::name))
            .bind(record.entity_id.as_deref().map(text))
            .bind(record.actor_id.as_deref().map(text))
            .bind(record.router_id.as_ref().map(|id| id.as_str()))
            .bind(record.status.name())
            .bind(record.changes.as_ref().map(json).transpose()?)
            .bind(record.metadata.as_ref().map(json).transpose()?)
            .bind(record.created_at.as_millis())
            .bind(drift(record)))
        .await
        .map(drop)
    }

    async fn list(
        &mut self,
        filter: &AuditFilter,
        before: Option<&AuditLogId>,
        limit: u32,
    ) -> Result<Vec<RecordedAudit>, StorageError> {
        let Some((kind, routers)) = routers(filter) else {
            return Ok(Vec::new());
        };
        let (mut least, mut below) = (String::new(), ABOVE_ALL.to_owned());
        if filter.from.is_some() || filter.to.is_some() {
            let drift = fetch_optional!(self.conn, (i64,), LARGEST_DRIFT)?.map_or(0, |(drift,)| drift);
            (least, below) = id_range(filter.from, filter.to, drift);
        }
        let below = before.map_or(&*below, |before| before.as_str().min(&below));
        let shape = Shape {
            routers: kind,
            actor: filter.actor_id.is_some(),
            entity_type: filter.entity_type.is_some(),
            action: filter.action.is_some(),
            status: filter.status,
        };
        let rows = fetch_all_replanned!(
            self.conn,
            Row,
            LIST.of(shape),
            below,
            &*least,
            filter.from.map_or(i64::MIN, Timestamp::as_millis),
            filter.to.map_or(i64::MAX, Timestamp::as_millis),
            (kind != Routers::All).then_some(Json(&routers)),
            filter.actor_id.as_deref().map(text),
            filter.entity_type.map(AuditEntityType::name),
            filter.action.map(AuditAction::name),
            filter.status.map(AuditStatus::name),
            i64::from(limit),
        )?;
        rows.into_iter().map(recorded).collect()
    }

    async fn purge(&mut self, cutoff: Timestamp, limit: u32) -> Result<u64, StorageError> {
        execute!(self.conn, PURGE, cutoff.as_millis(), i64::from(limit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn a_range_of_times_covers_the_ids_around_it() {
        let (now, hour) = (at(1_795_085_820_050), 3_600_000);
        let (least, below) = id_range(Some(now), Some(now), hour);
        let id = |at: Timestamp| format!("{}0000abcdefabcdef", id::least_id(at));
        for step in [-hour, -1, 0, 1, hour] {
            let id = id(at(now.as_millis() + step));
            assert!(least <= id && id < below, "{step}");
        }
        for step in [-2 * hour, 2 * hour] {
            let id = id(at(now.as_millis() + step));
            assert!(id < least || below <= id, "{step}");
        }
        for moment in [i64::MIN, -1, 0, i64::MAX] {
            let (least, below) = id_range(Some(at(moment)), Some(at(i64::MAX)), i64::MAX);
            assert_eq!((&*least, &*below), ("", ABOVE_ALL));
        }
    }
}
