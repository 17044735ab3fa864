//! The audit log.

use std::time::Duration;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_auth::audit::{
    AuditAction, AuditActor, AuditFilter, AuditRecord, AuditRepository, AuditStatus, HasAuditLogs,
    RecordedAudit,
};
use flowsdk_core::change::EntityKind;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{self, AuditLogId, UserId};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::bind::Binder;
use super::list::{self, Filter, ListSql, Place, Together, asked, asked_if, given};
use super::record::{Record as _, record};
use super::row::With;
use super::statement::{RowsSql, Sql, sql};

record! {
    AuditRecord in "audit_log" {
        id, action, entity_type, entity_id, actor_id, router_id, status, changes: json_or_null,
        metadata: json_or_null, created_at
    }
}

/// A batch may come again when its commit was not heard of.
static APPEND: RowsSql = RowsSql::new(
    concat!("INSERT INTO audit_log (", AuditRecord::COLUMNS, ", id_drift) VALUES "),
    AuditRecord::COUNT + 1,
    " ON CONFLICT (id) DO NOTHING",
);

/// A filter of the log, as it is asked for.
#[derive(Debug)]
pub(super) struct Wanted {
    least_id: String,
    from: Timestamp,
    to: Timestamp,
    actor_id: Option<String>,
    entity_type: Option<EntityKind>,
    action: Option<AuditAction>,
    is_failure: bool,
    success: Option<AuditStatus>,
}

/// Conditions of filters that have indices together.
const ACTOR: &str = "actor_id = {}";
/// Said in the text, since a bound value cannot show that the condition of an index holds.
const FAILURE: &str = "status = 'failure'";
const ACTION: &str = "action = {}";

/// In the order of ids. SQLite, which keeps no statistics here, is told the index of the filter that leaves least:
/// failures are few, successes are nearly all.
pub(super) static LIST: ListSql<Wanted> = ListSql::new(
    concat!(
        "SELECT ",
        AuditRecord::COLUMNS,
        ", (SELECT id FROM user_account WHERE user_account.id = audit_log.actor_id) AS user_id,
            (SELECT name FROM user_account WHERE user_account.id = audit_log.actor_id) AS user_name,
            (SELECT email FROM user_account WHERE user_account.id = audit_log.actor_id) AS user_email FROM audit_log"
    ),
    "audit_log",
)
.by("", "id")
.within("router_id")
.replanned()
.indexed("", "audit_log_by_router")
.filters(&[
    Filter::of("id >= {}", |wanted: &Wanted| given(&wanted.least_id)).always(),
    Filter::per("+created_at >= {}", "created_at >= {}", |wanted: &Wanted| given(&wanted.from)).always(),
    Filter::per("+created_at <= {}", "created_at <= {}", |wanted: &Wanted| given(&wanted.to)).always(),
    Filter::of(ACTOR, |wanted: &Wanted| asked(&wanted.actor_id))
        .indexed("audit_log_by_actor", "audit_log_by_router_and_actor"),
    Filter::of(FAILURE, |wanted: &Wanted| asked_if(wanted.is_failure))
        .indexed("audit_log_by_status", "audit_log_by_router_and_status"),
    Filter::of("entity_type = {}", |wanted: &Wanted| asked(&wanted.entity_type))
        .indexed("audit_log_by_entity_type", "audit_log_by_router_and_entity_type"),
    Filter::of(ACTION, |wanted: &Wanted| asked(&wanted.action))
        .indexed("audit_log_by_action", "audit_log_by_router_and_action"),
    Filter::of("status = {}", |wanted: &Wanted| asked(&wanted.success))
        .indexed("audit_log_by_status", "audit_log_by_router_and_status"),
])
.together(&[
    Together::of(
        &[ACTOR, FAILURE, ACTION],
        "audit_log_failures_by_actor_and_action",
        "audit_log_by_router_actor_and_action",
    ),
    Together::of(
        &[ACTOR, ACTION],
        "audit_log_by_actor_and_action",
        "audit_log_by_router_actor_and_action",
    ),
]);

/// Read from its index, which holds next to nothing.
const LARGEST_DRIFT: Sql =
    sql("SELECT id_drift FROM audit_log WHERE id_drift > 0 ORDER BY id_drift DESC LIMIT 1");

const PURGE: Sql = sql("DELETE FROM audit_log
     WHERE id IN (SELECT id FROM audit_log WHERE created_at < $1 ORDER BY created_at LIMIT $2)");

super::statement::statements! { LARGEST_DRIFT, PURGE; APPEND, LIST }

/// How far the time in an id may be from the record's own before it is noted.
const DRIFT: Duration = Duration::from_secs(60);

/// Returns the value of `id_drift`. Ids of another shape than ours have nothing to do with time.
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

fn recorded(With(record, (id, name, email)): Recorded) -> RecordedAudit {
    let actor = id.zip(name).zip(email).map(|((id, name), email)| AuditActor { id, name, email });
    RecordedAudit { record, actor }
}

type Recorded = With<AuditRecord, (Option<UserId>, Option<String>, Option<String>)>;

super::accessor::has!(HasAuditLogs::audit_logs -> AuditRepository);

#[async_trait]
impl AuditRepository for SqlTx {
    async fn append(&mut self, records: &[AuditRecord]) -> Result<(), StorageError> {
        let bind = |to: &mut Binder<'_>, record: &AuditRecord| {
            record.bind(to);
            to.bind(drift(record));
        };
        self.conn.execute_rows(&APPEND, records, bind).await.map(drop)
    }

    async fn list(
        &mut self,
        filter: &AuditFilter,
        before: Option<&AuditLogId>,
        limit: u32,
    ) -> Result<Vec<RecordedAudit>, StorageError> {
        let routers = list::routers(filter.router_id.as_ref(), filter.scope.routers());
        let (mut least_id, mut below) = (String::new(), ABOVE_ALL.to_owned());
        if filter.from.is_some() || filter.to.is_some() {
            let drift = self.conn.fetch_optional::<(i64,)>(LARGEST_DRIFT, ()).await?;
            (least_id, below) = id_range(filter.from, filter.to, drift.map_or(0, |(drift,)| drift));
        }
        let below = before.map_or(&*below, |before| before.as_str().min(&below));
        let wanted = Wanted {
            least_id,
            from: filter.from.unwrap_or(Timestamp::from_millis(i64::MIN)),
            to: filter.to.unwrap_or(Timestamp::from_millis(i64::MAX)),
            actor_id: filter.actor_id.clone(),
            entity_type: filter.entity_type,
            action: filter.action,
            is_failure: filter.status == Some(AuditStatus::Failure),
            success: filter.status.filter(|status| *status == AuditStatus::Success),
        };
        let place = Place { at: None, id: below, limit: i64::from(limit) };
        let rows = self.conn.fetch_list(&LIST, &wanted, routers, place).await?;
        Ok(rows.into_iter().map(recorded).collect())
    }

    async fn purge(&mut self, cutoff: Timestamp, limit: u32) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (cutoff, i64::from(limit))).await
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
