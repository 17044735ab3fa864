//! The schema is the same on both engines.

use sqlx::{PgConnection, SqliteConnection};

/// Table, column, type as SQLite names it, whether it may be NULL.
type Column = (String, String, String, bool);
/// Table, columns in order, whether it is unique, whether it is partial.
type Index = (String, String, bool, bool);
/// Table, column, the table it points to, the effect of a deletion there.
type Reference = (String, String, String, String);

async fn sqlite(connection: &mut SqliteConnection) -> (Vec<Column>, Vec<Index>, Vec<Reference>) {
    const TABLES: &str = "FROM sqlite_schema AS t, ";
    const OURS: &str = "t.type = 'table' AND t.name NOT LIKE 'sqlite%' AND t.name NOT LIKE '_sqlx%'";
    let columns = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "SELECT t.name, c.name, c.type, c.\"notnull\" = 0 AND c.pk = 0 {TABLES} pragma_table_info(t.name) AS c WHERE {OURS}"
    )));
    // An INTEGER PRIMARY KEY has no index of its own.
    let indexes = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "SELECT t.name, (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(i.name) ORDER BY seqno)),
                i.\"unique\" = 1, i.partial = 1
         {TABLES} pragma_index_list(t.name) AS i WHERE {OURS}
         UNION ALL SELECT t.name, c.name, 1, 0 {TABLES} pragma_table_info(t.name) AS c
         WHERE {OURS} AND c.pk = 1 AND c.type = 'INTEGER'"
    )));
    let references = sqlx::query_as(sqlx::AssertSqlSafe(format!(
        "SELECT t.name, f.\"from\", f.\"table\", f.on_delete {TABLES} pragma_foreign_key_list(t.name) AS f WHERE {OURS}"
    )));
    (
        columns.fetch_all(&mut *connection).await.expect("columns"),
        indexes.fetch_all(&mut *connection).await.expect("indexes"),
        references.fetch_all(&mut *connection).await.expect("references"),
    )
}

async fn postgres(connection: &mut PgConnection) -> (Vec<Column>, Vec<Index>, Vec<Reference>) {
    let columns = sqlx::query_as(
        "SELECT table_name::text, column_name::text,
                CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'jsonb' THEN 'TEXT' WHEN 'text' THEN 'TEXT'
                     WHEN 'bytea' THEN 'BLOB' ELSE data_type::text END, is_nullable = 'YES'
         FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE '\\_sqlx%'",
    );
    let indexes = sqlx::query_as(
        "SELECT t.relname::text,
                (SELECT string_agg(a.attname, ',' ORDER BY k.n) FROM unnest(i.indkey::int[]) WITH ORDINALITY AS k (at, n)
                 JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.at),
                i.indisunique, i.indpred IS NOT NULL
         FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_namespace s ON s.oid = t.relnamespace
         WHERE s.nspname = 'public' AND t.relname NOT LIKE '\\_sqlx%'",
    );
    let references = sqlx::query_as(
        "SELECT t.relname::text, a.attname::text, r.relname::text,
                CASE c.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' ELSE 'NO ACTION' END
         FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_class r ON r.oid = c.confrelid
         JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = c.conkey[1] WHERE c.contype = 'f'",
    );
    (
        columns.fetch_all(&mut *connection).await.expect("columns"),
        indexes.fetch_all(&mut *connection).await.expect("indexes"),
        references.fetch_all(&mut *connection).await.expect("references"),
    )
}

/// The columns by which SQLite finds the messages of a chat, in place of a key and an index of all.
const CHAIN: [(&str, &str); 3] = [("chat", "last_message"), ("chat", "last_seq"), ("message", "previous")];

fn same<T: Ord + std::fmt::Debug>(mut sqlite: Vec<T>, mut postgres: Vec<T>) {
    assert!(!sqlite.is_empty());
    sqlite.sort_unstable();
    postgres.sort_unstable();
    let only = |these: &[T], those: &[T]| -> Vec<String> {
        these.iter().filter(|item| !those.contains(item)).map(|item| format!("{item:?}")).collect()
    };
    let (left, right) = (only(&sqlite, &postgres), only(&postgres, &sqlite));
    assert!(sqlite == postgres, "only on SQLite: {left:#?}\nonly on Postgres: {right:#?}");
}

#[tokio::test]
async fn the_schema_is_the_same_on_both_engines() {
    let Some(mut connection) = super::migrated_postgres().await else {
        return super::skipped("the_schema_is_the_same_on_both_engines");
    };
    let on_postgres = postgres(&mut connection).await;
    let on_sqlite = sqlite(&mut super::migrated_sqlite().await).await;
    let (columns, indexes, references) = on_sqlite;
    let of_chains = |column: &Column| CHAIN.contains(&(column.0.as_str(), column.1.as_str()));
    let (chain, columns): (Vec<_>, _) = columns.into_iter().partition(of_chains);
    assert_eq!(chain.len(), CHAIN.len(), "{chain:?}");
    same(columns, on_postgres.0);
    let numbers = |is_partial| ("message".to_owned(), "chat_id,seq".to_owned(), true, is_partial);
    let others = |indexes: Vec<Index>, is_partial| {
        let (numbered, others): (Vec<_>, _) =
            indexes.into_iter().partition(|one| *one == numbers(is_partial));
        assert_eq!(numbered.len(), 1);
        others
    };
    // Claims of Postgres have an index of their own, whose first part is an expression.
    let claims: Index = ("ticket".to_owned(), "created_at,id".to_owned(), false, true);
    let (own, of_postgres): (Vec<_>, _) = on_postgres.1.into_iter().partition(|one| *one == claims);
    assert_eq!(own.len(), 1);
    same(others(indexes, true), others(of_postgres, false));
    let key = |one: &Reference| one.0 == "message" && one.1 == "chat_id";
    let (keys, on_postgres): (Vec<_>, _) = on_postgres.2.into_iter().partition(key);
    assert_eq!(keys.len(), 1);
    same(references, on_postgres);
}

#[tokio::test]
async fn every_table_of_sqlite_is_strict() {
    let mut connection = super::migrated_sqlite().await;
    let lax: Vec<(String,)> = sqlx::query_as(
        "SELECT name FROM pragma_table_list WHERE type = 'table' AND strict = 0
         AND name NOT LIKE 'sqlite%' AND name NOT LIKE '_sqlx%'",
    )
    .fetch_all(&mut connection)
    .await
    .expect("tables");
    assert_eq!(lax, []);
}
