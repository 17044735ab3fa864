//! The user.

use flowsdk_core::page::{Cursor, Searched};
use std::borrow::Cow;
use std::fmt;

use flowsdk_core::cell::{Named, TextType};
use flowsdk_core::change::{Entity, EntityKind, Recorded, public_json};
use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::time::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::UserView;

/// `userRole`: `admin` passes every permission check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
#[named(description = "An `admin` may do everything; a `member` has the permissions of their group.")]
pub enum UserRole {
    /// Has the permissions of their group.
    Member,
    /// Has everything.
    Admin,
}

/// A text that is not an e-mail address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an e-mail address")]
pub struct InvalidEmail;

/// Longest address, in bytes.
const MAX_EMAIL_LEN: usize = 254;

/// Returns an address without blanks around it and in lower case: one `@` between two parts without blanks, at most
/// [`MAX_EMAIL_LEN`].
fn normal_email(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    let (local, domain) = text.split_once('@')?;
    let fits = text.len() <= MAX_EMAIL_LEN && !text.contains(char::is_whitespace);
    (fits && !local.is_empty() && !domain.is_empty() && !domain.contains('@')).then_some(text)
}

/// An e-mail address, unique among users; compared without case, so it is kept in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, TextType)]
#[text(
    normalize = normal_email,
    error = InvalidEmail,
    schema = "EmailAddress",
    format = "email",
    max_length = MAX_EMAIL_LEN,
    example = "ana@example.com"
)]
pub struct Email(String);

/// The error for a text that is not a phone number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a phone number")]
pub struct InvalidPhone;

/// Returns a phone number without blanks, dots, hyphens and brackets: 8 to 15 digits, perhaps after a plus sign.
fn normal_phone(text: &str) -> Option<String> {
    let kept: String = text.chars().filter(|c| !matches!(c, ' ' | '(' | ')' | '.' | '-')).collect();
    let digits = kept.strip_prefix('+').unwrap_or(&kept);
    let fits = (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    fits.then_some(kept)
}

/// The phone number of a user: digits, perhaps after a plus sign. Blanks, dots, hyphens and brackets are dropped.
#[derive(Debug, Clone, PartialEq, Eq, TextType)]
#[text(
    normalize = normal_phone,
    error = InvalidPhone,
    schema = "PhoneNumber",
    pattern = flowsdk_core::contact::PHONE_PATTERN,
    example = "+5511987654321",
    description = flowsdk_core::contact::PHONE_DESCRIPTION
)]
pub struct Phone(String);

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

impl Searched for User {
    fn search_text(&self) -> Cow<'_, str> {
        format!("{} {}", self.name, self.email).into()
    }

    fn place(&self) -> Cursor {
        Cursor::of(self.created_at, &self.id)
    }
}

impl Recorded for User {
    fn entity(&self) -> Entity<'_> {
        Entity { kind: EntityKind::User, id: self.id.as_str(), router_id: None }
    }

    fn to_json(&self) -> Value {
        public_json(&UserView::from(self))
    }

    fn secrets(&self) -> Vec<(&'static str, Option<&str>)> {
        vec![("password", Some(&self.password_hash))]
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
    use serde_json::json;

    use super::*;

    #[test]
    fn phone_numbers_are_kept_as_digits() {
        let parse = |text: &str| Phone::parse(text).ok().map(String::from);
        assert_eq!(parse("+55 (11) 98765-4321").as_deref(), Some("+5511987654321"));
        assert_eq!(parse("5511987654321").as_deref(), Some("5511987654321"));
        for bad in ["", "1234567", "1234567890123456", "55+11987654321", "call me", "٣٣٣٣٣٣٣٣"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }

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
        assert!(!format!("{user:?} {}", user.to_json()).contains("secret"));
        assert_eq!(
            user.to_json(),
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
