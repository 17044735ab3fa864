//! `POST /user-devices`.

use std::sync::Arc;

use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;

use super::{COLLECTION, UserDeviceView};
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::reply::Created;
use crate::api::state::UserDevices;

/// A device to be.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CreateUserDevice {
    /// The push service's.
    #[schema(min_length = 1, max_length = 4096, example = "dGhpcyBpcyBhIHRva2Vu")]
    token: String,
    #[schema(min_length = 1, max_length = 50, example = "android")]
    platform: String,
}

/// Register a device of the caller
///
/// One that is known by its token keeps its id and becomes the caller's.
#[utoipa::path(
    post, path = "/user-devices", tag = "user-devices",
    request_body = CreateUserDevice,
    responses((status = 201, description = "The device", body = UserDeviceView))
)]
pub(super) async fn create_user_device(
    user: AnyUser,
    State(devices): State<Arc<UserDevices>>,
    Body(body): Body<CreateUserDevice>,
) -> Result<Created<UserDeviceView>, ApiError> {
    let body = UserDeviceView::from(devices.register(&user.id, body.token, body.platform).await?);
    Ok(Created { collection: COLLECTION, id: body.id.to_string(), body })
}
