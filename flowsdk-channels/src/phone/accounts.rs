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
/// Most accounts that are remembered at once.
const REMEMBERED: u64 = 100_000;
/// Most unknown accounts that are remembered for a moment.
const UNKNOWN_REMEMBERED: u64 = 10_000;

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
    /// Ids of accounts that nobody has set up, and when they were asked for.
    unknown: Cache<String, Timestamp>,
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
        let unknown = Cache::builder().max_capacity(UNKNOWN_REMEMBERED).build();
        Self { store, key, cx, known, unknown, lookups: quota.map(RateLimiter::keyed) }
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

    /// Returns the numbers of the account that is said to have signed a delivery, whose signature is not checked yet. They
    /// are as they were read last where the account cannot be read now.
    ///
    /// # Errors
    /// [`AccountsError`]: it is not known, and cannot or may not be asked for.
    pub(super) async fn signer(&self, account: &str, caller: IpAddr) -> Result<Arc<[Number]>, AccountsError> {
        let known = self.known.get(account);
        if let Some(known) = known.as_ref().filter(|known| self.is_fresh(known.read_at)) {
            return Ok(Arc::clone(&known.numbers));
        }
        if self.unknown.get(account).is_some_and(|asked_at| self.is_fresh(asked_at)) {
            return Ok(Arc::default());
        }
        if known.is_none() && !self.admit(caller) {
            return Err(AccountsError::TooMany);
        }
        match (self.read(&[account.to_owned()]).await, known) {
            (Ok(mut read), _) => Ok(read.remove(account).unwrap_or_default()),
            (Err(error), Some(known)) => {
                tracing::warn!(error = %Chain(&error), "an account of the phone channel is not read anew");
                Ok(Arc::clone(&known.numbers))
            }
            (Err(error), None) => Err(error.into()),
        }
    }

    /// Returns the numbers of accounts that a signed delivery is about. Those that are fresh are remembered; `anew` reads
    /// them all.
    ///
    /// # Errors
    /// They cannot be read.
    pub(super) async fn numbers(
        &self,
        accounts: &[&str],
        anew: bool,
    ) -> Result<HashMap<String, Arc<[Number]>>, StorageError> {
        let mut found = HashMap::new();
        let mut asked = Vec::new();
        for account in accounts {
            match self.known.get(*account).filter(|known| !anew && self.is_fresh(known.read_at)) {
                Some(known) => drop(found.insert((*account).to_owned(), Arc::clone(&known.numbers))),
                None => asked.push((*account).to_owned()),
            }
        }
        if asked.is_empty() {
            return Ok(found);
        }
        let stale =
            asked.iter().map(|id| self.known.get(id).map(|known| (id.clone(), Arc::clone(&known.numbers))));
        let stale: Option<Vec<_>> = stale.collect();
        match (self.read(&asked).await, stale) {
            (Ok(read), _) => found.extend(read),
            // As they were read last, unless that is not enough.
            (Err(_), Some(stale)) if !anew => found.extend(stale),
            (Err(error), _) => return Err(error),
        }
        Ok(found)
    }

    fn is_fresh(&self, read_at: Timestamp) -> bool {
        let now = self.cx.now();
        // A clock that was put back makes nothing fresh for longer.
        read_at <= now && read_at + FRESH_FOR > now
    }

    /// Reads accounts, and remembers them.
    async fn read(&self, ids: &[String]) -> Result<HashMap<String, Arc<[Number]>>, StorageError> {
        let read_at = self.cx.now();
        let rows = self.store.read().await?.phone_accounts().numbers_of(ids).await?;
        let mut numbers: HashMap<String, Vec<Number>> = HashMap::new();
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
        let mut read = HashMap::new();
        for id in ids {
            let numbers: Arc<[Number]> = numbers.remove(id).unwrap_or_default().into();
            if numbers.is_empty() {
                self.known.invalidate(id);
                self.unknown.insert(id.clone(), read_at);
            } else {
                let account = Account { numbers: Arc::clone(&numbers), read_at };
                self.known.insert(id.clone(), Arc::new(account));
                self.unknown.invalidate(id);
            }
            read.insert(id.clone(), numbers);
        }
        Ok(read)
    }
}
