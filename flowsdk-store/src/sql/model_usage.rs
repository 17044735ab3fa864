//! What models used: calls that are noted, and their sums by router, work, agent, model and day.

use std::borrow::Cow;

use async_trait::async_trait;
use constcat::concat;
use flowsdk_agent::money::Money;
use flowsdk_agent::usage::{
    Day, HasModelUsage, ModelCall, ModelUsage, ModelUsageRepository, UsageFigures, UsageGrouping, UsageKey,
    UsagePart, UsageWanted, spending,
};
use flowsdk_core::cell::{Cell, Json, Kind, Value};
use flowsdk_core::fault::{BoxError, StorageError};
use flowsdk_core::id::{AgentId, RouterId};

use super::SqlTx;
use super::bind::{Binder, Binds};
use super::record::{Part, Record as _, record};
use super::row::{Cells, Row};
use super::statement::{RowsSql, Sql, sql, sql_per};

record! {
    ModelCall in "model_call" {
        source_id = turn_id, position, work, router_id, agent_id as Option<AgentId>, model, day, input_tokens, cached_input_tokens,
        output_tokens
    }
}

record! {
    ModelUsage in "model_usage" { router_id, day, work, agent_id as Option<AgentId>, model, figures as UsageFigures }
}

/// The agent of a call. What no agent was asked has an empty text: the column is part of a key, and keys have no NULL.
struct Caller(Option<AgentId>);

impl Cell for Caller {
    const KIND: Kind = Kind::Text;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Text(Cow::Borrowed(self.0.as_ref().map_or("", AgentId::as_str))))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        let text = value.into_text()?;
        Ok(Self(if text.is_empty() { None } else { Some(AgentId::parse(text)?) }))
    }
}

impl Part for Option<AgentId> {
    const COLUMNS: &'static str = "agent_id";
    const COUNT: usize = 1;

    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError> {
        Ok(cells.of::<Caller>(table, "agent_id")?.0)
    }

    fn bind(&self, to: &mut Binder<'_>) {
        to.bind(self.as_ref().map_or("", AgentId::as_str));
    }
}

impl Part for UsageFigures {
    const COLUMNS: &'static str =
        "calls, input_tokens, cached_input_tokens, output_tokens, cost, unpriced_tokens";
    const COUNT: usize = 6;

    fn read(cells: &mut Cells<'_>, table: &'static str) -> Result<Self, StorageError> {
        Ok(Self {
            calls: cells.of(table, "calls")?,
            input_tokens: cells.of(table, "input_tokens")?,
            cached_input_tokens: cells.of(table, "cached_input_tokens")?,
            output_tokens: cells.of(table, "output_tokens")?,
            cost: cells.of(table, "cost")?,
            unpriced_tokens: cells.of(table, "unpriced_tokens")?,
        })
    }

    fn bind(&self, to: &mut Binder<'_>) {
        to.bind(&self.calls)
            .bind(&self.input_tokens)
            .bind(&self.cached_input_tokens)
            .bind(&self.output_tokens)
            .bind(&self.cost)
            .bind(&self.unpriced_tokens);
    }
}

static NOTE: RowsSql = RowsSql::insert::<ModelCall>("");

/// Whoever takes at the same time waits, and then finds the calls of the other one gone.
pub(super) const TAKE: Sql = sql(concat!(
    "DELETE FROM model_call WHERE (turn_id, position) IN
        (SELECT turn_id, position FROM model_call ORDER BY turn_id, position LIMIT $1)
     RETURNING ",
    ModelCall::COLUMNS
));

/// A cost stays where it is before no number can hold it.
static ADD: RowsSql = RowsSql::insert::<ModelUsage>(
    " ON CONFLICT (router_id, day, work, agent_id, model) DO UPDATE SET
        calls = model_usage.calls + excluded.calls,
        input_tokens = model_usage.input_tokens + excluded.input_tokens,
        cached_input_tokens = model_usage.cached_input_tokens + excluded.cached_input_tokens,
        output_tokens = model_usage.output_tokens + excluded.output_tokens,
        cost = CASE WHEN model_usage.cost > 1000000000000000000 THEN model_usage.cost
            ELSE model_usage.cost + excluded.cost END,
        unpriced_tokens = model_usage.unpriced_tokens + excluded.unpriced_tokens",
);

static SPEND: RowsSql = RowsSql::new(
    "INSERT INTO router_spending (router_id, month, cost) VALUES ",
    3,
    " ON CONFLICT (router_id, month) DO UPDATE SET cost = CASE WHEN router_spending.cost > 1000000000000000000
        THEN router_spending.cost ELSE router_spending.cost + excluded.cost END",
);

/// `$1` and `$2` are the first and the last day, `$3` to `$7` say by what to group, `$8` to `$10` are an agent, a model and a
/// work, `$11` is the number of parts.
const COUNTED: &str = "SELECT 0, CASE WHEN $3 = 1 THEN day END AS day_key, CASE WHEN $4 = 1 THEN router_id END AS router_key,
        CASE WHEN $5 = 1 THEN agent_id END AS agent_key, CASE WHEN $6 = 1 THEN model END AS model_key,
        CASE WHEN $7 = 1 THEN work END AS work_key, NULL, 0,
        CAST(SUM(calls) AS BIGINT), CAST(SUM(input_tokens) AS BIGINT), CAST(SUM(cached_input_tokens) AS BIGINT),
        CAST(SUM(output_tokens) AS BIGINT), CAST(SUM(cost) AS BIGINT), CAST(SUM(unpriced_tokens) AS BIGINT)
     FROM model_usage";
