//! News of desks.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use constcat::concat;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::time::Timestamp;
use flowsdk_helpdesk::news::{HasNews, News, NewsRepository, NewsRow};

use super::SqlTx;
use super::record::record;
use super::statement::{RowsSql, Sql, sql, sql_list, sql_per};

record! {
    NewsRow in "desk_news" { user_id, seq, event, payload: json, key, created_at }
}

static INSERT: RowsSql = RowsSql::insert::<NewsRow>("");

const KNOWN: Sql = sql_list!("SELECT key FROM desk_news WHERE key ", "$1", "");

/// `$1` lists `[user, how many]`. In one order, so that two transactions do not wait for each other.
const ALLOT: Sql = sql_per(
    "INSERT INTO desk_seq (user_id, last) SELECT value ->> 0, value ->> 1 FROM json_each($1) WHERE TRUE ORDER BY 1
     ON CONFLICT (user_id) DO UPDATE SET last = desk_seq.last + excluded.last RETURNING user_id, last",
    "INSERT INTO desk_seq (user_id, last)
     SELECT value ->> 0, CAST(value ->> 1 AS bigint) FROM jsonb_array_elements($1) AS new (value) ORDER BY 1
     ON CONFLICT (user_id) DO UPDATE SET last = desk_seq.last + excluded.last RETURNING user_id, last",
);

/// On SQLite, where no statement writes into two tables.
const ALLOT_ONE: Sql = sql("INSERT INTO desk_seq (user_id, last) VALUES ($1, 1)
     ON CONFLICT (user_id) DO UPDATE SET last = desk_seq.last + 1");

/// With the next number of the user; on SQLite with the one that was allotted just before.
const TELL_ONE: Sql = sql_per(
    "INSERT INTO desk_news (user_id, seq, event, payload, key, created_at)
     SELECT user_id, last, $2, $3, $4, $5 FROM desk_seq WHERE user_id = $1",
    "WITH seat AS (
        INSERT INTO desk_seq (user_id, last) VALUES ($1, 1)
        ON CONFLICT (user_id) DO UPDATE SET last = desk_seq.last + 1 RETURNING user_id, last)
     INSERT INTO desk_news (user_id, seq, event, payload, key, created_at)
     SELECT user_id, last, $2::text, $3::jsonb, $4::text, $5::bigint FROM seat",
);

const LAST: Sql = sql("SELECT last FROM desk_seq WHERE user_id = $1");

/// `$1` lists `[user, seen]`.
const UNSEEN: Sql = sql_per(
    concat!(
        UNSEEN_OF,
        "json_each($1) AS desk CROSS JOIN desk_news ON desk_news.user_id = desk.value ->> 0
            AND desk_news.seq > (desk.value ->> 1)
         ORDER BY desk_news.user_id, desk_news.seq LIMIT $2"
    ),
    concat!(
        UNSEEN_OF,
        "jsonb_array_elements($1) AS desk (value) JOIN desk_news ON desk_news.user_id = desk.value ->> 0
            AND desk_news.seq > CAST(desk.value ->> 1 AS bigint)
         ORDER BY desk_news.user_id, desk_news.seq LIMIT $2"
    ),
);
const UNSEEN_OF: &str =
    "SELECT desk_news.user_id, desk_news.seq, desk_news.event, desk_news.payload, desk_news.key,
    desk_news.created_at FROM ";

const PURGE: Sql = sql("DELETE FROM desk_news WHERE created_at < $1");

super::statement::statements! { KNOWN, ALLOT, ALLOT_ONE, TELL_ONE, LAST, UNSEEN, PURGE; INSERT }

super::accessor::has!(HasNews::news -> NewsRepository);

#[async_trait]
impl NewsRepository for SqlTx {
    async fn append(&mut self, news: &[News], now: Timestamp) -> Result<(), StorageError> {
        let keys: Vec<&str> = news.iter().filter_map(|one| one.key.as_deref()).collect();
        let known: BTreeSet<String> = match keys.is_empty() {
            true => BTreeSet::new(),
            false => self.conn.fetch_column::<String>(KNOWN, (Json(&keys),)).await?.into_iter().collect(),
        };
        let is_new = |one: &&News| one.key.as_ref().is_none_or(|key| !known.contains(key));
        let news: Vec<&News> = news.iter().filter(is_new).collect();
        if let [one] = news[..] {
            if !self.conn.is_postgres() {
                self.conn.execute(ALLOT_ONE, (&one.user,)).await?;
            }
            let (payload, key) = (one.event.payload(), one.key.as_deref());
            let binds = (&one.user, one.event.name(), Json(&payload), key, now);
            return self.conn.execute(TELL_ONE, binds).await.map(drop);
        }
        let mut counts: BTreeMap<&UserId, i64> = BTreeMap::new();
        for one in &news {
            *counts.entry(&one.user).or_default() += 1;
        }
        if counts.is_empty() {
            return Ok(());
        }
        let asked: Vec<(&UserId, i64)> = counts.iter().map(|(user, count)| (*user, *count)).collect();
        let ends: Vec<(UserId, i64)> = self.conn.fetch_all(ALLOT, (Json(&asked),)).await?;
        let mut next: BTreeMap<UserId, i64> = ends
            .into_iter()
            .map(|(user, end)| (user.clone(), end - counts.get(&user).unwrap_or(&0)))
            .collect();
        let rows: Vec<NewsRow> = news
            .into_iter()
            .map(|one| {
                let seq = next.entry(one.user.clone()).or_default();
                *seq += 1;
                NewsRow {
                    user_id: one.user.clone(),
                    seq: *seq,
                    event: one.event.name().to_owned(),
                    payload: one.event.payload(),
                    key: one.key.clone(),
                    created_at: now,
                }
            })
            .collect();
        self.conn.insert_rows(&INSERT, &rows).await.map(drop)
    }

    async fn last(&mut self, user: &UserId) -> Result<i64, StorageError> {
        let found: Vec<i64> = self.conn.fetch_column(LAST, (user,)).await?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    async fn unseen(&mut self, desks: &[(UserId, i64)], limit: u32) -> Result<Vec<NewsRow>, StorageError> {
        self.conn.fetch_all(UNSEEN, (Json(desks), i64::from(limit))).await
    }

    async fn purge(&mut self, before: Timestamp) -> Result<u64, StorageError> {
        self.conn.execute(PURGE, (before,)).await
    }
}
