//! `DELETE /user-devices/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::UserDeviceId;
use http::StatusCode;

use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::path::PathId;
use crate::api::state::UserDevices;

/// Delete a device of the caller
#[utoipa::path(
    delete, path = "/user-devices/{id}", tag = "user-devices",
    params(("id" = UserDeviceId, Path, description = "The device")),
    responses((status = 204, description = "Deleted"))
)]
pub(super) async fn delete_user_device(
    user: AnyUser,
    State(user_devices): State<Arc<UserDevices>>,
    PathId(id): PathId<UserDeviceId>,
) -> Result<StatusCode, ApiError> {
    user_devices.delete(&user.caller.actor(), &user.id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
