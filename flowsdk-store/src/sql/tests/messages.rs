//! The numbers of messages that older versions wrote.

use crate::sql::migrations;

/// Rows of the version before, in no order: of one millisecond the smaller id was the first.
const BEFORE: &str = "INSERT INTO router (id, name, tz, created_at) VALUES ('r1', 'R', 'UTC', 1);
    INSERT INTO contact (id, phone_number, name, created_at) VALUES ('p1', 'wc-c1-1', 'P', 1), ('p2', 'wc-c1-2', 'P', 1);
    INSERT INTO chat (id, contact_id, router_id, status, created_at) VALUES ('a', 'p1', 'r1', 'open', 1), ('b', 'p2', 'r1', 'open', 1);
    INSERT INTO message (id, chat_id, session_id, direction, kind, content, created_at, status_updated_at) VALUES
        ('m9', 'a', 's', 'in', 'text', '{}', 1, 1), ('m3', 'a', 's', 'out', 'text', '{}', 5, 5),
        ('m2', 'a', 's', 'out', 'text', '{}', 5, 9), ('m1', 'b', 's', 'in', 'text', '{}', 7, 7),
        ('m4', 'a', 's', 'in', 'text', '{}', 8, 8);";

/// Messages that a process of the version before writes after the migration, two of them at once.
const LATER: &str = "INSERT INTO message (id, chat_id, session_id, direction, kind, content, created_at, status_updated_at) VALUES
        ('n3', 'a', 's', 'in', 'text', '{}', 2, 2), ('n2', 'a', 's', 'out', 'text', '{}', 2, 2);
    INSERT INTO message (id, chat_id, session_id, direction, kind, content, created_at, status_updated_at) VALUES
        ('n1', 'b', 's', 'out', 'text', '{}', 3, 3);";

const STORED: &str = "SELECT id, seq FROM message ORDER BY chat_id, seq";

/// Each chat with its newest message, and each message with the one before it.
const CHAINED: &str = "SELECT id, last_message FROM chat WHERE last_seq = 4
    UNION ALL SELECT id, previous FROM (SELECT id, previous FROM message WHERE previous IS NOT NULL ORDER BY seq)
    UNION ALL SELECT id, last_message FROM chat WHERE last_seq = 1";

const NUMBERED: [(&str, i64); 5] = [("m9", 1), ("m2", 2), ("m3", 3), ("m4", 4), ("m1", 1)];

#[tokio::test]
async fn messages_of_the_version_before_are_numbered_in_their_order() {
    let mut connection = super::sqlite().await;
    super::before(&migrations::sqlite(), 16)
        .run_direct(None, &mut connection, false)
        .await
        .expect("migrated");
    sqlx::raw_sql(BEFORE).execute(&mut connection).await.expect("rows");
    migrations::sqlite().run_direct(None, &mut connection, false).await.expect("migrated");
    let found: Vec<(String, i64)> =
        sqlx::query_as(STORED).fetch_all(&mut connection).await.expect("messages");
    assert_eq!(found, NUMBERED.map(|(id, seq)| (id.to_owned(), seq)));
    let chained: Vec<(String, String)> =
        sqlx::query_as(CHAINED).fetch_all(&mut connection).await.expect("a chain");
    let expected = [("a", "m4"), ("m2", "m9"), ("m3", "m2"), ("m4", "m3"), ("b", "m1")];
    assert_eq!(chained, expected.map(|(of, newest)| (of.to_owned(), newest.to_owned())));
    let Some(mut connection) = super::postgres().await else {
        return super::skipped("messages_of_the_version_before_are_numbered_in_their_order");
    };
    super::before(&migrations::postgres(), 16)
        .run_direct(None, &mut connection, false)
        .await
        .expect("migrated");
    sqlx::raw_sql(BEFORE).execute(&mut connection).await.expect("rows");
    migrations::postgres().run_direct(None, &mut connection, false).await.expect("migrated");
    let found: Vec<(String, i64)> =
        sqlx::query_as(STORED).fetch_all(&mut connection).await.expect("messages");
    assert_eq!(found, NUMBERED.map(|(id, seq)| (id.to_owned(), seq)));

    sqlx::raw_sql(LATER).execute(&mut connection).await.expect("rows");
    let found: Vec<(String, i64)> =
        sqlx::query_as(STORED).fetch_all(&mut connection).await.expect("messages");
    let expected = [("m9", 1), ("m2", 2), ("m3", 3), ("m4", 4), ("n3", 5), ("n2", 6), ("m1", 1), ("n1", 2)];
    assert_eq!(found, expected.map(|(id, seq)| (id.to_owned(), seq)));
}
