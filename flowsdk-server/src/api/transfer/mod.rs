//! Exports and imports of routers and flows.
//!
//! A router goes with its flows, so both permissions are asked for; where a file has channels, theirs too.

mod export_flow;
mod export_router;
mod import_flows;
mod import_router;
mod report;

pub(super) use report::ReportView;

use flowsdk_auth::permission::{Action, Resource};
use flowsdk_core::transfer::{OnConflict, TransferFile};

use super::error::ApiError;
use super::guard::Caller;
use super::query::QueryReader;
use super::routes::{Routes, endpoint};

/// The collection of the routers that an import makes.
const COLLECTION: &str = "/routers";
/// Most bytes of a file (rulings H5).
pub(super) const IMPORT_LIMIT: usize = 32 << 20;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .add(endpoint!(export_flow::export_flow))
        .add(endpoint!(export_router::export_router))
        .add(endpoint!(import_flows::import_flows))
        .add(endpoint!(import_router::import_router))
}

/// The permission for flows, beside that for routers.
pub(super) fn require_flows(caller: &Caller, action: Action) -> Result<(), ApiError> {
    caller.authenticated().require(Resource::Flows, action)?;
    Ok(())
}

/// The permission for channels, of a file that has some: an import makes them, an export shows them.
fn require_channels(caller: &Caller, action: Action, file: &TransferFile) -> Result<(), ApiError> {
    if !file.channels.is_empty() {
        caller.authenticated().require(Resource::ChannelNumbers, action)?;
    }
    Ok(())
}

/// `onConflict`, one of these.
fn on_conflict(query: &mut QueryReader, known: &[OnConflict]) -> OnConflict {
    query.one_of("onConflict", known, OnConflict::name).unwrap_or_default()
}
