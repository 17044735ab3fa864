//! Routers and flows on their way from one server to another: one JSON file, with references by name instead of
//! ids and without secrets.

mod channel;
mod document;
pub mod draft;
mod error;
mod export;
mod import;
mod look;
mod plan;
pub mod references;
mod report;
mod tx;

use std::sync::Arc;

use crate::change::ChangeLog;
use crate::context::OpContext;
use crate::crypto::MasterKey;
use crate::flow::FlowChecker;

pub use channel::{ChannelTransfer, HasChannelTransfer, PortableChannel};
pub use document::{
    FORMAT, FORMAT_VERSION, TransferFile, TransferredChannel, TransferredFlow, TransferredRouter,
    TransferredVariable,
};
pub use error::TransferError;
pub use plan::OnConflict;
pub use report::{ImportReport, ImportedChannel, ImportedFlow, ImportedVariable, Landed, Missing};
pub use tx::TransferTx;

/// Exports and imports routers and flows.
#[derive(Debug)]
pub struct Transfers<S> {
    store: Arc<S>,
    cx: OpContext,
    master_key: Arc<MasterKey>,
    changes: Arc<dyn ChangeLog>,
    checker: FlowChecker,
}

impl<S> Transfers<S> {
    /// A service over `store`, which parses no scripts.
    pub fn new(
        store: Arc<S>,
        cx: OpContext,
        master_key: Arc<MasterKey>,
        changes: Arc<dyn ChangeLog>,
    ) -> Self {
        Self { store, cx, master_key, changes, checker: FlowChecker::default() }
    }

    /// Checks the definitions of files with `checker`.
    #[must_use]
    pub fn checked_by(self, checker: FlowChecker) -> Self {
        Self { checker, ..self }
    }
}
