//! The database of a turn, who works on it, and what has to be there at the end.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use flowsdk_core::event::HelpdeskEvent;
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};
use tempfile::TempDir;

use super::floor::{self, AGENTS, Floor};
use super::ours::Ours;
use super::raw::Raw;
use super::raw_sqlite::RawSqlite;
use super::{Contender, Picked, Store, Work};
use crate::services::{Addresses, Database};
use crate::webchat::seed;

/// A database with its rows, and a contender.
pub(super) struct Stand {
    work: Work,
    floor: Arc<Floor>,
    /// How many tickets there are at the end.
    count: usize,
    handoffs: Vec<HelpdeskEvent>,
    place: Place,
    clerk: Clerk,
    hands: Option<Hands>,
    store: SqlStore,
    database: Option<Database>,
    // Goes last, with the database in it.
    _folder: TempDir,
}

/// Where the rows are.
enum Place {
    File(PathBuf),
    Server(String),
}

/// Who works.
enum Hands {
    Ours(Ours),
    Raw(Raw),
    RawSqlite(RawSqlite),
}

impl Stand {
    /// Makes a desk with `count` tickets that wait, or as many sessions that are handed over.
    pub(super) async fn build(
        services: &Addresses,
        store: Store,
        work: Work,
        count: usize,
        limit: u32,
    ) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let database = match store {
            Store::Sqlite => None,
            Store::Postgres => Some(services.database().await?),
        };
        let place = match &database {
            None => Place::File(folder.path().join("race.db")),
            Some(database) => Place::Server(database.url.clone()),
        };
        let url: DatabaseUrl = match &place {
            Place::File(file) => seed::sqlite(file),
            Place::Server(url) => url.parse()?,
        };
        let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await?;
        let mut clerk = Clerk::open(&place).await?;
        let floor = Floor::lay(&store, work, limit).await?;
        clerk.execute(&floor::people(count, &floor.router)).await?;
        let mut handoffs = Vec::new();
        match work {
            Work::Pickup => floor.fill(&store, count).await?,
            Work::Handoff => {
                floor.wait(&store, count).await?;
                handoffs = floor.handoffs(count)?;
            }
        }
        clerk.tidy_up(true).await?;
        let floor = Arc::new(floor);
        Ok(Self { work, floor, count, handoffs, place, clerk, hands: None, store, database, _folder: folder })
    }

    /// Lets a contender in.
    pub(super) async fn enter(&mut self, contender: Contender) -> Result<()> {
        let group = if contender == Contender::RawGroups { AGENTS } else { 1 };
        self.hands = Some(match (&self.place, contender) {
            (_, Contender::FlowSdk) => Hands::Ours(Ours::new(&self.store)),
            (Place::File(file), _) => Hands::RawSqlite(RawSqlite::open(file, group)?),
            (Place::Server(url), _) => Hands::Raw(Raw::connect(url).await?),
        });
        Ok(())
    }

    /// Every agent picks up `limit` tickets, or as many as there are.
    pub(super) async fn pick_up(&mut self, limit: usize) -> Result<Vec<Picked>> {
        match self.hands.as_mut().context("nobody works")? {
            Hands::Ours(ours) => ours.pick_up(&self.floor, limit).await,
            Hands::Raw(raw) => raw.pick_up(&self.floor, limit).await,
            Hands::RawSqlite(raw) => raw.pick_up(&self.floor, limit),
        }
    }

    /// Takes a batch of handoffs, until agents have their tickets.
    pub(super) async fn hand_over(&mut self, events: &[&HelpdeskEvent]) -> Result<()> {
        match self.hands.as_mut().context("nobody works")? {
            Hands::Ours(ours) => ours.take(events).await,
            Hands::Raw(raw) => raw.take(&self.floor, events).await,
            Hands::RawSqlite(raw) => raw.take(&self.floor, events),
        }
    }

    /// The handoffs that are to be taken.
    pub(super) fn handoffs(&mut self) -> Vec<HelpdeskEvent> {
        std::mem::take(&mut self.handoffs)
    }

    /// Makes room for more.
    pub(super) async fn close_tickets(&mut self) -> Result<()> {
        self.clerk.execute(CLOSE).await?;
        self.clerk.tidy_up(false).await
    }

    /// Returns why the rows are not those of a desk on which every ticket has one owner, who was told so once. `picked` is
    /// what the agents were given, where they were.
    pub(super) async fn fault(&mut self, picked: Option<&[Picked]>) -> Result<Option<String>> {
        let found = Found {
            tickets: self.clerk.rows(TICKETS).await?,
            news: self.clerk.rows(NEWS).await?,
            last: self.clerk.rows(LAST).await?,
        };
        let fault = found.fault(self.count, picked);
        if fault.is_some() || self.work == Work::Pickup {
            return Ok(fault);
        }
        let [[pointers]] = self.clerk.rows::<1>(POINTERS).await?.try_into().ok().context("one row")?;
        let count = self.count;
        Ok((pointers != count.to_string())
            .then(|| format!("{pointers} of {count} sessions name their ticket")))
    }

    /// Takes the database away.
    pub(super) async fn finish(self) -> Result<()> {
        if let Some(Hands::Raw(raw)) = self.hands {
            raw.close().await;
        }
        self.store.close().await;
        drop(self.clerk);
        match self.database {
            Some(database) => database.remove().await,
            None => Ok(()),
        }
    }
}

