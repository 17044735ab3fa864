//! Limits against abuse, per place of callers and per visitor. In this process only: behind several processes
//! each allows as much.

use std::collections::HashMap;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use flowsdk_core::place::Place;
use flowsdk_core::session::SessionId;
use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultKeyedRateLimiter, NotUntil, Quota, RateLimiter};

/// The period in which [`LimitsConfig::upload_mib_per_hour`] may be used up.
const UPLOAD_SIZES_PERIOD: Duration = Duration::from_secs(60 * 60);

/// How much is allowed; 0 switches a limit off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitsConfig {
    /// New visits per minute and place (a [`Place`] is an IPv4 address or an IPv6 network; `WEBCHAT_NEW_VISITS_PER_MINUTE`).
    pub new_visits_per_minute: u32,
    /// Session keys compared per minute and place (`WEBCHAT_KEY_CHECKS_PER_MINUTE`): each costs a bcrypt.
    pub key_checks_per_minute: u32,
    /// Messages per second and session (`WEBCHAT_MESSAGES_PER_SECOND`), in bursts of five seconds' worth.
    pub messages_per_second: u32,
    /// Files uploaded per minute and place (`WEBCHAT_UPLOADS_PER_MINUTE`).
    pub uploads_per_minute: u32,
    /// Mebibytes uploaded per hour and place (`WEBCHAT_UPLOAD_MIB_PER_HOUR`). All of them may come at once.
    pub upload_mib_per_hour: u32,
    /// Sockets at once per session (`WEBCHAT_SOCKETS_PER_VISITOR`).
    pub sockets_per_visitor: u32,
}

impl Default for LimitsConfig {
    fn default() -> Self {
        Self {
            new_visits_per_minute: 60,
            key_checks_per_minute: 600,
            messages_per_second: 10,
            uploads_per_minute: 30,
            upload_mib_per_hour: 512,
            sockets_per_visitor: 10,
        }
    }
}

/// The state of the limits.
pub struct Limits {
    config: LimitsConfig,
    visits: Option<DefaultKeyedRateLimiter<Place>>,
    key_checks: Option<DefaultKeyedRateLimiter<Place>>,
    messages: Option<DefaultKeyedRateLimiter<SessionId>>,
    uploads: Option<DefaultKeyedRateLimiter<Place>>,
    /// Cells are kibibytes.
    upload_sizes: Option<DefaultKeyedRateLimiter<Place>>,
    sockets: Mutex<HashMap<SessionId, u32>>,
}

impl std::fmt::Debug for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits").field("config", &self.config).finish_non_exhaustive()
    }
}

/// A place among the sockets of a session, given back when dropped.
#[derive(Debug)]
pub struct SocketPlace {
    limits: Arc<Limits>,
    session: SessionId,
}

impl Drop for SocketPlace {
    fn drop(&mut self) {
        let mut sockets = self.limits.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = sockets.get_mut(&self.session) {
            *count -= 1;
            if *count == 0 {
                sockets.remove(&self.session);
            }
        }
    }
}

impl Limits {
    /// Creates limits with nothing used.
    pub fn new(config: LimitsConfig) -> Arc<Self> {
        let visits = NonZeroU32::new(config.new_visits_per_minute).map(Quota::per_minute);
        let key_checks = NonZeroU32::new(config.key_checks_per_minute).map(Quota::per_minute);
        let messages = NonZeroU32::new(config.messages_per_second).map(|rate| {
            Quota::per_second(rate).allow_burst(rate.saturating_mul(NonZeroU32::MIN.saturating_add(4)))
        });
        let uploads = NonZeroU32::new(config.uploads_per_minute).map(Quota::per_minute);
        let upload_sizes =
            NonZeroU32::new(config.upload_mib_per_hour.saturating_mul(1024)).map(Quota::per_hour);
        Arc::new(Self {
            config,
            visits: visits.map(RateLimiter::keyed),
            key_checks: key_checks.map(RateLimiter::keyed),
            messages: messages.map(RateLimiter::keyed),
            uploads: uploads.map(RateLimiter::keyed),
            upload_sizes: upload_sizes.map(RateLimiter::keyed),
            sockets: Mutex::default(),
        })
    }

