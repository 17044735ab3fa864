//! The traits of stores, transactions and their accessors, for callers that work with a concrete store:
//! `use flowsdk_core::prelude::*;`. A service names the accessors it needs instead.

pub use crate::chat::{HasChatCatalog as _, HasChatTags as _, HasChats as _};
pub use crate::contact::{
    HasContactCatalog as _, HasContactInsights as _, HasContacts as _, HasOptInCatalog as _, HasOptIns as _,
};
pub use crate::credential::HasLlmCredentials as _;
pub use crate::event_definition::HasEventCounts as _;
pub use crate::flow::{HasFlowCatalog as _, HasFlows as _, HasTrackedEvents as _};
pub use crate::idempotency::HasIdempotency as _;
pub use crate::in_use::HasReferences as _;
pub use crate::integration::HasIntegrations as _;
pub use crate::media::HasMedia as _;
pub use crate::message::HasMessages as _;
pub use crate::observability::HasObservability as _;
pub use crate::record::HasRecords as _;
pub use crate::router::{HasRouterCatalog as _, HasRouters as _};
pub use crate::session::{HasLiveSessions as _, HasSessionCatalog as _, HasSessions as _, HasTraces as _};
pub use crate::store::{Store as _, Transaction as _};
pub use crate::stream::dead_letter::HasDeadLetters as _;
pub use crate::stream::outbox::HasOutbox as _;
pub use crate::transfer::HasChannelTransfer as _;
pub use crate::transfer::draft::HasImportDrafts as _;
pub use crate::variable::HasVariables as _;
