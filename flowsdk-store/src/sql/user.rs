//! Users.

use async_trait::async_trait;
use flowsdk_auth::user::{Email, User, UserFilter, UserRepository, UserRole};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::UserId;
use flowsdk_core::page::{Page, PageRequest};
use flowsdk_core::time::Timestamp;

use super::executor::{corrupt, execute, fetch_all, fetch_optional, id, optional_id, text};
use super::statement::{Sql, sql, sql_locking};
use super::{SqlTx, page};

type Row = (String, String, String, String, String, String, Option<String>, Option<i64>, i64, i64);

fn user(row: Row) -> Result<User, StorageError> {
    let (
        user_id,
        name,
        email,
        phone,
        password_hash,
        user_role,
        group_id,
        logged_out_at,
        created_at,
        updated_at,
    ) = row;
    Ok(User {
        id: id("user", user_id)?,
        name,
        email: Email::parse(&email).map_err(|error| corrupt("user")(&error))?,
        phone,
        password_hash,
        role: role(&user_role)?,
        group_id: optional_id("user", group_id)?,
        logged_out_at: logged_out_at.map(Timestamp::from_millis),
        created_at: Timestamp::from_millis(created_at),
        updated_at: Timestamp::from_millis(updated_at),
    })
}

/// A stored role. An unknown one is refused: it must not pass for another.
pub(super) fn role(name: &str) -> Result<UserRole, StorageError> {
    let known = [UserRole::Member, UserRole::Admin].into_iter().find(|role| role.name() == name);
    known.ok_or_else(|| corrupt("user")(&name))
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, name, email, phone, password_hash, user_role, group_id, logged_out_at, created_at, updated_at
             FROM user_account WHERE ",
            $rest
        )
    };
}

const FIND: Sql = sql(select!("id = $1"));

const FIND_FOR_UPDATE: Sql = sql_locking!(select!("id = $1"));

const FIND_BY_EMAIL: Sql = sql(select!("email = $1"));

/// A text for each filter, so that each has its index on both engines; binds without a filter are NULL.
macro_rules! list {
    ($group:literal, $role:literal) => {
        sql(concat!(
            select!("(created_at, id) < ($1, $2) AND "),
            $group,
            " AND ",
            $role,
            " ORDER BY created_at DESC, id DESC LIMIT $3"
        ))
    };
}

const LIST: Sql = list!("CAST($4 AS TEXT) IS NULL", "CAST($5 AS TEXT) IS NULL");

const LIST_OF_GROUP: Sql = list!("group_id = $4", "CAST($5 AS TEXT) IS NULL");

const LIST_OF_ROLE: Sql = list!("CAST($4 AS TEXT) IS NULL", "user_role = $5");

const LIST_OF_GROUP_AND_ROLE: Sql = list!("group_id = $4", "user_role = $5");

const INSERT: Sql = sql(
    "INSERT INTO user_account (id, name, email, phone, password_hash, user_role, group_id, logged_out_at,
                               created_at, updated_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (email) DO NOTHING",
);

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

super::statement::statements! { FIND, FIND_FOR_UPDATE, FIND_BY_EMAIL, LIST, LIST_OF_GROUP, LIST_OF_ROLE, LIST_OF_GROUP_AND_ROLE, INSERT, SAVE, END_SESSIONS, DELETE, ADMINISTRATORS }

#[async_trait]
impl UserRepository for SqlTx {
    async fn find(&mut self, id: &UserId) -> Result<Option<User>, StorageError> {
        fetch_optional!(self.conn, Row, FIND, id.as_str())?.map(user).transpose()
    }

    async fn find_for_update(&mut self, id: &UserId) -> Result<Option<User>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_FOR_UPDATE, id.as_str())?.map(user).transpose()
    }

    async fn find_by_email(&mut self, email: &Email) -> Result<Option<User>, StorageError> {
        fetch_optional!(self.conn, Row, FIND_BY_EMAIL, text(email.as_str()))?.map(user).transpose()
    }

    async fn list(&mut self, filter: &UserFilter, page: &PageRequest) -> Result<Page<User>, StorageError> {
        let statement = match (&filter.group_id, filter.role) {
            (None, None) => LIST,
            (Some(_), None) => LIST_OF_GROUP,
            (None, Some(_)) => LIST_OF_ROLE,
            (Some(_), Some(_)) => LIST_OF_GROUP_AND_ROLE,
        };
        let (at, before) = page::before(page);
        let group = filter.group_id.as_ref().map(|id| id.as_str());
        let role = filter.role.map(UserRole::name);
        let rows = fetch_all!(self.conn, Row, statement, at, before, page::rows(page), group, role)?;
        page::of(rows, page, user, |user| (user.created_at, user.id.to_string()))
    }

    async fn insert_if_absent(&mut self, user: &User) -> Result<bool, StorageError> {
        let inserted = execute!(
            self.conn,
            INSERT,
            user.id.as_str(),
            text(&user.name),
            text(user.email.as_str()),
            text(&user.phone),
            user.password_hash.as_str(),
            user.role.name(),
            user.group_id.as_ref().map(|id| id.as_str()),
            user.logged_out_at.map(Timestamp::as_millis),
            user.created_at.as_millis(),
            user.updated_at.as_millis(),
        )?;
        Ok(inserted == 1)
    }

    async fn save(&mut self, user: &User) -> Result<(), StorageError> {
        execute!(
            self.conn,
            SAVE,
            user.id.as_str(),
            text(&user.name),
            text(user.email.as_str()),
            text(&user.phone),
            user.password_hash.as_str(),
            user.role.name(),
            user.group_id.as_ref().map(|id| id.as_str()),
            user.logged_out_at.map(Timestamp::as_millis),
            user.updated_at.as_millis(),
        )
        .map(drop)
    }

    async fn end_sessions(&mut self, id: &UserId, at: Timestamp) -> Result<bool, StorageError> {
        Ok(execute!(self.conn, END_SESSIONS, id.as_str(), at.as_millis())? == 1)
    }

    async fn delete(&mut self, id: &UserId) -> Result<bool, StorageError> {
        Ok(execute!(self.conn, DELETE, id.as_str())? == 1)
    }

    async fn administrators_for_update(&mut self) -> Result<Vec<UserId>, StorageError> {
        let rows = fetch_all!(self.conn, (String,), ADMINISTRATORS)?;
        rows.into_iter().map(|(found,)| id("user", found)).collect()
    }
}
