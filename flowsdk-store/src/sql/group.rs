//! Groups of users.

use async_trait::async_trait;
use flowsdk_auth::group::{Group, GroupRepository};
use flowsdk_auth::permission::Permissions;
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{GroupId, RouterId};
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;
use sqlx::types::Json;

use super::executor::{execute, fetch_all, fetch_optional, id, text};
use super::statement::{Sql, sql, sql_list, sql_locking};
use super::{SqlTx, page};

type Row = (String, String, Json<Permissions>, Json<Vec<RouterId>>, i64, i64);

fn group(row: Row) -> Result<Group, StorageError> {
    let (group_id, name, Json(permissions), Json(router_ids), created_at, updated_at) = row;
    Ok(Group {
        id: id("group", group_id)?,
        name,
        permissions,
        router_ids,
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, permissions, router_ids, created_at, updated_at FROM user_group WHERE ",
            $rest
        )
    };
}

const FIND_MANY: Sql = sql_list!(select!("id IN "), "$1", "");

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const LIST: Sql = sql(select!("(created_at, id) < ($1, $2) ORDER BY created_at DESC, id DESC LIMIT $3"));

const INSERT: Sql = sql("INSERT INTO user_group (id, name, permissions, router_ids, created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6)");

const SAVE: Sql =
    sql("UPDATE user_group SET name = $2, permissions = $3, router_ids = $4, updated_at = $5 WHERE id = $1");

/// The foreign key takes the group from its users.
const DELETE: Sql = sql("DELETE FROM user_group WHERE id = $1");

super::statement::statements! { FIND_MANY, FIND_FOR_UPDATE, LIST, INSERT, SAVE, DELETE }

#[async_trait]
impl GroupRepository for SqlTx {
    async fn find_many(&mut self, ids: &[GroupId]) -> Result<Vec<Group>, StorageError> {
        fetch_all!(self.conn, Row, FIND_MANY, Json(ids))?.into_iter().map(group).collect()
    }

    async fn find_for_update(&mut self, id: &GroupId) -> Result<Option<Group>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(group).transpose()
    }

    async fn list(&mut self, page: &PageRequest) -> Result<Page<Group>, StorageError> {
        let (at, before) = page::before(page);
        let rows = fetch_all!(self.conn, Row, LIST, at, before, page::rows(page))?;
        page::of(rows, page, group, |group| (group.created_at, group.id.to_string()))
    }

    async fn insert(&mut self, group: &Group) -> Result<(), StorageError> {
        execute!(
            self.conn,
            INSERT,
            group.id.as_str(),
            text(&group.name),
            Json(&group.permissions),
            Json(&group.router_ids),
            group.created_at.as_millis(),
            group.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn save(&mut self, group: &Group) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            group.id.as_str(),
            text(&group.name),
            Json(&group.permissions),
            Json(&group.router_ids),
            group.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn delete(&mut self, id: &GroupId) -> Result<bool, StorageError> {
        Ok(execute!(self.conn, DELETE, id.as_str())? == 1)
    }
}
