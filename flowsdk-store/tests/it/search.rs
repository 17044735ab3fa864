//! What searches take among a million contacts: `cargo test -p flowsdk-store --release -- --ignored million --nocapture`.
#![allow(clippy::print_stderr, clippy::disallowed_methods, reason = "it measures, and tells what")]

use std::time::Instant;

use flowsdk_core::contact::{ContactFilter, search_terms};
use flowsdk_core::page::PageRequest;
use flowsdk_core::store::{PeopleTx as _, Store as _};
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use sqlx::{AssertSqlSafe, Connection as _};

use crate::support::databases;

/// Ten frequent names and two thousand rare ones, five frequent surnames and five thousand rare ones.
const FILL: [&str; 5] = [
    "CREATE TABLE numbers AS SELECT n, 1700000000000 + n * 1000 AS at, '55119' || SUBSTR('00000000' || n, -8) AS phone,
        CASE WHEN n % 2 = 0 THEN 'nome' || (n * 7919 % 2000) ELSE 'maria' || (n / 2 % 10) END AS name,
        CASE WHEN n % 3 = 0 THEN 'sobrenome' || (n * 104729 % 5000) ELSE 'silva' || (n / 3 % 5) END AS surname FROM series",
    "INSERT INTO contact (id, phone_number, name, created_at, search, origin)
     SELECT 'c' || n, phone, name || ' ' || surname, at, 'x', 'phone' FROM numbers",
    "INSERT INTO contact_word (contact_id, word, created_at) SELECT 'c' || n, name, at FROM numbers",
    "INSERT INTO contact_word (contact_id, word, created_at) SELECT 'c' || n, surname, at FROM numbers",
    "INSERT INTO contact_word (contact_id, word, created_at) SELECT 'c' || n, phone, at FROM numbers",
];

async fn measure(engine: &str, store: &SqlStore) {
    for query in [
        "a",
        "5",
        "55119",
        "maria",
        "mar",
        "maria3",
        "silva2",
        "nome77",
        "5511900500000",
        "sobrenome maria",
        "silva1 maria4",
        "nome1234 sobrenome",
        "nome0 silva",
        "zzz",
    ] {
        let filter = ContactFilter { terms: search_terms(query), origin: None };
        let mut best = f64::MAX;
        let mut found = 0;
        for _ in 0..3 {
            let mut tx = store.read().await.expect("read");
            let begin = Instant::now();
            let page =
                tx.contact_catalog().list(&filter, None, &PageRequest::default()).await.expect("a page");
            best = best.min(begin.elapsed().as_secs_f64() * 1e3);
            found = page.items.len();
        }
        eprintln!("{engine:8} {query:22} {found:3} found {best:8.1} ms");
    }
}

#[test]
#[ignore = "measures: a million contacts on each engine"]
fn a_million_contacts_are_searched() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let url = databases::new_file();
        let DatabaseUrl::SqliteFile(path) = &url else { unreachable!("a file") };
        let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
        let mut plain = sqlx::SqliteConnection::connect(&path.display().to_string()).await.expect("a file");
        let series = "CREATE TABLE series AS WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < 999999)
            SELECT n FROM s";
        for statement in [series].into_iter().chain(FILL) {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut plain).await.expect(statement);
        }
        measure("SQLite", &store).await;
        let Some((url, name)) = databases::new_postgres().await else { return };
        let DatabaseUrl::Postgres(options) = &url else { unreachable!("a server") };
        let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
        databases::connected(name);
        let mut plain = sqlx::PgConnection::connect_with(options).await.expect("a connection");
        let series = "CREATE TABLE series AS SELECT n FROM generate_series(0::bigint, 999999) AS n";
        for statement in [series].into_iter().chain(FILL).chain(["ANALYZE"]) {
            let statement = statement.replace("SUBSTR('00000000' || n, -8)", "LPAD(n::text, 8, '0')");
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut plain).await.expect("filled");
        }
        measure("Postgres", &store).await;
    });
}
