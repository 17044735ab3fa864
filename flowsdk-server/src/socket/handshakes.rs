//! Sessions that were opened and have not been let in: each takes memory until it is, or until its time is over.
//!
//! Over long polling it takes no connection. One that began as a websocket is counted with the open connections; when
//! its client hangs up it stays all the same, because the protocol library holds it until the time for its CONNECT is
//! over. So it counts here from the end of its connection on.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use flowsdk_core::place::Place;

/// How many there may be at once; 0 switches a limit off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HandshakeLimits {
    /// Of one address; the addresses of an IPv6 network count as one.
    pub per_address: u32,
    /// Of all addresses.
    pub in_all: u32,
}

impl Default for HandshakeLimits {
    fn default() -> Self {
        Self { per_address: 100, in_all: 2_000 }
    }
}

/// Why a session is not opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotOpened {
    /// The address has too many that wait.
    TooManyOfAddress,
    /// Too many wait in all.
    TooMany,
}

/// Counts the sessions that wait.
#[derive(Debug)]
pub struct Handshakes {
    limits: HandshakeLimits,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: u32,
    by_place: HashMap<Place, u32>,
}

impl Handshakes {
    /// Nobody waits.
    pub fn new(limits: HandshakeLimits) -> Arc<Self> {
        Arc::new(Self { limits, counts: Mutex::default() })
    }

    /// Counts a session that is opened from this address.
    ///
    /// # Errors
    /// A limit is reached.
    pub fn begin(self: &Arc<Self>, address: IpAddr) -> Result<Newcomer, NotOpened> {
        let place = Place::of(address);
        let mut counts = self.lock();
        self.has_room(&counts, place)?;
        counts.add(place);
        drop(counts);
        Ok(Newcomer::new(Stay::Counted { _count: Counted { of: Arc::clone(self), place } }))
    }

    /// Begins a session that has a connection: it counts from the end of the connection on, when [`Connected`] is
    /// dropped. So there are at most as many beyond a limit as connections were open.
    ///
    /// # Errors
    /// A limit is reached.
    pub(super) fn begin_connected(
        self: &Arc<Self>,
        address: IpAddr,
    ) -> Result<(Newcomer, Connected), NotOpened> {
        let place = Place::of(address);
        self.has_room(&self.lock(), place)?;
        let newcomer = Newcomer::new(Stay::Connected { of: Arc::clone(self), place });
        let connected = Connected(Arc::downgrade(&newcomer.0));
        Ok((newcomer, connected))
    }

    fn has_room(&self, counts: &Counts, place: Place) -> Result<(), NotOpened> {
        let of_place = counts.by_place.get(&place).copied().unwrap_or(0);
        let is_full = |limit: u32, count: u32| limit > 0 && count >= limit;
        if is_full(self.limits.per_address, of_place) {
            return Err(NotOpened::TooManyOfAddress);
        }
        if is_full(self.limits.in_all, counts.all) {
            return Err(NotOpened::TooMany);
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    fn add(&mut self, place: Place) {
        self.all += 1;
        *self.by_place.entry(place).or_default() += 1;
    }
}

/// A session that waits. It is in the extensions of the opening request, which the session keeps: it waits until
/// [`Newcomer::let_in`], or until the session is gone.
#[derive(Debug, Clone)]
pub struct Newcomer(Arc<Mutex<Stay>>);

impl Newcomer {
    /// The session waits no longer.
    pub fn let_in(&self) {
        drop(std::mem::replace(&mut *lock(&self.0), Stay::LetIn));
    }

    fn new(stay: Stay) -> Self {
        Self(Arc::new(Mutex::new(stay)))
    }
}

/// How a session waits.
#[derive(Debug)]
enum Stay {
    /// With a connection.
    Connected {
        of: Arc<Handshakes>,
        place: Place,
    },
    /// Until it is dropped.
    Counted {
        _count: Counted,
    },
    LetIn,
}

fn lock(stay: &Mutex<Stay>) -> MutexGuard<'_, Stay> {
    stay.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The connection of a session that waits. Dropping it counts the session, if it still waits.
#[derive(Debug)]
pub(super) struct Connected(Weak<Mutex<Stay>>);

impl Drop for Connected {
    fn drop(&mut self) {
        let Some(stay) = self.0.upgrade() else { return };
        let mut waits = lock(&stay);
        if let Stay::Connected { of, place } = &*waits {
            of.lock().add(*place);
            *waits = Stay::Counted { _count: Counted { of: Arc::clone(of), place: *place } };
        }
    }
}

#[derive(Debug)]
struct Counted {
    of: Arc<Handshakes>,
    place: Place,
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.of.lock();
        counts.all -= 1;
        if let Some(count) = counts.by_place.get_mut(&self.place) {
            *count -= 1;
            if *count == 0 {
                counts.by_place.remove(&self.place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_and_all_of_them_have_only_so_many() {
        let handshakes = Handshakes::new(HandshakeLimits { per_address: 2, in_all: 3 });
        let begin = |address: &str| handshakes.begin(address.parse().expect("an address"));
        let (first, second) = (begin("2001:db8::1").expect("one"), begin("2001:db8::2").expect("two"));
        assert_eq!(begin("2001:db8::3").expect_err("one network"), NotOpened::TooManyOfAddress);
        let third = begin("3.3.3.3").expect("three");
        assert_eq!(begin("4.4.4.4").expect_err("four"), NotOpened::TooMany);
        first.let_in();
        first.let_in();
        drop(first);
        assert!(begin("2001:db8::3").is_ok(), "and gone again");
        let copy = second.clone();
        drop(second);
        let _fourth = begin("4.4.4.4").expect("one was let in");
        assert_eq!(begin("2001:db8::4").expect_err("the copy counts"), NotOpened::TooMany);
        drop((copy, third));
        assert!(begin("2001:db8::4").is_ok());
        assert_eq!(handshakes.lock().by_place.len(), 1);
    }

    #[test]
    fn a_session_with_a_connection_counts_when_that_is_gone() {
        let handshakes = Handshakes::new(HandshakeLimits { per_address: 2, in_all: 10 });
        let begin = || handshakes.begin_connected([1, 1, 1, 1].into());
        let (mut waiting, mut connections): (Vec<_>, Vec<_>) =
            (0..5).map(|_| begin().expect("it has a connection")).unzip();
        waiting[0].let_in();
        drop(waiting.pop());
        connections.drain(..2).for_each(drop);
        assert_eq!(handshakes.lock().all, 1, "one was let in");
        assert!(begin().is_ok());
        drop(connections);
        assert_eq!(handshakes.lock().all, 3, "one was gone before");
        assert_eq!(begin().expect_err("it is full"), NotOpened::TooManyOfAddress);
        drop(waiting);
        assert_eq!(handshakes.lock().all, 0);
        assert!(begin().is_ok());
    }

    #[test]
    fn zero_is_no_limit() {
        let handshakes = Handshakes::new(HandshakeLimits { per_address: 0, in_all: 0 });
        let held: Vec<_> = (0..1_000).map(|_| handshakes.begin([1, 1, 1, 1].into())).collect();
        assert!(held.iter().all(Result::is_ok));
    }
}
