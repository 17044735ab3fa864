//! The names of what tickets refer to.

use async_trait::async_trait;
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{ContactId, QueueId, UserId};
use flowsdk_helpdesk::names::{HasNames, NameRepository};
use flowsdk_helpdesk::tag::TagId;

use super::SqlTx;
use super::statement::{Sql, sql_list};

const QUEUES: Sql = sql_list!("SELECT id, name FROM queue WHERE id ", "$1", "");
const USERS: Sql = sql_list!("SELECT id, name FROM user_account WHERE id ", "$1", "");
const CONTACTS: Sql = sql_list!("SELECT id, name FROM contact WHERE id ", "$1", "");
const TAGS: Sql = sql_list!("SELECT id, name FROM tag WHERE id ", "$1", "");

super::statement::statements! { QUEUES, USERS, CONTACTS, TAGS }

super::accessor::has!(HasNames::names -> NameRepository);

#[async_trait]
impl NameRepository for SqlTx {
    async fn queues(&mut self, ids: &[QueueId]) -> Result<Vec<(QueueId, String)>, StorageError> {
        self.conn.fetch_all(QUEUES, (Json(ids),)).await
    }

    async fn users(&mut self, ids: &[UserId]) -> Result<Vec<(UserId, String)>, StorageError> {
        self.conn.fetch_all(USERS, (Json(ids),)).await
    }

    async fn contacts(&mut self, ids: &[ContactId]) -> Result<Vec<(ContactId, String)>, StorageError> {
        self.conn.fetch_all(CONTACTS, (Json(ids),)).await
    }

    async fn tags(&mut self, ids: &[TagId]) -> Result<Vec<(TagId, String)>, StorageError> {
        self.conn.fetch_all(TAGS, (Json(ids),)).await
    }
}
