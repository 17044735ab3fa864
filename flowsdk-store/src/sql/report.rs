//! Reports on the tickets of a period.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::{Json, Value};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId, UserId};
use flowsdk_core::page::Cursor;
use flowsdk_helpdesk::report::{
    Day, HasReports, LevelFigures, Period, ReportRepository, Satisfaction, TicketFigures, TimeSpread,
};
use flowsdk_helpdesk::ticket::Ticket;

use super::SqlTx;
use super::list::{Asked, Filter, ListSql, Place};
use super::row::{Cells, Row, With};
use super::statement::{Sql, sql_per};

/// The figures of tickets by a label: up to `$1` labels, those with the most tickets first.
macro_rules! figures {
    ($label:literal, $sqlite:expr, $postgres:expr) => {
        sql_per(
            concat!("WITH chosen AS (SELECT ", $label, TIMES, $sqlite, RANKED, " NULLS LAST LIMIT $1"),
            concat!(
                "WITH chosen AS (SELECT ",
                $label,
                TIMES,
                $postgres,
                RANKED,
                IN_BYTES,
                " NULLS LAST LIMIT $1"
            ),
        )
    };
}

/// Of each time how many tickets with the label have it, and where the ticket stands among them.
macro_rules! places {
    ($($time:literal),*) => {
        concat!($(
            ", ", $time, ", COUNT(", $time, ") OVER same AS ", $time, "_count, ROW_NUMBER() OVER (same ORDER BY ", $time,
            " NULLS LAST) AS ", $time, "_place"
        ),*)
    };
}

/// Of each time its count, its percentiles by the nearest rank, and the longest.
macro_rules! spreads {
    ($($time:literal),*) => {
        concat!($(
            ", MAX(", $time, "_count)",
            ", MAX(CASE WHEN ", $time, "_place = (", $time, "_count * 50 + 99) / 100 THEN ", $time, " END)",
            ", MAX(CASE WHEN ", $time, "_place = (", $time, "_count * 90 + 99) / 100 THEN ", $time, " END)",
            ", MAX(CASE WHEN ", $time, "_place = (", $time, "_count * 95 + 99) / 100 THEN ", $time, " END)",
            ", MAX(", $time, ")"
        ),*)
    };
}

/// Of each promise how often it was kept, and how often broken.
macro_rules! levels {
    ($($level:literal),*) => {
        concat!($(
            ", COUNT(CASE WHEN ", $level, " = 'met' THEN 1 END), COUNT(CASE WHEN ", $level, " = 'breached' THEN 1 END)"
        ),*)
    };
}

const TIMES: &str = " AS label, close_kind, assigned_at - created_at AS waiting,
        first_replied_at - created_at AS first_response, closed_at - assigned_at AS service,
        service_clocks -> 'firstResponse' ->> 'status' AS first_level,
        service_clocks -> 'resolution' ->> 'status' AS resolution_level, survey ->> 'status' AS survey_status,
        CAST(survey ->> 'score' AS INTEGER) AS score FROM ";
const RANKED: &str = concat!(
    "), ranked AS (SELECT label, close_kind, first_level, resolution_level, survey_status, score",
    places!("waiting", "first_response", "service"),
    " FROM chosen WINDOW same AS (PARTITION BY label))
     SELECT label, COUNT(*), COUNT(CASE WHEN close_kind NOT IN ('agent_transfer', 'queue_transfer') THEN 1 END),
        COUNT(CASE WHEN close_kind = 'abandoned' THEN 1 END),
        COUNT(CASE WHEN close_kind IN ('agent_transfer', 'queue_transfer') THEN 1 END)",
    spreads!("waiting", "first_response", "service"),
    levels!("first_level", "resolution_level"),
    ", COUNT(survey_status), COUNT(score), COALESCE(SUM(score), 0)",
    " FROM ranked GROUP BY label ORDER BY COUNT(*) DESC, label"
);
/// SQLite knows no other order of texts.
const IN_BYTES: &str = " COLLATE \"C\"";

/// `$2` and `$3` are the period, `$4` lists routers.
const OPENED: &str = "ticket WHERE created_at >= $2 AND created_at < $3 AND kind = 'human'";
const OPENED_OF: &str = concat!(OPENED, " AND router_id IN (SELECT value FROM json_each($4))");
const OPENED_OF_PG: &str =
    concat!(OPENED, " AND router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($4)))");

/// `$2` lists `[date, begin, end]`, `$3` routers. SQLite leaves the days in front of the tickets of each.
const DAYS: &str = "json_each($2) AS day CROSS JOIN ticket
     WHERE created_at >= day.value ->> 1 AND created_at < day.value ->> 2 AND kind = 'human'";
const DAYS_OF: &str = concat!(DAYS, " AND router_id IN (SELECT value FROM json_each($3))");
const DAYS_PG: &str = "jsonb_array_elements($2) AS day (value) CROSS JOIN ticket
     WHERE created_at >= CAST(day.value ->> 1 AS bigint) AND created_at < CAST(day.value ->> 2 AS bigint)
        AND kind = 'human'";
const DAYS_OF_PG: &str =
    concat!(DAYS_PG, " AND router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($3)))");

