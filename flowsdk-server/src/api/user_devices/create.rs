//! `POST /user-devices`.

use std::sync::Arc;

use axum::extract::State;
use flowsdk_auth::device::{NewUserDevice, UserDeviceView};

use super::COLLECTION;
use crate::api::body::Body;
use crate::api::error::ApiError;
use crate::api::guard::AnyUser;
use crate::api::reply::Created;
use crate::api::state::UserDevices;

/// Register a device of the caller
///
/// One that is known by its token keeps its id and becomes the caller's.
#[utoipa::path(
    post, path = "/user-devices", tag = "user-devices",
    request_body = NewUserDevice,
    responses((status = 201, description = "The device", body = UserDeviceView))
)]
pub(super) async fn create_user_device(
    user: AnyUser,
    State(devices): State<Arc<UserDevices>>,
    Body(new): Body<NewUserDevice>,
) -> Result<Created<UserDeviceView>, ApiError> {
    let body = UserDeviceView::from(devices.register(&user.caller.actor(), &user.id, new).await?);
    Ok(Created { collection: COLLECTION, id: body.id.to_string(), body })
}
