//! A user as clients see and send it.

use flowsdk_auth::group::Group;
use flowsdk_auth::user::{Email, User, UserRole};
use flowsdk_core::id::{GroupId, UserId};
use flowsdk_core::time::IsoTime;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::groups::GroupView;

/// A user. The password is never shown.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
pub(in crate::api) struct UserView {
    id: UserId,
    #[schema(example = "Ana Souza")]
    name: String,
    email: Email,
    #[schema(example = "+5511987654321")]
    phone: String,
    user_role: UserRole,
    #[schema(required = true)]
    group_id: Option<GroupId>,
    #[schema(required = true)]
    group: Option<GroupView>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

impl UserView {
    /// Returns the id as text.
    pub(super) fn id(&self) -> String {
        self.id.to_string()
    }
}

impl From<(User, Option<Group>)> for UserView {
    fn from((user, group): (User, Option<Group>)) -> Self {
        Self {
            id: user.id,
            name: user.name,
            email: user.email,
            phone: user.phone,
            user_role: user.role,
            group_id: user.group_id,
            group: group.map(GroupView::from),
            created_at: user.created_at.into(),
            updated_at: user.updated_at.into(),
        }
    }
}
