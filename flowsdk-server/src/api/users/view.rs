//! A user as clients see and send it.

use flowsdk_auth::group::Group;
use flowsdk_auth::user::{Email, User, UserRole};
use flowsdk_core::id::{GroupId, UserId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::groups::GroupView;
use crate::api::openapi::types::{EmailAddress, Id, IsoTime, UserRoleName};

/// A user. His password is never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub(in crate::api) struct UserView {
    #[schema(value_type = Id)]
    id: UserId,
    #[schema(example = "Ana Souza")]
    name: String,
    #[schema(value_type = EmailAddress)]
    email: String,
    #[schema(example = "+5511987654321")]
    phone: String,
    #[schema(value_type = UserRoleName)]
    user_role: UserRole,
    #[schema(value_type = Option<Id>, required = true)]
    group_id: Option<GroupId>,
    #[schema(required = true)]
    group: Option<GroupView>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl UserView {
    /// His id.
    pub(super) fn id(&self) -> String {
        self.id.to_string()
    }
}

impl From<(User, Option<Group>)> for UserView {
    fn from((user, group): (User, Option<Group>)) -> Self {
        Self {
            id: user.id,
            name: user.name,
            email: user.email.to_string(),
            phone: user.phone,
            user_role: user.role,
            group_id: user.group_id,
            group: group.map(GroupView::from),
            created_at: user.created_at.into(),
            updated_at: user.updated_at.into(),
        }
    }
}

/// An address as it is sent.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct SentEmail(pub(super) Email);

impl TryFrom<String> for SentEmail {
    type Error = flowsdk_auth::user::InvalidEmail;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Email::parse(&text).map(Self)
    }
}

/// A text that is no phone number.
#[derive(Debug, thiserror::Error)]
#[error("not a phone number")]
pub(super) struct InvalidPhone;

/// A phone number: digits, perhaps after a plus sign. People write it with blanks and brackets, which go.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Phone(pub(super) String);

impl TryFrom<String> for Phone {
    type Error = InvalidPhone;

    fn try_from(text: String) -> Result<Self, InvalidPhone> {
        let kept: String = text.chars().filter(|c| !matches!(c, ' ' | '(' | ')' | '.' | '-')).collect();
        let digits = kept.strip_prefix('+').unwrap_or(&kept);
        let fits = (8..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        if fits { Ok(Self(kept)) } else { Err(InvalidPhone) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phone_numbers_are_kept_as_digits() {
        let parse = |text: &str| Phone::try_from(text.to_owned()).ok().map(|phone| phone.0);
        assert_eq!(parse("+55 (11) 98765-4321").as_deref(), Some("+5511987654321"));
        assert_eq!(parse("5511987654321").as_deref(), Some("5511987654321"));
        for bad in ["", "1234567", "1234567890123456", "55+11987654321", "call me", "٣٣٣٣٣٣٣٣"] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
    }
}
