//! The commands that create and change a user.

use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::patch::present;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::Timestamp;
use secrecy::SecretString;
use serde::Deserialize;

use super::{Email, Phone, User, UserRole};

/// A new user.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateUser)]
pub struct NewUser {
    /// Display name.
    #[schema(min_length = 1, max_length = 200, pattern = r"\S", example = "Ana Smith")]
    pub name: String,
    /// The address that they log in with, unique among users.
    pub email: Email,
    /// The number that codes for the recovery of the password are sent to.
    pub phone: Phone,
    /// At most 72 bytes.
    #[schema(value_type = String, format = Password, min_length = 8, max_length = 72)]
    pub password: SecretString,
    /// Member or administrator.
    #[serde(rename = "userRole", default = "member")]
    #[schema(required = false)]
    pub role: UserRole,
    /// The group of the user, if any.
    pub group_id: Option<GroupId>,
}

fn member() -> UserRole {
    UserRole::Member
}

/// The changes to make to a user; an absent field stays, and null removes a value.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchUser)]
pub struct UserChange {
    /// Display name.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 200, pattern = r"\S", example = "Ana Smith")]
    pub name: Option<String>,
    /// The address that they log in with, unique among users.
    #[schema(value_type = Email, required = false)]
    pub email: Option<Email>,
    /// The number that codes for the recovery of the password are sent to.
    #[schema(value_type = Phone, required = false)]
    pub phone: Option<Phone>,
    /// At most 72 bytes; ends every session of the user.
    #[schema(value_type = String, required = false, format = Password, min_length = 8, max_length = 72)]
    pub password: Option<SecretString>,
    /// Member or administrator.
    #[serde(rename = "userRole")]
    #[schema(value_type = UserRole, required = false)]
    pub role: Option<UserRole>,
    /// The group of the user; null removes the user from it.
    #[serde(default, deserialize_with = "present")]
    #[schema(value_type = Option<GroupId>)]
    pub group_id: Option<Option<GroupId>>,
}

impl NewUser {
    /// Returns the user as they are stored.
    pub(super) fn into_user(self, id: UserId, password_hash: String, now: Timestamp) -> User {
        User {
            id,
            name: self.name,
            email: self.email,
            phone: self.phone.into(),
            password_hash,
            role: self.role,
            group_id: self.group_id,
            logged_out_at: None,
            created_at: now,
            updated_at: now,
        }
    }
}

impl UserChange {
    /// Returns the user after the change. A new password ends their sessions (rulings A3).
    pub(super) fn apply(self, mut user: User, password_hash: Option<String>, now: Timestamp) -> User {
        user.name = self.name.unwrap_or(user.name);
        user.email = self.email.unwrap_or(user.email);
        user.phone = self.phone.map_or(user.phone, String::from);
        user.role = self.role.unwrap_or(user.role);
        user.group_id = self.group_id.unwrap_or(user.group_id);
        if let Some(hash) = password_hash {
            user.set_password(hash, now);
        }
        user.updated_at = now;
        user
    }
}

impl User {
    /// Sets another password, which voids the tokens that were issued before.
    pub(crate) fn set_password(&mut self, hash: String, now: Timestamp) {
        self.password_hash = hash;
        self.logged_out_at = self.logged_out_at.max(Some(now));
        self.updated_at = now;
    }
}
