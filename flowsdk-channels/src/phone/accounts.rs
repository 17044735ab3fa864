//! Business accounts that are remembered for a moment, so that a delivery needs no database.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::RouterId;
use flowsdk_core::place::Place;
use flowsdk_core::store::Store;
use flowsdk_core::time::Timestamp;
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use moka::sync::Cache;
use secrecy::SecretString;

use super::account::HasPhoneAccounts;

/// How long an account counts as it was read. A secret that is changed counts after this time at the latest.
const FRESH_FOR: Duration = Duration::from_secs(2);
/// Most accounts that are remembered at once, unknown ones included.
const REMEMBERED: u64 = 100_000;

/// A number of an account, with the secret that signs what is told of it.
#[derive(Debug)]
pub(super) struct Number {
    pub(super) phone_number_id: String,
    pub(super) router_id: RouterId,
    pub(super) secret: SecretString,
}

/// The numbers of an account as they were at a time. An account that nobody has set up has none.
#[derive(Debug)]
struct Account {
    numbers: Arc<[Number]>,
    read_at: Timestamp,
}

/// Accounts as they were a moment ago.
#[derive(Debug)]
pub(super) struct Accounts<S> {
    store: Arc<S>,
    key: Arc<MasterKey>,
    cx: OpContext,
    known: Cache<String, Arc<Account>>,
    lookups: Option<DefaultKeyedRateLimiter<Place>>,
}

/// The reason why accounts are not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum AccountsError {
    /// The place of the caller has asked for too many that are not known.
    #[error("too many unknown accounts from one place")]
    TooMany,
    /// They cannot be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl<S: Store> Accounts<S>
where
    S::Tx: HasPhoneAccounts,
{
    /// `lookups_per_minute` is how often a place may ask for what is not known; 0 switches the limit off.
    pub(super) fn new(store: Arc<S>, key: Arc<MasterKey>, cx: OpContext, lookups_per_minute: u32) -> Self {
        let quota = NonZeroU32::new(lookups_per_minute).map(Quota::per_minute);
        let known = Cache::builder().max_capacity(REMEMBERED).build();
        Self { store, key, cx, known, lookups: quota.map(RateLimiter::keyed) }
    }

    /// Returns whether the place of `caller` may ask for something unknown.
    pub(super) fn admit(&self, caller: IpAddr) -> bool {
        self.lookups.as_ref().is_none_or(|limiter| limiter.check_key(&Place::of(caller)).is_ok())
    }

    /// Forgets places that have been quiet; an idempotent tick.
    pub(super) fn forget_quiet(&self) {
        if let Some(limiter) = &self.lookups {
            limiter.retain_recent();
        }
    }

    /// Returns the numbers of accounts, in the same order. Those of an account whose state cannot be read are as they were
    /// read last.
    pub(super) async fn numbers(
        &self,
        accounts: &[&str],
        caller: IpAddr,
    ) -> Result<Vec<Arc<[Number]>>, AccountsError> {
        let now = self.cx.now();
        let mut found: Vec<Option<Arc<Account>>> = accounts.iter().map(|id| self.known.get(*id)).collect();
        let is_fresh = |account: &Arc<Account>| account.read_at + FRESH_FOR > now;
        let old: Vec<usize> =
            (0..accounts.len()).filter(|&at| !found[at].as_ref().is_some_and(is_fresh)).collect();
        if !old.is_empty() {
            let is_known =
                |at: &usize| found[*at].as_ref().is_some_and(|account| !account.numbers.is_empty());
            if !old.iter().all(is_known) && !self.admit(caller) {
                return Err(AccountsError::TooMany);
            }
            let ids: Vec<String> = old.iter().map(|&at| accounts[at].to_owned()).collect();
            match self.read(&ids, now).await {
                Ok(mut read) => {
                    for (at, id) in old.into_iter().zip(ids) {
                        found[at] = read.remove(&id);
                    }
                }
                Err(error) if found.iter().all(Option::is_some) => {
                    tracing::warn!(error = %Chain(&error), "accounts of the phone channel are not read anew");
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(found
            .into_iter()
            .map(|account| account.map_or_else(Arc::default, |a| Arc::clone(&a.numbers)))
            .collect())
    }

    /// Reads accounts, and remembers them.
    async fn read(
        &self,
        ids: &[String],
        now: Timestamp,
    ) -> Result<HashMap<String, Arc<Account>>, StorageError> {
        let rows = self.store.read().await?.phone_accounts().numbers_of(ids).await?;
        let mut numbers: HashMap<String, Vec<Number>> =
            ids.iter().map(|id| (id.clone(), Vec::new())).collect();
        for row in rows {
            let Some(encrypted) = row.app_secret else { continue };
            match self.key.decrypt(&encrypted) {
                Ok(secret) => numbers.entry(row.account_id).or_default().push(Number {
                    phone_number_id: row.phone_number_id,
                    router_id: row.router_id,
                    secret,
                }),
                Err(_) => {
                    tracing::error!(router = %row.router_id, "the app secret of a router cannot be decrypted");
                }
            }
        }
        let remember = |(id, numbers): (String, Vec<Number>)| {
            let account = Arc::new(Account { numbers: numbers.into(), read_at: now });
            self.known.insert(id.clone(), Arc::clone(&account));
            (id, account)
        };
        Ok(numbers.into_iter().map(remember).collect())
    }
}