    /// Returns whether the place of this address may begin another visit.
    pub fn admit_visit(&self, address: IpAddr) -> bool {
        self.visits.as_ref().is_none_or(|limiter| limiter.check_key(&Place::of(address)).is_ok())
    }

    /// Returns whether another key from the place of this address may be compared.
    pub fn admit_key_check(&self, address: IpAddr) -> bool {
        self.key_checks.as_ref().is_none_or(|limiter| limiter.check_key(&Place::of(address)).is_ok())
    }

    /// Returns whether this session may write another message.
    pub fn admit_message(&self, session: &SessionId) -> bool {
        self.messages.as_ref().is_none_or(|limiter| limiter.check_key(session).is_ok())
    }

    /// Admits another file of so many bytes from the place of this address.
    ///
    /// # Errors
    /// How long to wait for it. Of a file that is larger than the allowance of an hour this is an hour.
    pub fn admit_upload(&self, address: IpAddr, bytes: u64) -> Result<(), Duration> {
        let place = Place::of(address);
        let until = |refused: NotUntil<_>| refused.wait_time_from(DefaultClock::default().now());
        if let Some(limiter) = &self.uploads {
            limiter.check_key(&place).map_err(until)?;
        }
        let kibibytes = u32::try_from(bytes.div_ceil(1024)).unwrap_or(u32::MAX);
        if let (Some(limiter), Some(cells)) = (&self.upload_sizes, NonZeroU32::new(kibibytes)) {
            limiter.check_key_n(&place, cells).map_err(|_| UPLOAD_SIZES_PERIOD)?.map_err(until)?;
        }
        Ok(())
    }

    /// A place for another socket of this session, if there is one.
    pub fn admit_socket(self: &Arc<Self>, session: &SessionId) -> Option<SocketPlace> {
        let mut sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        let count = sockets.entry(session.clone()).or_default();
        if self.config.sockets_per_visitor > 0 && *count >= self.config.sockets_per_visitor {
            return None;
        }
        *count += 1;
        drop(sockets);
        Some(SocketPlace { limits: Arc::clone(self), session: session.clone() })
    }

