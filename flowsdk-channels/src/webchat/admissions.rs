//! The sockets that were let in, by channel and by the secret that let them in.
//!
//! A channel that gets another embed secret, loses its secret or is deleted is closed to the visitors who came in
//! before. The database tells every process (rulings S12), so a change counts wherever their sockets are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::ChannelId;
use flowsdk_core::store::Store;
use secrecy::ExposeSecret as _;

use super::{Connection, HasWebchat, Visitor};

/// A socket and the secret of its channel at that moment; `None` of an open channel.
#[derive(Debug)]
struct Guest {
    connection: Arc<dyn Connection>,
    secret: Option<Encrypted>,
}

/// The guests of each channel, by the number of their admission: thousands may leave at once.
#[derive(Debug, Default)]
struct Guests {
    admitted: u64,
    of_channels: HashMap<ChannelId, HashMap<u64, Arc<Guest>>>,
}

/// The sockets of this process that were let in.
#[derive(Debug)]
pub struct Admissions<S> {
    store: Arc<S>,
    master_key: Arc<MasterKey>,
    guests: Arc<Mutex<Guests>>,
}

/// The admission of one socket; it ends when dropped.
#[derive(Debug)]
pub struct Admission {
    guests: Arc<Mutex<Guests>>,
    channel: ChannelId,
    number: u64,
}

impl<S: Store> Admissions<S>
where
    S::Tx: HasWebchat,
{
    /// Creates a service without sockets.
    pub fn new(store: Arc<S>, master_key: Arc<MasterKey>) -> Self {
        Self { store, master_key, guests: Arc::default() }
    }

    /// Notes a socket of a visitor who was let in.
    pub fn note(&self, visitor: &Visitor, connection: Arc<dyn Connection>) -> Admission {
        let guest = Arc::new(Guest { connection, secret: visitor.embed_secret.clone() });
        let channel = visitor.channel_id.clone();
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        guests.admitted += 1;
        let number = guests.admitted;
        guests.of_channels.entry(channel.clone()).or_default().insert(number, guest);
        drop(guests);
        Admission { guests: Arc::clone(&self.guests), channel, number }
    }

    /// Closes the sockets whose channel is gone or has another secret than at their admission, and returns how many; an
    /// idempotent tick.
    ///
    /// # Errors
    /// [`StorageError`]; then no socket was closed.
    pub async fn review(&self) -> Result<usize, StorageError> {
        // The sockets first: whoever came in before the channels are read was let in by them or by older ones.
        let guests: Vec<(ChannelId, Vec<Arc<Guest>>)> = {
            let guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
            let of_channels = guests.of_channels.iter();
            of_channels
                .map(|(channel, guests)| (channel.clone(), guests.values().cloned().collect()))
                .collect()
        };
        if guests.is_empty() {
            return Ok(0);
        }
        let channels: Vec<ChannelId> = guests.iter().map(|(channel, _)| channel.clone()).collect();
        let found = self.store.glance().await?.webchat().embed_secrets(&channels).await?;
        let present: HashMap<ChannelId, Option<Encrypted>> = found.into_iter().collect();
        let mut closed = 0;
        for (channel, guests) in guests {
            let present = present.get(&channel);
            // Nearly all guests of a channel have one secret; it is compared once.
            let mut last: Option<(&Option<Encrypted>, bool)> = None;
            for guest in &guests {
                let may_stay = match last {
                    Some((secret, may_stay)) if *secret == guest.secret => may_stay,
                    _ => present.is_some_and(|present| self.is_same(&guest.secret, present)),
                };
                last = Some((&guest.secret, may_stay));
                if !may_stay {
                    guest.connection.close();
                    closed += 1;
                }
            }
        }
        Ok(closed)
    }

    /// Returns whether two stored secrets are one. A secret that was encrypted again is.
    fn is_same(&self, seen: &Option<Encrypted>, present: &Option<Encrypted>) -> bool {
        match (seen, present) {
            (Some(seen), Some(present)) if seen != present => {
                let opened = (self.master_key.decrypt(seen), self.master_key.decrypt(present));
                matches!(opened, (Ok(a), Ok(b)) if a.expose_secret() == b.expose_secret())
            }
            (seen, present) => seen.is_some() == present.is_some(),
        }
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut guests = self.guests.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(of_channel) = guests.of_channels.get_mut(&self.channel) {
            of_channel.remove(&self.number);
            if of_channel.is_empty() {
                guests.of_channels.remove(&self.channel);
            }
        }
    }
}