const TOTAL: Sql = figures!("CAST(NULL AS TEXT)", OPENED, OPENED);
const TOTAL_OF: Sql = figures!("CAST(NULL AS TEXT)", OPENED_OF, OPENED_OF_PG);
const BY_DAY: Sql = figures!("day.value ->> 0", DAYS, DAYS_PG);
const BY_DAY_OF: Sql = figures!("day.value ->> 0", DAYS_OF, DAYS_OF_PG);
const BY_QUEUE: Sql = figures!("queue_id", OPENED, OPENED);
const BY_QUEUE_OF: Sql = figures!("queue_id", OPENED_OF, OPENED_OF_PG);
const BY_AGENT: Sql = figures!("assigned_user_id", OPENED, OPENED);
const BY_AGENT_OF: Sql = figures!("assigned_user_id", OPENED_OF, OPENED_OF_PG);
const BY_REASON: Sql = figures!("close_reason", OPENED, OPENED);
const BY_REASON_OF: Sql = figures!("close_reason", OPENED_OF, OPENED_OF_PG);

pub(super) static LIST: ListSql<Period> = ListSql::of::<Ticket>()
    .oldest_first()
    .within("router_id")
    .indexed("ticket_newest", "ticket_by_router")
    .filters(&[
        Filter::of("created_at < {}", |period: &Period| {
            Asked::For(Ok(Value::Integer(period.end().as_millis())))
        })
        .always(),
        Filter::of("kind = 'human'", |_| Asked::Yes).always(),
    ]);

super::statement::statements! {
    TOTAL, TOTAL_OF, BY_DAY, BY_DAY_OF, BY_QUEUE, BY_QUEUE_OF, BY_AGENT, BY_AGENT_OF, BY_REASON, BY_REASON_OF; LIST
}

super::accessor::has!(HasReports::reports -> ReportRepository);

impl Row for TicketFigures {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        Ok(Self {
            opened: cells.next()?,
            closed: cells.next()?,
            abandoned: cells.next()?,
            transferred: cells.next()?,
            waiting_ms: spread(cells)?,
            first_response_ms: spread(cells)?,
            service_ms: spread(cells)?,
            first_response_level: level(cells)?,
            resolution_level: level(cells)?,
            satisfaction: Satisfaction::of(cells.next()?, cells.next()?, cells.next()?),
        })
    }
}

fn spread(cells: &mut Cells<'_>) -> Result<TimeSpread, StorageError> {
    Ok(TimeSpread {
        count: cells.next()?,
        p50: cells.next()?,
        p90: cells.next()?,
        p95: cells.next()?,
        max: cells.next()?,
    })
}

fn level(cells: &mut Cells<'_>) -> Result<LevelFigures, StorageError> {
    Ok(LevelFigures { met: cells.next()?, breached: cells.next()? })
}

/// A label with its figures.
type Labelled<K> = With<(K,), TicketFigures>;

fn pairs<K>(rows: Vec<Labelled<K>>) -> Vec<(K, TicketFigures)> {
    rows.into_iter().map(|With((label,), figures)| (label, figures)).collect()
}

impl SqlTx {
    /// Returns the figures of the tickets of a period, by a statement for all routers and one for some.
    async fn opened<R: Row>(
        &mut self,
        (of_all, of_some): (Sql, Sql),
        only: Option<&[RouterId]>,
        period: Period,
        limit: u32,
    ) -> Result<Vec<R>, StorageError> {
        let (limit, begin, end) = (i64::from(limit), period.begin(), period.end());
        match only {
            None => self.conn.fetch_all_replanned(of_all, (limit, begin, end)).await,
            Some(only) => self.conn.fetch_all_replanned(of_some, (limit, begin, end, Json(only))).await,
        }
    }
}

#[async_trait]
impl ReportRepository for SqlTx {
    async fn total(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
    ) -> Result<TicketFigures, StorageError> {
        let rows: Vec<Labelled<Option<String>>> = self.opened((TOTAL, TOTAL_OF), only, period, 1).await?;
        Ok(rows.into_iter().next().map(|With(_, figures)| figures).unwrap_or_default())
    }

    async fn by_day(
        &mut self,
        only: Option<&[RouterId]>,
        days: &[Day],
    ) -> Result<Vec<(String, TicketFigures)>, StorageError> {
        let most = i64::try_from(days.len()).unwrap_or(i64::MAX);
        let days: Vec<(&str, i64, i64)> =
            days.iter().map(|day| (&*day.date, day.begin.as_millis(), day.end.as_millis())).collect();
        let rows = match only {
            None => self.conn.fetch_all_replanned(BY_DAY, (most, Json(&days))).await?,
            Some(only) => self.conn.fetch_all_replanned(BY_DAY_OF, (most, Json(&days), Json(only))).await?,
        };
        Ok(pairs(rows))
    }

    async fn by_queue(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        limit: u32,
    ) -> Result<Vec<(QueueId, TicketFigures)>, StorageError> {
        self.opened((BY_QUEUE, BY_QUEUE_OF), only, period, limit).await.map(pairs)
    }

    async fn by_agent(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        limit: u32,
    ) -> Result<Vec<(Option<UserId>, TicketFigures)>, StorageError> {
        self.opened((BY_AGENT, BY_AGENT_OF), only, period, limit).await.map(pairs)
    }

    async fn by_reason(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        limit: u32,
    ) -> Result<Vec<(Option<String>, TicketFigures)>, StorageError> {
        self.opened((BY_REASON, BY_REASON_OF), only, period, limit).await.map(pairs)
    }

    async fn page(
        &mut self,
        only: Option<&[RouterId]>,
        period: Period,
        after: Option<&Cursor>,
        limit: u32,
    ) -> Result<Vec<Ticket>, StorageError> {
        let place = Place {
            at: Some(after.map_or(period.begin(), |cursor| cursor.at).as_millis()),
            id: after.map_or("", |cursor| &cursor.id),
            limit: i64::from(limit),
        };
        self.conn.fetch_list(&LIST, &period, only, place).await
    }
}
