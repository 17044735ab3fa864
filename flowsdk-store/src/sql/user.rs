//! Users.

use async_trait::async_trait;
use constcat::concat;
use flowsdk_auth::user::{Email, HasUsers, User, UserFilter, UserRepository};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::page::{Page, PageRequest, Searched};
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::list::{Filter, ListSql, asked};
use super::record::{All, Changes, Record as _, record};
use super::statement::{Sql, sql, sql_locking};

record! {
    User in "user_account" {
        id, created_at;
        name, email, phone, password_hash, role = user_role, group_id, logged_out_at, updated_at
    }
}

const FIND: Sql = sql(concat!(User::SELECT, " WHERE id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(concat!(User::SELECT, " WHERE id = $1"));

const FIND_BY_EMAIL: Sql = sql(concat!(User::SELECT, " WHERE email = $1"));

pub(super) static LIST: ListSql<UserFilter> = ListSql::of::<User>().filters(&[
    Filter::of("group_id = {}", |filter| asked(&filter.group_id)),
    Filter::of("user_role = {}", |filter| asked(&filter.role)),
]);

const INSERT: Sql = sql(concat!(User::INSERT, " ON CONFLICT (email) DO NOTHING"));

/// A later end of sessions stays, whichever was written first.
const SAVE: Sql = sql(
    "UPDATE user_account SET name = $2, email = $3, phone = $4, password_hash = $5, user_role = $6, group_id = $7,
        logged_out_at = CASE WHEN logged_out_at > $8 OR $8 IS NULL THEN logged_out_at ELSE $8 END,
        updated_at = $9
     WHERE id = $1",
);

const END_SESSIONS: Sql =
    sql("UPDATE user_account SET logged_out_at = CASE WHEN logged_out_at > $2 THEN logged_out_at ELSE $2 END
     WHERE id = $1");

const DELETE: Sql = sql("DELETE FROM user_account WHERE id = $1");

/// In ascending id order, so that two that lock them wait for each other instead of for ever.
const ADMINISTRATORS: Sql = sql_locking!("SELECT id FROM user_account WHERE user_role = 'admin' ORDER BY id");

super::statement::statements! {
    FIND, FIND_FOR_UPDATE, FIND_BY_EMAIL, INSERT, SAVE, END_SESSIONS, DELETE, ADMINISTRATORS; LIST
}

super::accessor::has!(HasUsers::users -> UserRepository);

#[async_trait]
impl UserRepository for SqlTx {
    async fn find(&mut self, id: &UserId) -> Result<Option<User>, StorageError> {
        self.conn.fetch_optional(FIND, (id,)).await
    }

    async fn find_for_update(&mut self, id: &UserId) -> Result<Option<User>, StorageError> {
        self.conn.fetch_optional(FIND_FOR_UPDATE, (id,)).await
    }

    async fn find_by_email(&mut self, email: &Email) -> Result<Option<User>, StorageError> {
        self.conn.fetch_optional(FIND_BY_EMAIL, (email,)).await
    }

    async fn list(&mut self, filter: &UserFilter, page: &PageRequest) -> Result<Page<User>, StorageError> {
        self.conn.page(&LIST, filter, None, page, Searched::place).await
    }

    async fn insert_if_absent(&mut self, user: &User) -> Result<bool, StorageError> {
        Ok(self.conn.execute(INSERT, All(user)).await? == 1)
    }

    async fn save(&mut self, user: &User) -> Result<(), StorageError> {
        self.conn.execute(SAVE, Changes(user)).await.map(drop)
    }

    async fn end_sessions(&mut self, id: &UserId, at: Timestamp) -> Result<bool, StorageError> {
        Ok(self.conn.execute(END_SESSIONS, (id, at)).await? == 1)
    }

    async fn delete(&mut self, id: &UserId) -> Result<bool, StorageError> {
        Ok(self.conn.execute(DELETE, (id,)).await? == 1)
    }

    async fn administrators_for_update(&mut self) -> Result<Vec<UserId>, StorageError> {
        self.conn.fetch_column(ADMINISTRATORS, ()).await
    }
}
