//! The race of searches: the nearest of many passages by the index of pgvector, by comparing all of them in the database, and
//! by comparing all of them in the program.

mod library;
mod report;
mod texts;

use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use flowsdk_agent::knowledge::{Embedding, Passage, VectorIndex as _};
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use serde::Serialize;
use sqlx::{Connection as _, PgConnection};

use crate::Common;
use crate::services::Addresses;
use library::Library;
use report::Run;
use texts::Texts;

/// Passages that a search finds; the first five count by themselves too.
const LIMIT: usize = 10;
/// Passages about one thing.
const PER_TOPIC: usize = 100;

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    common: Common,
    /// A PostgreSQL with pgvector in which databases may be made
    #[arg(long, env = "FLOWSDK_TEST_PGVECTOR", hide_env_values = true, value_name = "URL")]
    pgvector: Option<String>,
    /// Passages of the router
    #[arg(long, default_value_t = 100_000)]
    passages: usize,
    /// Searches in the database
    #[arg(long, default_value_t = 200)]
    searches: usize,
    /// Searches in the program, which take seconds each
    #[arg(long, default_value_t = 30)]
    scans: usize,
}

/// How the nearest are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
enum Way {
    Index,
    Database,
    Program,
    Sqlite,
}

impl crate::report::Contender for Way {
    fn name(self) -> &'static str {
        match self {
            Self::Index => "pgvector, by the index",
            Self::Database => "pgvector, all compared in the database",
            Self::Program => "PostgreSQL, all compared in the program",
            Self::Sqlite => "SQLite, all compared in the program",
        }
    }
}

/// What it takes to have an index.
#[derive(Debug, Clone, Copy, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    copy_seconds: f64,
    build_seconds: f64,
    table_bytes: i64,
    index_bytes: i64,
    passages_bytes: i64,
}

/// What is searched, and what for.
struct Ground {
    vectors: Vec<Embedding>,
    queries: Vec<Embedding>,
}

/// Measures every way and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let url = options.pgvector.clone().context("no PostgreSQL with pgvector")?;
    ensure!(options.passages >= 20_000, "fewer passages than an index is for");
    let mut texts = Texts::new(11, options.passages / PER_TOPIC);
    let ground = Ground {
        vectors: (0..options.passages).map(|_| texts.next()).collect(),
        queries: (0..options.searches).map(|_| texts.next()).collect(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let (runs, cost) = runtime.block_on(measure_all(&url, &ground, options.scans))?;
    report::finish(options, &runs, cost)
}

async fn measure_all(server: &str, ground: &Ground, scans: usize) -> Result<(Vec<Run>, Cost)> {
    let database = Addresses::of_postgres(server).database().await?;
    let url: DatabaseUrl = database.url.parse()?;
    let store = SqlStore::connect(&url, OutboxRoutes::relayed()).await?;
    let library = Library::write(store, &ground.vectors).await?;
    let mut cost = Cost::default();
    // Without copies at first, and then without an index: the number of passages for one is out of reach.
    let unindexed = library.store.with_vectors_indexed_from(u32::MAX);
    let queries = &ground.queries;
    let few = queries.get(..scans).unwrap_or(queries);
    let (program, scanned) = measure(Way::Program, &library, &unindexed, few).await?;
    let began = Instant::now();
    while unindexed.tend().await? {}
    cost.copy_seconds = began.elapsed().as_secs_f64();
    let (in_database, truth) = measure(Way::Database, &library, &unindexed, queries).await?;
    let began = Instant::now();
    while library.store.tend().await? {}
    cost.build_seconds = began.elapsed().as_secs_f64();
    let (by_index, found) = measure(Way::Index, &library, &library.store, queries).await?;
    let mut connection = PgConnection::connect(&database.url).await?;
    (cost.table_bytes, cost.index_bytes, cost.passages_bytes) =
        sqlx::query_as(SIZES).fetch_one(&mut connection).await?;
    connection.close().await?;
    library.store.close().await;
    database.remove().await?;
    let (in_file, _) = on_sqlite(ground, few).await?;
    let runs =
        vec![by_index.compared(&found, &truth), in_database, program.compared(&scanned, &truth), in_file];
    Ok((runs, cost))
}

const SIZES: &str = "SELECT pg_table_size('knowledge_vector'),
     (SELECT CAST(SUM(pg_relation_size(indexrelid)) AS bigint) FROM pg_index
      WHERE indrelid = 'knowledge_vector'::regclass AND NOT indisprimary),
     pg_total_relation_size('knowledge_chunk')";

async fn on_sqlite(ground: &Ground, queries: &[Embedding]) -> Result<(Run, Found)> {
    let folder = tempfile::tempdir()?;
    let url: DatabaseUrl = format!("sqlite:{}", folder.path().join("race.db").display()).parse()?;
    let store = SqlStore::connect(&url, OutboxRoutes::relayed()).await?;
    let library = Library::write(store, &ground.vectors).await?;
    let measured = measure(Way::Sqlite, &library, &library.store, queries).await?;
    library.store.close().await;
    Ok(measured)
}

type Found = Vec<Vec<Passage>>;

/// Makes every search one way. Returns also what was found, the nearest first.
async fn measure(
    way: Way,
    library: &Library,
    store: &SqlStore,
    queries: &[Embedding],
) -> Result<(Run, Found)> {
    let (mut millis, mut found) = (Vec::new(), Vec::new());
    for query in queries.iter().take(3) {
        library.search(store, query, LIMIT).await?;
    }
    for query in queries {
        let began = Instant::now();
        let passages = library.search(store, query, LIMIT).await?;
        millis.push(began.elapsed().as_secs_f64() * 1_000.0);
        ensure!(passages.len() == LIMIT, "a search found {} passages", passages.len());
        found.push(passages);
    }
    let run = Run::of(way, millis);
    eprintln!("flowsdk-benches: {}", crate::report::line(&run));
    Ok((run, found))
}
