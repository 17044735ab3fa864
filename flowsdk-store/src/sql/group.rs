//! Groups of users.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_auth::group::{Group, GroupRepository, HasGroups};
use flowsdk_core::cell::Json;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::GroupId;
use flowsdk_core::page::{Page, PageRequest, Searched};

use super::SqlTx;
use super::list::ListSql;
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_list, sql_locking};

record! {
    Group in "user_group" { id, created_at; name, permissions: json, router_ids: json, updated_at }
}

const FIND_MANY: Sql = sql_list!(concat!(Group::SELECT, " WHERE id "), "$1", "");

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(Group::SELECT, " WHERE id = $1"));

pub(super) static LIST: ListSql = ListSql::of::<Group>();

const INSERT: Sql = sql(Group::INSERT);

const SAVE: Sql = sql(Group::UPDATE);

/// The foreign key takes the group from its users.
const DELETE: Sql = sql("DELETE FROM user_group WHERE id = $1");

super::statement::statements! { FIND_MANY, FIND_FOR_UPDATE, INSERT, SAVE, DELETE; LIST }

super::accessor::has!(HasGroups::groups -> GroupRepository);

#[async_trait]
impl GroupRepository for SqlTx {
    async fn find_many(&mut self, ids: &[GroupId]) -> Result<Vec<Group>, StorageError> {
        self.conn.fetch_all(FIND_MANY, (Json(ids),)).await
    }

    async fn find_for_update(&mut self, id: &GroupId) -> Result<Option<Group>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn list(&mut self, page: &PageRequest) -> Result<Page<Group>, StorageError> {
        self.conn.page(&LIST, &(), None, page, Searched::place).await
    }

    async fn insert(&mut self, group: &Group) -> Result<(), StorageError> {
        self.conn.execute(INSERT, All(group)).await.map(drop)
    }

    async fn save(&mut self, group: &Group) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(group)).await.map(drop)
    }

    async fn delete(&mut self, id: &GroupId) -> Result<bool, StorageError> {
        Ok(self.conn.execute(DELETE, (id,)).await? == 1)
    }
}
