//! The readers of Redis Streams, each on a connection of its own.
//!
//! The ids that a reader returns only ever grow: first the pending entries of the group, claimed in the order
//! of ids, then new ones. So the last id is the whole place of a reader. After an error it claims again
//! behind that id: entries of an answer that was lost come then, entries already returned do
//! not, and nothing is overtaken.
//!
//! Waiting and reading are two commands. `XREADGROUP .. BLOCK` of an owner that was replaced, but does not
//! know it, would still be waiting on the server and take the next entry from its successor; here only
//! `XREAD` waits, which takes nothing, and a script reads, which looks first who owns the group.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::sync::LazyLock;
use std::time::Duration;

use ::redis::aio::MultiplexedConnection;
use ::redis::{AsyncConnectionConfig, Client, ErrorKind, RedisError, RedisResult, Script, Value, cmd};
use async_trait::async_trait;
use flowsdk_core::stream::broker::{BrokerError, Entry, StreamReader};
use tokio::time::{Instant, timeout};

use super::broker::{KEY, PAYLOAD};
use super::{ANSWER, DIAL, boxed};

static OPEN: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/open.lua")));
static READ: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/read.lua")));
static LAST: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!("lua/last.lua")));

/// Most entries in one answer, whatever the caller asks for.
const MOST: usize = 10_000;
/// The shortest wait that is worth a command; `BLOCK 0` would be for ever.
const SHORTEST_WAIT: Duration = Duration::from_millis(1);

/// An entry as the server gives it: id, then fields and values in turn.
type Raw = (String, Vec<Vec<u8>>);

/// A connection for one reader, dialled when it is needed.
struct Line {
    client: Client,
    connection: Option<MultiplexedConnection>,
}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Line").field("connected", &self.connection.is_some()).finish_non_exhaustive()
    }
}

impl Line {
    fn new(client: Client) -> Self {
        Self { client, connection: None }
    }

    /// Does `work` on the connection; hangs up when it fails or takes longer than `longest`.
    async fn with<T, F>(
        &mut self,
        longest: Duration,
        work: impl FnOnce(MultiplexedConnection) -> F,
    ) -> RedisResult<T>
    where
        F: Future<Output = RedisResult<T>>,
    {
        let connection = match &self.connection {
            Some(connection) => connection.clone(),
            None => {
                // The library's own limit of 500 ms would end every longer wait.
                let config = AsyncConnectionConfig::new()
                    .set_response_timeout(None)
                    .set_connection_timeout(Some(DIAL));
                let fresh = self.client.get_multiplexed_async_connection_with_config(&config).await?;
                self.connection.insert(fresh).clone()
            }
        };
        let result = timeout(longest, work(connection))
            .await
            .unwrap_or_else(|_| Err((ErrorKind::Io, "the server does not answer").into()));
        if result.is_err() {
            self.connection = None;
        }
        result
    }

    /// Waits up to `wait` for an entry behind `id`, without taking it.
    async fn wait(&mut self, stream: &str, id: &str, wait: Duration) -> RedisResult<()> {
        let mut read = cmd("XREAD");
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        read.arg("COUNT").arg(1).arg("BLOCK").arg(millis).arg("STREAMS").arg(stream).arg(id);
        let longest = wait.saturating_add(ANSWER);
        let seen: RedisResult<Value> =
            self.with(longest, |mut connection| async move { read.query_async(&mut connection).await }).await;
        seen.map(drop)
    }
}

/// Entries fetched and not returned yet, and the last id of them.
#[derive(Debug, Default)]
struct Fetched {
    ready: VecDeque<Result<Entry, BrokerError>>,
    last: Option<String>,
}

impl Fetched {
    fn add(&mut self, entries: Vec<Raw>) {
        for raw in entries {
            self.last = Some(raw.0.clone());
            self.ready.push_back(parse(raw));
        }
    }

    /// Up to `count` entries, at most up to one that cannot be read; that one alone, as an error.
    fn take(&mut self, count: usize) -> Option<Result<Vec<Entry>, BrokerError>> {
        let mut entries = Vec::new();
        while entries.len() < count {
            match self.ready.pop_front() {
                Some(Ok(entry)) => entries.push(entry),
                Some(Err(error)) if entries.is_empty() => return Some(Err(error)),
                Some(error) => {
                    self.ready.push_front(error);
                    break;
                }
                None => break,
            }
        }
        (!entries.is_empty()).then_some(Ok(entries))
    }
}

fn parse((id, fields): Raw) -> Result<Entry, BrokerError> {
    let mut key = None;
    let mut payload = None;
    let mut fields = fields.into_iter();
    while let (Some(name), Some(value)) = (fields.next(), fields.next()) {
        if name == KEY.as_bytes() {
            key = String::from_utf8(value).ok();
        } else if name == PAYLOAD.as_bytes() {
            payload = String::from_utf8(value).ok();
        }
    }
    match (key, payload) {
        (Some(key), Some(payload)) => Ok(Entry { id, key, payload }),
        _ => Err(BrokerError::Corrupt { id, reason: "no text in its fields key and payload".to_owned() }),
    }
}

