//! The rotation of secrets knows every encrypted column.

use sqlx::{Executor as _, SqlSafeStr as _};

use crate::sql::rotation;

const ENCRYPTED: &str =
    "SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
     WHERE t.type = 'table' AND c.name LIKE '%encrypted' ORDER BY 1";

#[tokio::test]
async fn every_encrypted_column_is_rotated() {
    let mut connection = super::migrated_sqlite().await;
    let found: Vec<(String,)> =
        sqlx::query_as(ENCRYPTED).fetch_all(&mut connection).await.expect("the columns");
    let mut rotated = rotation::columns();
    rotated.sort_unstable();
    assert_eq!(found.into_iter().map(|(name,)| name).collect::<Vec<_>>(), rotated);
}

#[tokio::test]
async fn its_statements_prepare_on_both_engines() {
    let mut sqlite = super::migrated_sqlite().await;
    for (name, sql) in rotation::statements() {
        sqlite.prepare(sql.sqlite.into_sql_str()).await.expect(name);
    }
    let Some(mut postgres) = super::migrated_postgres().await else {
        return super::skipped("the statements of the rotation");
    };
    for (name, sql) in rotation::statements() {
        postgres.prepare(sql.postgres.into_sql_str()).await.expect(name);
    }
}