const CLOSE: &str = "UPDATE ticket SET status = 'closed', closed_at = updated_at, close_kind = 'resolved' WHERE status = 'assigned'";
const TICKETS: &str =
    "SELECT id, COALESCE(assigned_user_id, ''), COALESCE(CAST(assigned_at AS TEXT), '') FROM ticket";
const NEWS: &str = "SELECT user_id, CAST(seq AS TEXT), event, payload -> 'ticket' ->> 'id',
     payload -> 'ticket' ->> 'assignedUserId' FROM desk_news ORDER BY user_id, desk_news.seq";
const LAST: &str = "SELECT user_id, CAST(last AS TEXT) FROM desk_seq";
const POINTERS: &str =
    "SELECT CAST(COUNT(*) AS TEXT) FROM ticket JOIN session ON session.id = ticket.session_id
     WHERE session.state -> 'helpdesk' ->> 'ticketId' = ticket.id";

/// The rows of the end, as texts.
struct Found {
    /// Ticket, owner, and when they got it.
    tickets: Vec<[String; 3]>,
    /// User, number, event, ticket and the owner that the news name, in the order of the numbers.
    news: Vec<[String; 5]>,
    /// User and last number.
    last: Vec<[String; 2]>,
}

impl Found {
    fn fault(&self, count: usize, picked: Option<&[Picked]>) -> Option<String> {
        if self.tickets.len() != count {
            return Some(format!("{} tickets, not {count}", self.tickets.len()));
        }
        let mut owners: BTreeMap<&str, &str> = BTreeMap::new();
        for [ticket, user, at] in &self.tickets {
            if user.is_empty() || at.is_empty() {
                return Some(format!("nobody has ticket {ticket}"));
            }
            owners.insert(ticket, user);
        }
        if let Some(picked) = picked {
            let mut given: BTreeMap<&str, &str> = BTreeMap::new();
            for Picked { user, ticket, .. } in picked {
                if let Some(other) = given.insert(ticket, user) {
                    return Some(format!("{user} and {other} were given ticket {ticket}"));
                }
            }
            if given != owners {
                return Some("the agents were given other tickets than they have".to_owned());
            }
        }
        let mut told: BTreeMap<&str, u64> = BTreeMap::new();
        for [user, seq, event, ticket, named] in &self.news {
            let next = told.entry(user).or_default();
            *next += 1;
            if *seq != next.to_string() {
                return Some(format!("news {next} of {user} have the number {seq}"));
            }
            // Each ticket is told of once: whoever hears of it takes it out.
            let is_theirs = owners.remove(ticket.as_str()) == Some(user.as_str()) && named == user;
            if event != "ticket:assigned" || !is_theirs {
                return Some(format!("{user} was told {event} of ticket {ticket} of {named}"));
            }
        }
        if let Some((ticket, user)) = owners.into_iter().next() {
            return Some(format!("{user} was not told of ticket {ticket}"));
        }
        let last = self.last.iter().map(|[user, last]| (user.as_str(), last.clone()));
        let told = told.into_iter().map(|(user, last)| (user, last.to_string()));
        (last.collect::<BTreeMap<_, _>>() != told.collect())
            .then(|| "a number of news was allotted in vain".to_owned())
    }
}

/// A connection beside those of the contenders.
enum Clerk {
    Sqlite(rusqlite::Connection),
    Postgres(PgConnection),
}

