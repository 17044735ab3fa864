//! `PATCH /user-devices/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::device::{UserDeviceChange, UserDeviceView};
use flowsdk_core::id::UserDeviceId;

use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::UserDevices;

/// Change a device of the caller
#[utoipa::path(
    patch, path = "/user-devices/{id}", tag = "user-devices",
    params(("id" = UserDeviceId, Path, description = "The device")),
    request_body = UserDeviceChange,
    responses(
        (status = 200, description = "The device", body = UserDeviceView),
        (status = 409, description = "`token_taken`: another device has the token"),
    )
)]
pub(super) async fn patch_user_device(
    user: AnyUser,
    State(devices): State<Arc<UserDevices>>,
    PathId(id): PathId<UserDeviceId>,
    Body(change): Body<UserDeviceChange>,
) -> Result<Reply<UserDeviceView>, ApiError> {
    Ok(Reply(devices.change(&user.caller.actor(), &user.id, &id, change).await?.into()))
}
