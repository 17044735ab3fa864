//! The phone channel: the webhook of its provider.

use std::sync::Arc;
use std::time::Duration;

use flowsdk_channels::phone::PhoneIntake;
use flowsdk_core::fault::BoxError;

use super::Part;
use crate::app::ground::Ground;
use crate::config::Role;

const LIMITS_PERIOD: Duration = Duration::from_secs(60);

/// The role of the gateway.
pub(super) const PHONE: Role = Role { names: &["phone"], together: None, sections: &[] };

pub(super) const PART: Part =
    Part { role: PHONE, reads: &[], start: |ground| Box::pin(async { start(ground) }) };

fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let (store, broker) = (Arc::clone(&ground.store), Arc::clone(&ground.broker));
    let key = Arc::clone(&ground.config.master_key);
    let lookups = ground.config.phone.lookups_per_minute;
    let intake = Arc::new(PhoneIntake::new(store, broker, key, ground.cx.clone(), lookups));
    ground
        .surface
        .add_routes(crate::phone::routes(Arc::clone(&intake), ground.config.webchat.trusted_proxies));
    ground.every("phone limits", LIMITS_PERIOD, move || {
        intake.forget_quiet();
        async {}
    });
    Ok(())
}