    /// Forgets places and sessions that have been quiet; an idempotent tick.
    pub fn forget_quiet(&self) {
        let of_places = [&self.visits, &self.key_checks, &self.uploads, &self.upload_sizes];
        for limiter in of_places.into_iter().flatten() {
            limiter.retain_recent();
        }
        if let Some(limiter) = &self.messages {
            limiter.retain_recent();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session() -> SessionId {
        SessionId::parse("wc-c-u").expect("id")
    }

    #[test]
    fn a_burst_is_cut_off_and_zero_switches_off() {
        let config = LimitsConfig {
            new_visits_per_minute: 3,
            key_checks_per_minute: 2,
            messages_per_second: 2,
            uploads_per_minute: 4,
            upload_mib_per_hour: 2,
            sockets_per_visitor: 1,
        };
        let limits = Limits::new(config);
        let address = IpAddr::from([127, 0, 0, 1]);
        assert_eq!((0..10).filter(|_| limits.admit_visit(address)).count(), 3);
        assert_eq!((0..100).filter(|_| limits.admit_message(&session())).count(), 10);
        assert_eq!((0..10).filter(|_| limits.admit_upload(address, 0).is_ok()).count(), 4);
        let off = Limits::new(LimitsConfig {
            new_visits_per_minute: 0,
            key_checks_per_minute: 0,
            messages_per_second: 0,
            uploads_per_minute: 0,
            upload_mib_per_hour: 0,
            sockets_per_visitor: 0,
        });
        assert!((0..1_000).all(|_| off.admit_visit(address) && off.admit_message(&session())));
        assert!((0..1_000).all(|_| off.admit_upload(address, 1 << 30).is_ok()));
    }

    #[test]
    fn files_count_by_their_bytes() {
        let config = LimitsConfig { upload_mib_per_hour: 2, ..LimitsConfig::default() };
        let (one, other) = (address("10.0.0.1"), address("10.0.0.2"));
        for (sizes, admitted) in [
            (&[1 << 20, 1 << 20, 1][..], &[true, true, false][..]),
            (&[2 << 20, 1], &[true, false]),
            // What is refused takes no room.
            (&[(2 << 20) + 1, u64::MAX, 1 << 20, (1 << 20) + 1, 1 << 20], &[false, false, true, false, true]),
        ] {
            let limits = Limits::new(config);
            let seen: Vec<bool> = sizes.iter().map(|size| limits.admit_upload(one, *size).is_ok()).collect();
            assert_eq!(seen, admitted, "{sizes:?}");
            assert_eq!(limits.admit_upload(other, 2 << 20), Ok(()), "another place");
        }
    }

    #[test]
    fn a_refused_file_is_told_when_there_is_room_for_it() {
        let place = address("10.0.0.1");
        let minutes = |wait: Result<(), Duration>| wait.map_err(|wait| wait.as_secs().div_ceil(60));
        let counted = Limits::new(LimitsConfig { uploads_per_minute: 1, ..LimitsConfig::default() });
        assert_eq!(counted.admit_upload(place, 0), Ok(()));
        assert_eq!(minutes(counted.admit_upload(place, 0)), Err(1));
        let sized = Limits::new(LimitsConfig { upload_mib_per_hour: 2, ..LimitsConfig::default() });
        assert_eq!(sized.admit_upload(place, 2 << 20), Ok(()));
        assert_eq!(minutes(sized.admit_upload(place, 1 << 20)), Err(30), "half of the hour");
        assert_eq!(minutes(sized.admit_upload(place, 3 << 20)), Err(60), "never");
    }

    /// Fresh limits that admit two of each action of an address.
    fn two_an_address() -> Arc<Limits> {
        Limits::new(LimitsConfig {
            new_visits_per_minute: 2,
            key_checks_per_minute: 2,
            ..LimitsConfig::default()
        })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().expect("address")
    }

    #[test]
    fn key_checks_are_cut_off_apart_from_visits_and_zero_switches_off() {
        let limits = two_an_address();
        let (one, other) = (address("10.0.0.1"), address("10.0.0.2"));
        assert_eq!((0..10).filter(|_| limits.admit_key_check(one)).count(), 2);
        assert!(limits.admit_visit(one) && limits.admit_key_check(other));
        let off = Limits::new(LimitsConfig { key_checks_per_minute: 0, ..LimitsConfig::default() });
        assert!((0..1_000).all(|_| off.admit_key_check(one)));
    }

    #[test]
    fn the_addresses_of_one_network_share_a_limit() {
        let admits: [fn(&Limits, IpAddr) -> bool; 2] = [Limits::admit_visit, Limits::admit_key_check];
        for admit in admits {
            let limits = two_an_address();
            let of_one = ["2001:db8:1:2::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::3"].map(address);
            assert_eq!(of_one.map(|ip| admit(&limits, ip)), [true, true, false]);
            assert!(admit(&limits, address("2001:db8:1:3::1")), "another network");
            let mapped = ["10.0.0.1", "::ffff:10.0.0.1", "10.0.0.1", "::ffff:10.0.0.2"].map(address);
            assert_eq!(mapped.map(|ip| admit(&limits, ip)), [true, true, false, true]);
        }
    }

    #[test]
    fn a_socket_place_is_given_back() {
        let limits = Limits::new(LimitsConfig { sockets_per_visitor: 1, ..LimitsConfig::default() });
        let place = limits.admit_socket(&session());
        assert!(place.is_some() && limits.admit_socket(&session()).is_none());
        drop(place);
        assert!(limits.admit_socket(&session()).is_some());
    }
}
