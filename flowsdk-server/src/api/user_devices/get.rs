//! `GET /user-devices/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::device::UserDeviceView;
use flowsdk_core::id::UserDeviceId;

use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::UserDevices;

/// Show a device of the caller
#[utoipa::path(
    get, path = "/user-devices/{id}", tag = "user-devices",
    params(("id" = UserDeviceId, Path, description = "The device")),
    responses((status = 200, description = "The device", body = UserDeviceView))
)]
pub(super) async fn get_user_device(
    user: AnyUser,
    State(user_devices): State<Arc<UserDevices>>,
    PathId(id): PathId<UserDeviceId>,
) -> Result<Reply<UserDeviceView>, ApiError> {
    Ok(Reply(user_devices.get(&user.id, &id).await?.into()))
}
