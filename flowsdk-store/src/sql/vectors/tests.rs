//! Statements that need pgvector prepare where it is.

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, Row as _, SqlSafeStr as _};

use super::{copies, indexes, nearest, schema};
use crate::sql::{DatabaseUrl, OutboxRoutes, SqlStore, tests};

#[test]
fn copies_have_as_many_numbers_as_vectors() {
    assert!(schema::TABLES.contains(&format!(" vector({})", flowsdk_agent::knowledge::DIMENSIONS)));
}

/// A connection to a database with the tables of copies, if there is pgvector.
async fn prepared() -> Option<PgConnection> {
    let url = tests::new_pgvector().await?;
    let address: DatabaseUrl = url.parse().expect("an address");
    SqlStore::connect(&address, OutboxRoutes::relayed()).await.expect("a database").close().await;
    Some(PgConnection::connect(&url).await.expect("a database"))
}

/// Copies without documents, in two spaces.
const COPIES: &str = "SET session_replication_role = replica;
     INSERT INTO knowledge_vector (document_id, place, space, embedding)
     SELECT 'd', n, 1 + n % 2, array_fill(0::real, ARRAY[1500])
         || (SELECT array_agg(random()::real) FROM generate_series(1, 36) WHERE n = n)
     FROM generate_series(1, 1000) AS n;
     INSERT INTO knowledge_chunk (document_id, place, text, embedding)
     SELECT document_id, place, '', '' FROM knowledge_vector;
     CREATE INDEX knowledge_vector_near_1 ON knowledge_vector USING hnsw (embedding vector_cosine_ops) WHERE space = 1";

/// The plan of a search with its values, and how many rows its steps have.
#[tokio::test]
async fn the_nearest_are_found_by_the_index_of_their_space() {
    let Some(mut connection) = prepared().await else {
        return tests::skipped("the_nearest_are_found_by_the_index_of_their_space");
    };
    sqlx::raw_sql(COPIES).execute(&mut connection).await.expect("copies");
    let vector = format!("[{}1]", "0,".repeat(flowsdk_agent::knowledge::DIMENSIONS - 1));
    for (space, is_walked) in [(1_i64, true), (2, false)] {
        let explain = AssertSqlSafe(format!("EXPLAIN ANALYZE {}", nearest::BY_INDEX.postgres));
        let plan = sqlx::query(explain)
            .persistent(false)
            .bind(sqlx::types::Json(["d"]))
            .bind(&vector)
            .bind(21_i64)
            .bind(space)
            .bind(i64::from(nearest::FROM_INDEX));
        let steps = plan.fetch_all(&mut connection).await.expect("a plan");
        let steps: Vec<String> = steps.iter().map(|step| step.get(0)).collect();
        let walk = steps.iter().find(|step| step.contains("Index Scan using knowledge_vector_near_1"));
        assert_eq!(walk.is_some(), is_walked, "{steps:#?}");
        assert!(walk.is_none_or(|walk| !walk.contains("rows=40 ")), "the width of the search: {walk:?}");
    }
}

#[tokio::test]
async fn every_statement_of_copies_prepares() {
    let Some(mut connection) = prepared().await else {
        return tests::skipped("every_statement_of_copies_prepares");
    };
    let mut statements = vec![
        copies::UNCOPIED,
        copies::LOCKED,
        copies::ADD_SPACE,
        copies::SPACE,
        copies::COPIED,
        copies::FORGET,
        copies::SET_COPIED,
        copies::BATCH_OF,
        nearest::CURRENT,
        nearest::EXACT,
        nearest::BY_INDEX,
        indexes::SPACES,
        indexes::INDEXES,
        indexes::IS_BUILT,
    ];
    statements.extend(copies::PUT.all());
    for sql in statements {
        if let Err(error) = connection.prepare(sql.postgres.into_sql_str()).await {
            panic!("{error}\n{}", sql.postgres);
        }
    }
}