impl Clerk {
    async fn open(place: &Place) -> Result<Self> {
        Ok(match place {
            Place::File(file) => {
                let connection = rusqlite::Connection::open(file)?;
                connection.execute_batch("PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 10000;")?;
                Self::Sqlite(connection)
            }
            Place::Server(url) => Self::Postgres(PgConnection::connect(url).await?),
        })
    }

    async fn execute(&mut self, statements: &str) -> Result<()> {
        match self {
            Self::Sqlite(connection) => connection.execute_batch(statements)?,
            Self::Postgres(connection) => {
                sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(connection).await?;
            }
        }
        Ok(())
    }

    /// Moves the log of SQLite into its file; and lets Postgres know its rows, once there are many.
    async fn tidy_up(&mut self, are_new: bool) -> Result<()> {
        match self {
            Self::Sqlite(_) => self.execute("PRAGMA wal_checkpoint(TRUNCATE)").await,
            Self::Postgres(_) if are_new => self.execute("VACUUM ANALYZE").await,
            Self::Postgres(_) => Ok(()),
        }
    }

    /// Returns the rows of a query whose columns are texts.
    async fn rows<const N: usize>(&mut self, query: &'static str) -> Result<Vec<[String; N]>> {
        let mut found = Vec::new();
        match self {
            Self::Sqlite(connection) => {
                let mut statement = connection.prepare(query)?;
                let mut rows = statement.query([])?;
                while let Some(row) = rows.next()? {
                    let mut texts = [const { String::new() }; N];
                    for (column, text) in texts.iter_mut().enumerate() {
                        *text = row.get(column)?;
                    }
                    found.push(texts);
                }
            }
            Self::Postgres(connection) => {
                for row in sqlx::query(query).fetch_all(connection).await? {
                    let mut texts = [const { String::new() }; N];
                    for (column, text) in texts.iter_mut().enumerate() {
                        *text = row.try_get(column)?;
                    }
                    found.push(texts);
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(user: &str, ticket: &str) -> Picked {
        Picked { user: user.to_owned(), ticket: ticket.to_owned(), millis: 1.0 }
    }

    fn found(tickets: &[[&str; 2]], news: &[[&str; 3]], last: &[[&str; 2]]) -> Found {
        let texts = |text: &&str| (*text).to_owned();
        Found {
            tickets: tickets.iter().map(|[id, user]| [texts(id), texts(user), "1".to_owned()]).collect(),
            news: news
                .iter()
                .map(|[user, seq, ticket]| {
                    [texts(user), texts(seq), "ticket:assigned".to_owned(), texts(ticket), texts(user)]
                })
                .collect(),
            last: last.iter().map(|[user, last]| [texts(user), texts(last)]).collect(),
        }
    }

    #[test]
    fn every_ticket_has_one_owner_who_was_told_once() {
        let tickets = [["t1", "ana"], ["t2", "ana"], ["t3", "eva"]];
        let news = [["ana", "1", "t2"], ["ana", "2", "t1"], ["eva", "1", "t3"]];
        let last = [["ana", "2"], ["eva", "1"]];
        let all = [picked("ana", "t1"), picked("ana", "t2"), picked("eva", "t3")];
        let right = found(&tickets, &news, &last);
        assert_eq!(right.fault(3, Some(&all)), None);
        assert_eq!(right.fault(3, None), None);
        assert!(right.fault(4, None).is_some(), "a ticket is lost");
        assert!(right.fault(3, Some(&all[..2])).is_some(), "somebody has what nobody gave them");
        let twice = [all.as_slice(), &[picked("eva", "t1")]].concat();
        assert!(right.fault(3, Some(&twice)).is_some(), "two were given one ticket");
        let wrong: [Found; 6] = [
            found(&[["t1", "ana"], ["t2", ""], ["t3", "eva"]], &news, &last),
            found(&tickets, &news[..2], &last),
            found(&tickets, &[["ana", "1", "t2"], ["ana", "3", "t1"], ["eva", "1", "t3"]], &last),
            found(&tickets, &[["ana", "1", "t2"], ["ana", "2", "t2"], ["eva", "1", "t3"]], &last),
            found(&tickets, &[["ana", "1", "t2"], ["ana", "2", "t1"], ["ana", "3", "t3"]], &last),
            found(&tickets, &news, &[["ana", "2"], ["eva", "2"]]),
        ];
        assert!(wrong.iter().all(|found| found.fault(3, None).is_some()));
    }
}
