//! Records: their texts, and the errors of a row that cannot be read.

use flowsdk_channels::channel_number::ChannelNumber;
use flowsdk_core::chat::{Chat, ChatTag};
use flowsdk_core::fault::StorageError;
use flowsdk_core::prelude::*;

use crate::sql::record::Record;
use crate::sql::statement::sql;
use crate::sql::{OutboxRoutes, SqlStore};

#[test]
fn a_record_has_its_texts() {
    assert_eq!(ChatTag::SELECT, "SELECT chat_id, tag, created_at FROM chat_tag");
    assert_eq!(ChatTag::INSERT, "INSERT INTO chat_tag (chat_id, tag, created_at) VALUES ($1, $2, $3)");
    assert_eq!(ChannelNumber::COUNT, 13);
    assert_eq!(
        ChannelNumber::UPDATE,
        "UPDATE channel_number SET (name, phone_number, business_account_id, access_token_encrypted, \
         encryption_public_key, encryption_private_key_encrypted, encryption_passphrase_encrypted, active, \
         updated_at) = ($2, $3, $4, $5, $6, $7, $8, $9, $10) WHERE id = $1"
    );
}

#[tokio::test]
async fn a_row_that_cannot_be_read_names_its_table_and_column() {
    unreadable("sqlite::memory:").await;
    let folder = tempfile::tempdir().expect("a folder");
    unreadable(&format!("sqlite:{}", folder.path().join("t.db").display())).await;
    match super::new_postgres().await {
        Some(server) => unreadable(&server).await,
        None => super::skipped("a_row_that_cannot_be_read"),
    }
}

async fn unreadable(url: &str) {
    let url = url.parse().expect("an address");
    let store = SqlStore::connect(&url, OutboxRoutes::embedded([])).await.expect("a database");
    let mut tx = store.begin().await.expect("begin");
    for row in [
        "INSERT INTO contact (id, phone_number, name, created_at) VALUES ('a', '1', '', 7)",
        "INSERT INTO chat (id, contact_id, status, created_at) VALUES ('c', 'a', 'ajar', 7)",
    ] {
        tx.conn.execute(sql(row), ()).await.expect("a row");
    }
    tx.commit().await.expect("commit");
    let mut tx = store.read().await.expect("read");
    let id = "c".parse().expect("an id");
    let (entity, reason) = corrupt(tx.chat_catalog().find(&id).await.map(drop));
    assert_eq!((entity, &*reason), (Chat::TABLE, "column status: \"ajar\" is not a known name"));
    let status = tx.conn.fetch_column::<i64>(sql("SELECT status FROM chat"), ()).await;
    let (entity, reason) = corrupt(status.map(drop));
    assert_eq!((entity, &*reason), ("chat", "column status: an integer was expected, not a text"));
}

fn corrupt(found: Result<(), StorageError>) -> (&'static str, String) {
    match found {
        Err(StorageError::Corrupt { entity, reason }) => (entity, reason),
        other => panic!("{other:?}"),
    }
}
