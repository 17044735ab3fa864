//! The commands that create and change a user.

use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::time::Timestamp;
use secrecy::SecretString;

use super::{Email, User, UserRole};

/// A user to be.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// Display name.
    pub name: String,
    /// Unique address.
    pub email: Email,
    /// Target of the password-recovery code.
    pub phone: String,
    /// The password in clear, to be hashed.
    pub password: SecretString,
    /// Member or administrator.
    pub role: UserRole,
    /// The group of the user, if any.
    pub group_id: Option<GroupId>,
}

/// The changes to make; an absent field stays.
#[derive(Debug, Clone, Default)]
pub struct UserChange {
    /// Display name.
    pub name: Option<String>,
    /// Unique address.
    pub email: Option<Email>,
    /// Target of the password-recovery code.
    pub phone: Option<String>,
    /// A new password voids all tokens.
    pub password: Option<SecretString>,
    /// Member or administrator.
    pub role: Option<UserRole>,
    /// The group of the user, or none.
    pub group_id: Option<Option<GroupId>>,
}

impl NewUser {
    /// Returns the user as they are stored.
    pub(super) fn into_user(self, id: UserId, password_hash: String, now: Timestamp) -> User {
        User {
            id,
            name: self.name,
            email: self.email,
            phone: self.phone,
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
        user.phone = self.phone.unwrap_or(user.phone);
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
