//! New tokens for a refresh token (spec A 4.1 rule 3, rulings A2).

use std::time::Duration;

use flowsdk_core::kv::{KeyValueError, KeyValueExt as _};
use flowsdk_core::store::{Store, Transaction as _};
use flowsdk_core::time::Timestamp;

use super::{Logins, RefreshError, Rotation};
use crate::access::{HasAccess, UserAccess};
use crate::attempt::{Limit, place};
use crate::audit::{AuditAction, AuditRecord};
use crate::keys;
use crate::principal::{Origin, Principal};
use crate::token::{Claims, TokenError, TokenPair, bearer};
use crate::user::HasUsers;

/// How long after its first use a one-time token may be used again, by tabs that refresh in parallel.
const GRACE: Duration = Duration::from_secs(60);

impl<S: Store> Logins<S>
where
    S::Tx: HasUsers + HasAccess,
{
    /// Returns two new tokens for the refresh token in this `Authorization` header.
    ///
    /// A failure is recorded when the token is one of ours. A token that anybody can make up is not recorded: it
    /// says nothing, and would let strangers fill the log. Nor is a request beyond a limit.
    ///
    /// # Errors
    /// Any [`RefreshError`]. With [`Rotation::Strict`] a token without `jti` is [`RefreshError::Invalid`]: every
    /// one of ours has it, also from before the rotation was strict; and without the key-value store the answer
    /// is [`RefreshError::Unavailable`], because a rule that was asked for must not lapse by an outage.
    pub async fn refresh(
        &self,
        authorization: Option<&str>,
        origin: &Origin,
    ) -> Result<TokenPair, RefreshError> {
        let now = self.cx.now();
        let (limits, place) = (&self.settings.limits, place(&origin.ip));
        self.count(limits.refreshes_by_address(), &place, now).await?;
        let token = bearer(authorization).ok_or(RefreshError::Missing)?;
        let claims = self.tokens.verify_refresh(token, now)?;
        let Principal::User { id, .. } = &claims.principal else {
            return Err(RefreshError::PrincipalUnknown);
        };
        let holder = match self.holder(&claims).await {
            Err(RefreshError::Storage(error)) => return Err(error.into()),
            holder => holder,
        };
        let limit = if holder.is_ok() { limits.refreshes() } else { limits.refused_refreshes() };
        self.count(limit, id.as_str(), now).await?;
        let renewed = match holder {
            Ok(user) => self.renew(&claims, user, now).await,
            Err(error) => Err(error),
        };
        let action = AuditAction::TokenRefresh;
        match &renewed {
            Ok(_) => self.audit.record(AuditRecord::auth_success(&self.cx, action, id, origin)),
            // Of outages the log of the server tells.
            Err(RefreshError::Unavailable(_) | RefreshError::Storage(_)) => {}
            Err(_) => self.audit.record(AuditRecord::auth_failure(&self.cx, action, Some(id), origin, None)),
        }
        renewed
    }

    /// Counts a request under a limit. It stays counted, whatever becomes of it.
    async fn count(&self, limit: Limit, subject: &str, now: Timestamp) -> Result<(), RefreshError> {
        let counted = self.attempts.count(&[(limit, subject)], now).await;
        counted.map(drop).map_err(RefreshError::RateLimited)
    }

    async fn renew(
        &self,
        claims: &Claims,
        user: UserAccess,
        now: Timestamp,
    ) -> Result<TokenPair, RefreshError> {
        if self.settings.rotation == Rotation::Strict {
            let token_id = claims.token_id.as_deref().ok_or(TokenError::Unnamed)?;
            if !self.is_fresh(token_id, claims.expires_at, now).await? {
                // The token was used twice: one of its two users is not its owner.
                let mut tx = self.store.begin().await?;
                tx.users().end_sessions(&user.id, self.cx.now()).await?;
                tx.commit().await?;
                tracing::warn!(user = user.id.as_str(), "a refresh token was used twice; its sessions end");
                return Err(RefreshError::SessionEnded);
            }
        }
        Ok(self.tokens.issue(&user.id, &user.name, now, self.cx.ids()))
    }

    /// Returns the user of the token, as they are now, unless they have logged out since it was issued.
    async fn holder(&self, claims: &Claims) -> Result<UserAccess, RefreshError> {
        let id = claims.principal.user_id().ok_or(RefreshError::PrincipalUnknown)?;
        let found = self.store.read().await?.access().users(std::slice::from_ref(id)).await?.pop();
        let user = found.ok_or(RefreshError::PrincipalUnknown)?;
        let has_ended = user.logged_out_at.is_some_and(|instant| claims.issued_at.is_before(instant));
        if has_ended { Err(RefreshError::SessionEnded) } else { Ok(user) }
    }

    /// Returns whether the token was not used before, or just now. The first use is remembered for as long as the
    /// token could be used.
    async fn is_fresh(
        &self,
        token_id: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<bool, KeyValueError> {
        let first_use = self.kv.claim(&keys::refreshed(token_id, expires_at.since(now)), &now).await?;
        Ok(now <= first_use + GRACE)
    }
}
