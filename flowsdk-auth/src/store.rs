//! What authentication needs of a transaction.

use flowsdk_core::idempotency::IdempotencyTx;
use flowsdk_core::store::Transaction;

use crate::access::AccessRepository;
use crate::api_client::ApiClientRepository;
use crate::audit::AuditRepository;
use crate::device::UserDeviceRepository;
use crate::group::GroupRepository;
use crate::recovery::PasswordRecoveryRepository;
use crate::schedule::LoginScheduleRepository;
use crate::user::UserRepository;

/// A transaction that knows what principals may do: all that tokens and permissions need of a store, so that
/// a service with users of its own has little to implement.
pub trait AccessTx: Transaction {
    /// What principals may do.
    fn access(&mut self) -> &mut dyn AccessRepository;
}

/// A transaction over users and all that belongs to them.
pub trait AuthTx: AccessTx + IdempotencyTx {
    /// Users.
    fn users(&mut self) -> &mut dyn UserRepository;
    /// Groups.
    fn groups(&mut self) -> &mut dyn GroupRepository;
    /// API clients.
    fn api_clients(&mut self) -> &mut dyn ApiClientRepository;
    /// Devices of users.
    fn user_devices(&mut self) -> &mut dyn UserDeviceRepository;
    /// Password recoveries.
    fn password_recoveries(&mut self) -> &mut dyn PasswordRecoveryRepository;
    /// When agents may log in.
    fn login_schedules(&mut self) -> &mut dyn LoginScheduleRepository;
    /// The audit log.
    fn audit_logs(&mut self) -> &mut dyn AuditRepository;
}
