//! How strict logins are.

use std::time::Duration;

use flowsdk_crypto::PASSWORD_COST;

use crate::attempt::Limit;

const MINUTE: Duration = Duration::from_secs(60);

/// Settings of logins and of password recovery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginSettings {
    /// How often a refresh token serves: `REFRESH_ROTATION`.
    pub rotation: Rotation,
    /// `BCRYPT_COST`: the cost of new password hashes, also at a login with a cheaper hash.
    pub password_cost: u32,
    /// How often may be tried.
    pub limits: LoginLimits,
}

/// How often a refresh token may be used (rulings A2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rotation {
    /// Until it expires.
    #[default]
    Free,
    /// Once, and for a minute after that by parallel tabs. Later use ends the user's sessions.
    Strict,
}

/// How often may be tried (rulings H10); 0 switches a limit off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginLimits {
    /// Failed logins of an address in a minute, whether or not somebody has it.
    pub failures_per_email: u32,
    /// Failures from a network address in a minute, of IPv6 from a network of 64 bits; requests for a recovery
    /// count, too.
    pub failures_per_address: u32,
    /// Requests for a recovery of an address in 15 minutes.
    pub recoveries_per_email: u32,
    /// Refreshes of a user in a minute. Refreshes with tokens that count no more are counted apart, so that whoever
    /// has an old token keeps nobody from refreshing.
    pub refreshes_per_user: u32,
    /// Requests to refresh from a network address in a minute, of IPv6 from a network of 64 bits.
    pub refreshes_per_address: u32,
}

impl Default for LoginSettings {
    fn default() -> Self {
        Self { rotation: Rotation::default(), password_cost: PASSWORD_COST, limits: LoginLimits::default() }
    }
}

impl Default for LoginLimits {
    fn default() -> Self {
        Self {
            failures_per_email: 10,
            failures_per_address: 100,
            recoveries_per_email: 3,
            refreshes_per_user: 60,
            refreshes_per_address: 600,
        }
    }
}

impl LoginLimits {
    pub(crate) fn by_email(&self) -> Limit {
        Limit { name: "login-email", most: self.failures_per_email, within: MINUTE }
    }

    pub(crate) fn by_address(&self) -> Limit {
        Limit { name: "address", most: self.failures_per_address, within: MINUTE }
    }

    pub(crate) fn refreshes(&self) -> Limit {
        Limit { name: "refresh-user", most: self.refreshes_per_user, within: MINUTE }
    }

    pub(crate) fn refused_refreshes(&self) -> Limit {
        Limit { name: "refresh-refused", ..self.refreshes() }
    }

    pub(crate) fn refreshes_by_address(&self) -> Limit {
        Limit { name: "refresh-address", most: self.refreshes_per_address, within: MINUTE }
    }

    pub(crate) fn recoveries(&self) -> Limit {
        Limit {
            name: "recovery-email",
            most: self.recoveries_per_email,
            within: Duration::from_secs(15 * 60),
        }
    }
}
