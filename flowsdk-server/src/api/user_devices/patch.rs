//! `PATCH /user-devices/{id}`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_core::id::UserDeviceId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::UserDeviceView;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::path::PathId;
use crate::api::reply::Reply;
use crate::api::state::UserDevices;

/// Changes of a device; an absent field stays.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PatchUserDevice {
    /// The push service's.
    #[schema(value_type = String, required = false, min_length = 1, max_length = 4096, example = "bmV3IHRva2Vu")]
    token: Option<String>,
    #[schema(value_type = String, required = false, min_length = 1, max_length = 50, example = "ios")]
    platform: Option<String>,
}

/// Change a device of the caller
#[utoipa::path(
    patch, path = "/user-devices/{id}", tag = "user-devices",
    params(("id" = UserDeviceId, Path, description = "The device")),
    request_body = PatchUserDevice,
    responses(
        (status = 200, description = "The device", body = UserDeviceView),
        (status = 409, description = "`token_taken`: another device has the token"),
    )
)]
pub(super) async fn patch_user_device(
    user: AnyUser,
    State(devices): State<Arc<UserDevices>>,
    PathId(id): PathId<UserDeviceId>,
    Body(body): Body<PatchUserDevice>,
) -> Result<Reply<UserDeviceView>, ApiError> {
    Ok(Reply(devices.change(&user.id, &id, body.token, body.platform).await?.into()))
}
