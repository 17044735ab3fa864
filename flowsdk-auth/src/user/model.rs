//! The user.

use std::fmt;

use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// `userRole`: `admin` passes every permission check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UserRole {
    /// Has the permissions of their group.
    Member,
    /// Has everything.
    Admin,
}

impl UserRole {
    /// Returns the name in storage and on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Member => "member",
            Self::Admin => "admin",
        }
    }
}

impl flowsdk_core::cell::Named for UserRole {
    const ALL: &'static [Self] = &[Self::Member, Self::Admin];

    fn name(self) -> &'static str {
        Self::name(self)
    }
}

/// A text that is not an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an e-mail address")]
pub struct InvalidEmail;

/// An e-mail address, unique among users; compared without case, so it is kept in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    /// Parses an address: one `@` between two parts without blanks, at most 254 bytes.
    pub fn parse(text: &str) -> Result<Self, InvalidEmail> {
        let text = text.trim().to_lowercase();
        let fits = text.len() <= 254 && !text.contains(char::is_whitespace);
        match text.split_once('@') {
            Some((local, domain))
                if fits && !local.is_empty() && !domain.is_empty() && !domain.contains('@') =>
            {
                Ok(Self(text))
            }
            _ => Err(InvalidEmail),
        }
    }

    /// Returns the address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl flowsdk_core::cell::TextCell for Email {
    fn as_text(&self) -> &str {
        &self.0
    }

    fn from_text(text: &str) -> Result<Self, flowsdk_core::fault::BoxError> {
        Ok(Self::parse(text)?)
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A user account.
#[derive(Clone)]
pub struct User {
    /// The id of the user.
    pub id: UserId,
    /// Display name.
    pub name: String,
    /// Unique address.
    pub email: Email,
    /// Target of the password-recovery code.
    pub phone: String,
    /// bcrypt hash; never returned.
    pub password_hash: String,
    /// Member or administrator.
    pub role: UserRole,
    /// The group of the user, at most one.
    pub group_id: Option<GroupId>,
    /// Tokens issued before this moment are void.
    pub logged_out_at: Option<Timestamp>,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

impl User {
    /// Returns the fields of the user that the audit log may show.
    pub fn to_audit(&self) -> Value {
        json!({
            "id": self.id,
            "name": self.name,
            "email": self.email.as_str(),
            "phone": self.phone,
            "userRole": self.role,
            "groupId": self.group_id,
            "createdAt": self.created_at.to_iso(),
            "updatedAt": self.updated_at.to_iso(),
        })
    }
}

impl fmt::Debug for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User")
            .field("id", &self.id)
            .field("email", &self.email)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_log_nor_audit_shows_the_password() {
        let user = User {
            id: UserId::parse("c1").expect("an id"),
            name: "Ana".to_owned(),
            email: Email::parse("ana@example.com").expect("an address"),
            phone: "5511".to_owned(),
            password_hash: "$2b$08$secret".to_owned(),
            role: UserRole::Admin,
            group_id: None,
            logged_out_at: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(1),
        };
        assert!(!format!("{user:?} {}", user.to_audit()).contains("secret"));
        assert_eq!(
            user.to_audit(),
            json!({ "id": "c1", "name": "Ana", "email": "ana@example.com", "phone": "5511",
                "userRole": "admin", "groupId": null, "createdAt": "1970-01-01T00:00:00.000Z",
                "updatedAt": "1970-01-01T00:00:00.001Z" })
        );
    }

    #[test]
    fn addresses_are_kept_in_lower_case() {
        assert_eq!(
            Email::parse(" Ana@Example.COM ").map(|e| e.to_string()),
            Ok("ana@example.com".to_owned())
        );
        for bad in ["", "ana", "@b", "a@", "a@b@c", "a b@c", &format!("{}@b", "a".repeat(254))] {
            assert_eq!(Email::parse(bad), Err(InvalidEmail), "{bad:?}");
        }
    }
}
