//! The repositories that the cases use, with their accessors in scope.

pub(super) use crate::access::HasAccess;
pub(super) use crate::api_client::HasApiClients;
pub(super) use crate::audit::HasAuditLogs;
pub(super) use crate::device::HasUserDevices;
pub(super) use crate::group::HasGroups;
pub(super) use crate::recovery::HasPasswordRecoveries;
pub(super) use crate::schedule::HasLoginSchedules;
pub(super) use crate::user::HasUsers;
pub(super) use flowsdk_core::idempotency::HasIdempotency;
pub(super) use flowsdk_core::store::Transaction;

/// A transaction with every repository of this crate. Every transaction with those accessors is one.
pub trait AuthTx:
    Transaction
    + HasAccess
    + HasUsers
    + HasGroups
    + HasApiClients
    + HasUserDevices
    + HasPasswordRecoveries
    + HasLoginSchedules
    + HasAuditLogs
    + HasIdempotency
{
}

impl<
    T: Transaction
        + HasAccess
        + HasUsers
        + HasGroups
        + HasApiClients
        + HasUserDevices
        + HasPasswordRecoveries
        + HasLoginSchedules
        + HasAuditLogs
        + HasIdempotency,
> AuthTx for T
{
}