const NOTED: &str = " GROUP BY day_key, router_key, agent_key, model_key, work_key
     UNION ALL
     SELECT 1, day, router_id, agent_id, model, work, turn_id, position, 1, input_tokens, cached_input_tokens, output_tokens, 0, 0
     FROM model_call";
const WANTED: &str = " WHERE day >= $1 AND day <= $2
     AND (CAST($8 AS TEXT) IS NULL OR agent_id = $8) AND (CAST($9 AS TEXT) IS NULL OR model = $9)
     AND (CAST($10 AS TEXT) IS NULL OR work = $10)";
const OF_ROUTERS: &str = " AND router_id IN (SELECT value FROM json_each($12))";
const OF_ROUTERS_PG: &str = " AND router_id = ANY(ARRAY(SELECT jsonb_array_elements_text($12)))";
const LIMITED: &str = " LIMIT $11";

pub(super) const REPORT: Sql = sql(concat!(COUNTED, WANTED, NOTED, WANTED, LIMITED));
pub(super) const REPORT_OF: Sql = sql_per(
    concat!(COUNTED, WANTED, OF_ROUTERS, NOTED, WANTED, OF_ROUTERS, LIMITED),
    concat!(COUNTED, WANTED, OF_ROUTERS_PG, NOTED, WANTED, OF_ROUTERS_PG, LIMITED),
);

pub(super) const FORGET: Sql = sql(
    "DELETE FROM model_usage WHERE (router_id, day, work, agent_id, model) IN
        (SELECT router_id, day, work, agent_id, model FROM model_usage WHERE day < $1 ORDER BY day LIMIT $2)",
);

pub(super) const FORGET_SPENDING: Sql = sql("DELETE FROM router_spending WHERE (router_id, month) IN
        (SELECT router_id, month FROM router_spending WHERE month < $1 ORDER BY month LIMIT $2)");

super::statement::statements! { TAKE, REPORT, REPORT_OF, FORGET, FORGET_SPENDING; NOTE, ADD, SPEND }

super::accessor::has!(HasModelUsage::model_usage -> ModelUsageRepository);

/// A call that is noted has every key.
impl Row for UsagePart {
    fn read(cells: &mut Cells<'_>) -> Result<Self, StorageError> {
        let is_noted: bool = cells.next()?;
        if !is_noted {
            let key = UsageKey {
                day: cells.next()?,
                router_id: cells.next()?,
                agent_id: cells.next::<Option<Caller>>()?.map(|caller| caller.0),
                model: cells.next()?,
                work: cells.next()?,
            };
            let (_, _): (Option<String>, i64) = (cells.next()?, cells.next()?);
            return Ok(Self::Counted(key, UsageFigures::read(cells, "model_usage")?));
        }
        let (day, router_id, Caller(agent_id)) = (cells.next()?, cells.next()?, cells.next()?);
        let (model, work, source_id, position) = (cells.next()?, cells.next()?, cells.next()?, cells.next()?);
        let figures = UsageFigures::read(cells, "model_call")?;
        Ok(Self::Noted(ModelCall {
            source_id,
            position,
            work,
            router_id,
            agent_id,
            model,
            day,
            input_tokens: figures.input_tokens,
            cached_input_tokens: figures.cached_input_tokens,
            output_tokens: figures.output_tokens,
        }))
    }
}

/// The binds of a report.
struct Asked<'a> {
    wanted: &'a UsageWanted,
    only: Option<&'a [RouterId]>,
    limit: u32,
}

impl Binds for Asked<'_> {
    fn bind_all(self, to: &mut Binder<'_>) {
        let Self { wanted, only, limit } = self;
        to.bind(&wanted.from).bind(&wanted.to);
        for grouping in [
            UsageGrouping::Day,
            UsageGrouping::Router,
            UsageGrouping::Agent,
            UsageGrouping::Model,
            UsageGrouping::Work,
        ] {
            to.bind(i64::from(wanted.is_by(grouping)));
        }
        to.bind(&wanted.agent_id).bind(&wanted.model).bind(&wanted.work).bind(i64::from(limit));
        if let Some(only) = only {
            to.bind(Json(only));
        }
    }
}

#[async_trait]
impl ModelUsageRepository for SqlTx {
    async fn note(&mut self, calls: &[ModelCall]) -> Result<(), StorageError> {
        self.conn.insert_rows(&NOTE, calls).await.map(drop)
    }

    async fn take(&mut self, limit: u32) -> Result<Vec<ModelCall>, StorageError> {
        self.conn.fetch_all(TAKE, (i64::from(limit),)).await
    }

    async fn add(&mut self, usage: &[ModelUsage]) -> Result<(), StorageError> {
        self.conn.insert_rows(&ADD, usage).await?;
        let spent: Vec<_> = spending(usage).into_iter().collect();
        let bind = |to: &mut Binder<'_>, ((router, month), cost): &((&RouterId, String), Money)| {
            to.bind(*router).bind(month).bind(cost);
        };
        self.conn.execute_rows(&SPEND, &spent, bind).await.map(drop)
    }

    async fn report(
        &mut self,
        wanted: &UsageWanted,
        only: Option<&[RouterId]>,
        limit: u32,
    ) -> Result<Vec<UsagePart>, StorageError> {
        let asked = Asked { wanted, only, limit };
        match only {
            None => self.conn.fetch_all_replanned(REPORT, asked).await,
            Some([]) => Ok(Vec::new()),
            Some(_) => self.conn.fetch_all_replanned(REPORT_OF, asked).await,
        }
    }

    async fn forget(&mut self, before: Day, limit: u32) -> Result<u64, StorageError> {
        self.conn.execute(FORGET_SPENDING, (&before.month(), i64::from(limit))).await?;
        self.conn.execute(FORGET, (&before, i64::from(limit))).await
    }
}
