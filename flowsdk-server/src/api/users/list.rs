//! `GET /users`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::user::{UserFilter, UserRole, UserView};
use flowsdk_core::id::GroupId;
use flowsdk_core::page::PageRequest;
use flowsdk_core::text::Text;
use utoipa::IntoParams;

use crate::api::error::ApiError;
use crate::api::guard::{Can, marks};
use crate::api::query::{FromQuery, NameParams, Named, PageParams, PageView, Query, QueryReader};
use crate::api::reply::Reply;
use crate::api::state::Users;

/// Which users.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
#[allow(dead_code, reason = "the document is made of it")]
struct UserParams {
    /// Those of this group.
    group_id: Option<GroupId>,
    /// Those of this role.
    user_role: Option<UserRole>,
}

impl FromQuery for UserFilter {
    fn read(query: &mut QueryReader) -> Self {
        let not_an_id = Text::new("Id inválido", "Invalid id");
        Self {
            group_id: query.parsed("groupId", |text| GroupId::parse(text).ok(), not_an_id),
            role: query.one_of("userRole", &UserRole::ALL, UserRole::name),
        }
    }
}

/// List users
#[utoipa::path(
    get, path = "/users", tag = "users",
    params(PageParams, UserParams, NameParams),
    responses((status = 200, description = "A page of users", body = PageView<UserView>))
)]
pub(super) async fn list_users(
    _can: Can<marks::Users, marks::Read>,
    State(users): State<Arc<Users>>,
    Query((page, (filter, Named(query)))): Query<(PageRequest, (UserFilter, Named))>,
) -> Result<Reply<PageView<UserView>>, ApiError> {
    let page = users.list(&filter, query.as_ref(), &page).await?;
    Ok(Reply(PageView::of(page, UserView::from)))
}
