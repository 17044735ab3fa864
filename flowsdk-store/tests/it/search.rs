//! Searches among so many contacts that some words are frequent: whichever way a search takes, it finds the newest
//! contacts that have all its words.
#![allow(clippy::print_stderr, reason = "a skip is told")]

use flowsdk_core::contact::{ContactFilter, HasContactCatalog as _, search_terms};
use flowsdk_core::page::PageRequest;
use flowsdk_core::store::Store as _;
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use sqlx::{AssertSqlSafe, Connection as _};

use crate::support::databases;

/// More than the words beyond which a term counts as frequent (2,000), and than the newest contacts that are looked
/// at for frequent terms (20,000).
const CONTACTS: usize = 30_000;

/// Frequent and rare names and surnames; of the fields of [`words`].
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

/// The words of contact `n`, as [`FILL`] makes them.
fn words(n: usize) -> [String; 3] {
    let name =
        if n.is_multiple_of(2) { format!("nome{}", n * 7919 % 2000) } else { format!("maria{}", n / 2 % 10) };
    let surname = if n.is_multiple_of(3) {
        format!("sobrenome{}", n * 104_729 % 5000)
    } else {
        format!("silva{}", n / 3 % 5)
    };
    [name, surname, format!("55119{n:08}")]
}

async fn finds_the_newest(engine: &str, store: &SqlStore) {
    for query in [
        "5",
        "55119",
        "maria",
        "maria3",
        "silva2",
        "nome77",
        "5511900005000",
        "sobrenome maria",
        "silva1 maria4",
        "nome1234 sobrenome",
        "nome0 silva",
        // Both frequent, and together only among the oldest.
        "55119000000 silva",
        "zzz",
    ] {
        let has_all = |n: &usize| {
            let words = words(*n);
            query.split(' ').all(|term| words.iter().any(|word| word.starts_with(term)))
        };
        let expected: Vec<String> =
            (0..CONTACTS).rev().filter(has_all).take(50).map(|n| format!("c{n}")).collect();
        let filter = ContactFilter { terms: search_terms(query), origin: None };
        let mut tx = store.read().await.expect("read");
        let page = tx.contact_catalog().list(&filter, None, &PageRequest::default()).await.expect("a page");
        let found: Vec<String> = page.items.iter().map(|contact| contact.id.to_string()).collect();
        assert_eq!(found, expected, "{engine}: {query}");
    }
}

#[tokio::test]
async fn frequent_and_rare_words_lead_to_the_newest_on_sqlite() {
    let url = databases::new_file();
    let DatabaseUrl::SqliteFile { path, .. } = &url else { unreachable!("a file") };
    let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
    let mut plain = sqlx::SqliteConnection::connect(&path.display().to_string()).await.expect("a file");
    let series = format!(
        "CREATE TABLE series AS WITH RECURSIVE s (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n < {})
         SELECT n FROM s",
        CONTACTS - 1
    );
    sqlx::raw_sql(AssertSqlSafe(series)).execute(&mut plain).await.expect("numbers");
    for statement in FILL {
        sqlx::raw_sql(statement).execute(&mut plain).await.expect(statement);
    }
    finds_the_newest("SQLite", &store).await;
}

#[tokio::test]
async fn frequent_and_rare_words_lead_to_the_newest_on_postgres() {
    let Some((url, name)) = databases::new_postgres().await else {
        eprintln!("SKIPPED: FLOWSDK_TEST_POSTGRES is not set");
        return;
    };
    let DatabaseUrl::Postgres(options) = &url else { unreachable!("a server") };
    let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
    databases::connected(name);
    let mut plain = sqlx::PgConnection::connect_with(options).await.expect("a connection");
    let series =
        format!("CREATE TABLE series AS SELECT n FROM generate_series(0::bigint, {}) AS n", CONTACTS - 1);
    sqlx::raw_sql(AssertSqlSafe(series)).execute(&mut plain).await.expect("numbers");
    for statement in FILL {
        let statement = statement.replace("SUBSTR('00000000' || n, -8)", "LPAD(n::text, 8, '0')");
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut plain).await.expect("filled");
    }
    finds_the_newest("Postgres", &store).await;
}