/// Reads one stream for one group.
#[derive(Debug)]
pub(super) struct GroupReader {
    line: Line,
    stream: String,
    owner: String,
    group: String,
    consumer: String,
    /// Grows with each opening of the group; a reader with a smaller one is refused.
    token: String,
    /// The id from which to claim more pending entries; `None` when all are claimed.
    claim: Option<String>,
    fetched: Fetched,
}

impl GroupReader {
    pub(super) async fn open(
        client: Client,
        stream: String,
        group: &str,
        consumer: &str,
    ) -> RedisResult<Self> {
        let mut reader = Self {
            line: Line::new(client),
            // In braces, so that both keys are in one slot of a cluster.
            owner: format!("{{{stream}}}:owner:{group}"),
            stream,
            group: group.to_owned(),
            consumer: consumer.to_owned(),
            token: String::new(),
            claim: Some("0-0".to_owned()),
            fetched: Fetched::default(),
        };
        reader.token = reader.take_over().await?;
        Ok(reader)
    }

    /// Creates the group where it is not there, and makes this reader its owner.
    async fn take_over(&mut self) -> RedisResult<String> {
        let mut open = OPEN.key(&self.stream);
        open.key(&self.owner).arg(&self.group);
        self.line.with(ANSWER, |mut connection| async move { open.invoke_async(&mut connection).await }).await
    }

    /// Fetches up to `count` entries; when there are none, returns the id behind which to wait.
    async fn fetch(&mut self, count: usize) -> RedisResult<Option<String>> {
        let mut read = READ.key(&self.stream);
        read.key(&self.owner)
            .arg(&self.token)
            .arg(&self.group)
            .arg(&self.consumer)
            .arg(count.clamp(1, MOST))
            .arg(self.claim.as_deref().unwrap_or_default());
        let (claim, wait_behind, entries): (String, String, Vec<Raw>) = self
            .line
            .with(ANSWER, |mut connection| async move { read.invoke_async(&mut connection).await })
            .await?;
        self.claim = Some(claim).filter(|claim| !claim.is_empty());
        self.fetched.add(entries);
        Ok(Some(wait_behind).filter(|id| !id.is_empty()))
    }

    async fn recover(&mut self, error: RedisError) -> BrokerError {
        self.claim = Some(match &self.fetched.last {
            Some(last) => format!("({last}"),
            None => "0-0".to_owned(),
        });
        if error.code() == Some("NOGROUP") {
            // The server lost the stream. It starts again, and so does the group.
            match self.take_over().await {
                Ok(token) => self.token = token,
                Err(error) => return BrokerError::Unavailable(boxed(error)),
            }
        }
        BrokerError::Unavailable(boxed(error))
    }
}

#[async_trait]
impl StreamReader for GroupReader {
    async fn read(&mut self, count: usize, wait: Duration) -> Result<Vec<Entry>, BrokerError> {
        let end = Instant::now() + wait;
        loop {
            if let Some(given) = self.fetched.take(count) {
                return given;
            }
            let step = match self.fetch(count).await {
                Ok(None) => Ok(()),
                Ok(Some(id)) => {
                    let left = end.saturating_duration_since(Instant::now());
                    if left < SHORTEST_WAIT {
                        return Ok(Vec::new());
                    }
                    self.line.wait(&self.stream, &id, left).await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = step {
                return Err(self.recover(error).await);
            }
        }
    }
}

/// Reads one stream from where it ended when the reader was opened.
#[derive(Debug)]
pub(super) struct TailReader {
    line: Line,
    stream: String,
    last: String,
    fetched: Fetched,
}

impl TailReader {
    pub(super) async fn open(client: Client, stream: String) -> RedisResult<Self> {
        let mut line = Line::new(client);
        // A concrete id: behind `$`, entries that come between two reads would be missed.
        let last = LAST.key(&stream);
        let last = line
            .with(ANSWER, |mut connection| async move { last.invoke_async(&mut connection).await })
            .await?;
        Ok(Self { line, stream, last, fetched: Fetched::default() })
    }

    /// Fetches up to `count` entries; whether there were any.
    async fn fetch(&mut self, count: usize) -> RedisResult<bool> {
        let mut range = cmd("XRANGE");
        range
            .arg(&self.stream)
            .arg(format!("({}", self.last))
            .arg("+")
            .arg("COUNT")
            .arg(count.clamp(1, MOST));
        let entries: Vec<Raw> = self
            .line
            .with(ANSWER, |mut connection| async move { range.query_async(&mut connection).await })
            .await?;
        let any = !entries.is_empty();
        self.fetched.add(entries);
        if let Some(last) = &self.fetched.last {
            self.last.clone_from(last);
        }
        Ok(any)
    }
}

#[async_trait]
impl StreamReader for TailReader {
    async fn read(&mut self, count: usize, wait: Duration) -> Result<Vec<Entry>, BrokerError> {
        let end = Instant::now() + wait;
        loop {
            if let Some(given) = self.fetched.take(count) {
                return given;
            }
            let step = match self.fetch(count).await {
                Ok(true) => Ok(()),
                Ok(false) => {
                    let left = end.saturating_duration_since(Instant::now());
                    if left < SHORTEST_WAIT {
                        return Ok(Vec::new());
                    }
                    self.line.wait(&self.stream, &self.last, left).await
                }
                Err(error) => Err(error),
            };
            step.map_err(|error| BrokerError::Unavailable(boxed(error)))?;
        }
    }
}
