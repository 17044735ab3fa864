//! The rotation of secrets knows every encrypted column.

use crate::sql::references;

const ENCRYPTED: &str =
    "SELECT t.name || '.' || c.name FROM sqlite_schema AS t, pragma_table_info(t.name) AS c
     WHERE t.type = 'table' AND c.name LIKE '%encrypted' ORDER BY 1";

#[tokio::test]
async fn every_encrypted_column_is_rotated() {
    let mut connection = super::migrated_sqlite().await;
    let found: Vec<(String,)> =
        sqlx::query_as(ENCRYPTED).fetch_all(&mut connection).await.expect("the columns");
    let mut rotated = references::SECRETS.iter().map(|secret| secret.name).collect::<Vec<_>>();
    rotated.sort_unstable();
    assert_eq!(found.into_iter().map(|(name,)| name).collect::<Vec<_>>(), rotated);
}
