//! Errors of logins and accounts, and of what the server finds itself.

use std::sync::Arc;

use flowsdk_auth::access::AuthenticateError;
use flowsdk_auth::api_client::ApiClientError;
use flowsdk_auth::device::UserDeviceError;
use flowsdk_auth::group::GroupError;
use flowsdk_auth::login::{LoginError, RefreshError};
use flowsdk_auth::permission::Denied;
use flowsdk_auth::recovery::RecoveryError;
use flowsdk_auth::token::TokenError;
use flowsdk_auth::user::{PasswordRule, UserError};
use flowsdk_core::idempotency::IdempotencyConflict;
use flowsdk_core::kv::KeyValueError;
use flowsdk_crypto::JwtError;

use super::{Table, limit, storage};

/// Adds them to the table.
pub(super) fn add(table: &mut Table) {
    table.add([PasswordRule::TooShort, PasswordRule::TooLong]);
    table.add([
        UserError::NotFound,
        UserError::EmailTaken,
        UserError::GroupUnknown,
        UserError::LastAdministrator,
        UserError::Password(PasswordRule::TooShort),
        UserError::Idempotency(IdempotencyConflict),
        UserError::Busy,
        UserError::Storage(storage()),
    ]);
    table.add([
        GroupError::NotFound,
        GroupError::Idempotency(IdempotencyConflict),
        GroupError::Storage(storage()),
    ]);
    table.add([ApiClientError::NotFound, ApiClientError::Storage(storage())]);
    table.add([
        TokenError::Jwt(JwtError::Malformed),
        TokenError::Subject,
        TokenError::ApiClient,
        TokenError::Unnamed,
    ]);
    table.add([
        AuthenticateError::Missing,
        AuthenticateError::ApiTokenInvalid,
        AuthenticateError::ApiTokenExpired,
        AuthenticateError::JwtInvalid(TokenError::Subject),
        AuthenticateError::SessionEnded,
        AuthenticateError::PrincipalUnknown,
        AuthenticateError::Storage(Arc::new(storage())),
    ]);
    table.add([
        Denied::NoGroup,
        Denied::Permission,
        Denied::Admin,
        Denied::Global,
        Denied::Router,
        Denied::UserOnly,
    ]);
    table.add([
        LoginError::Credentials,
        LoginError::ScheduleBlocked,
        LoginError::RateLimited(limit()),
        LoginError::Busy,
        LoginError::Storage(storage()),
    ]);
    table.add([
        RefreshError::Missing,
        RefreshError::Invalid(TokenError::Subject),
        RefreshError::SessionEnded,
        RefreshError::RateLimited(limit()),
        RefreshError::PrincipalUnknown,
        RefreshError::Unavailable(KeyValueError::Unavailable("gone".into())),
        RefreshError::Storage(storage()),
    ]);
    table.add([UserDeviceError::NotFound, UserDeviceError::TokenTaken, UserDeviceError::Storage(storage())]);
    table.add([
        RecoveryError::CodeInvalid,
        RecoveryError::Password(PasswordRule::TooLong),
        RecoveryError::RateLimited(limit()),
        RecoveryError::Busy,
        RecoveryError::Storage(storage()),
    ]);
}
