//! The public form of a user.

use flowsdk_core::change::View;
use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::{Email, User, UserRole, UserWithGroup};
use crate::group::GroupView;

/// A user. The password is never shown.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = User)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = User)]
pub struct UserView {
    /// The id of the user.
    pub id: UserId,
    #[schema(example = "Ana Smith")]
    name: String,
    email: Email,
    #[schema(example = "+5511987654321")]
    phone: String,
    #[serde(rename = "userRole")]
    role: UserRole,
    #[schema(required = true)]
    group_id: Option<GroupId>,
    // A record of the audit log has no group, only its id.
    #[view(with = no_group)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<GroupView>, required = true)]
    group: Option<Option<GroupView>>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

fn no_group(_: &User) -> Option<Option<GroupView>> {
    None
}

impl From<UserWithGroup> for UserView {
    fn from((user, group): UserWithGroup) -> Self {
        Self { group: Some(group.map(GroupView::from)), ..Self::from(user) }
    }
}

#[cfg(test)]
mod tests {
    use flowsdk_core::change::{Recorded as _, public_json};
    use flowsdk_core::time::Timestamp;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn an_answer_is_the_record_and_the_group() {
        let user = User {
            id: UserId::parse("c1").expect("an id"),
            name: "Ana".to_owned(),
            email: Email::parse("ana@example.com").expect("an address"),
            phone: "5511".to_owned(),
            password_hash: "$2b$08$secret".to_owned(),
            role: UserRole::Member,
            group_id: None,
            logged_out_at: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(1),
        };
        let mut answer = public_json(&UserView::from((user.clone(), None)));
        let fields = answer.as_object_mut().expect("an object");
        assert_eq!(fields.remove("group"), Some(Value::Null));
        assert_eq!(answer, user.to_json());
        assert_eq!(answer["groupId"], json!(null));
        assert!(!answer.to_string().contains("secret"));
    }
}
