//! `GET /user-devices`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::device::UserDeviceView;
use flowsdk_core::page::PageRequest;

use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::query::{PageParams, PageView, Query};
use crate::api::reply::Reply;
use crate::api::state::UserDevices;

/// List the caller's devices
#[utoipa::path(
    get, path = "/user-devices", tag = "user-devices",
    params(PageParams),
    responses((status = 200, description = "A page of the caller's devices", body = PageView<UserDeviceView>))
)]
pub(super) async fn list_user_devices(
    user: AnyUser,
    State(user_devices): State<Arc<UserDevices>>,
    Query(page): Query<PageRequest>,
) -> Result<Reply<PageView<UserDeviceView>>, ApiError> {
    let page = user_devices.list(&user.id, &page).await?;
    Ok(Reply(PageView::of(page, UserDeviceView::from)))
}
