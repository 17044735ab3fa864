//! Users.

use async_trait::async_trait;
use flowsdk_auth::user::{AuthTx, Email, User, UserRepository, UserRole};
use flowsdk_core::fault::StorageError;
use flowsdk_core::time::Timestamp;

use super::SqlTx;
use super::executor::{corrupt, execute, fetch_optional, id};
use super::statement::{Sql, sql};

const FIND_BY_EMAIL: Sql = sql(
    "SELECT id, name, email, phone, password_hash, user_role, created_at FROM user_account WHERE email = $1",
);

const INSERT: Sql =
    sql("INSERT INTO user_account (id, name, email, phone, password_hash, user_role, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (email) DO NOTHING");

super::statement::statements! { FIND_BY_EMAIL, INSERT }

#[async_trait]
impl UserRepository for SqlTx {
    async fn find_by_email(&mut self, email: &Email) -> Result<Option<User>, StorageError> {
        type Row = (String, String, String, String, String, String, i64);
        let Some((user_id, name, email, phone, password_hash, role, created_at)) =
            fetch_optional!(self.conn, Row, FIND_BY_EMAIL, email.as_str())?
        else {
            return Ok(None);
        };
        Ok(Some(User {
            id: id("user", user_id)?,
            name,
            email: Email::parse(&email).map_err(|error| corrupt("user")(&error))?,
            phone,
            password_hash,
            role: if role == UserRole::Admin.name() { UserRole::Admin } else { UserRole::Member },
            created_at: Timestamp::from_millis(created_at),
        }))
    }

    async fn insert_if_absent(&mut self, user: &User) -> Result<bool, StorageError> {
        let inserted = execute!(
            self.conn,
            INSERT,
            user.id.as_str(),
            user.name.as_str(),
            user.email.as_str(),
            user.phone.as_str(),
            user.password_hash.as_str(),
            user.role.name(),
            user.created_at.as_millis(),
        )?;
        Ok(inserted == 1)
    }
}

impl AuthTx for SqlTx {
    fn users(&mut self) -> &mut dyn UserRepository {
        self
    }
}
