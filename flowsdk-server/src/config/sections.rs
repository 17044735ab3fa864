//! The sections.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use flowsdk_auth::bootstrap::BootstrapAdmin;
use flowsdk_auth::user::Email;
use flowsdk_channels::webchat::LimitsConfig;
use flowsdk_core::crypto::MasterKey;
use flowsdk_outside::http::AllowedHosts;
use flowsdk_store::sql::DatabaseUrl;
use secrecy::{ExposeSecret as _, SecretString};

use super::{ConfigError, Environment};

/// Fewest characters of a JWT secret (spec A 5.1).
const JWT_SECRET_MIN: usize = 16;

/// Everything the server is told.
#[derive(Debug)]
pub struct Config {
    /// `DATABASE_URL`.
    pub database: DatabaseUrl,
    /// `REDIS_URL`; without it the streams are in the database and one process does everything.
    pub redis: Option<SecretString>,
    /// `LISTEN_ADDR`.
    pub listen: SocketAddr,
    /// `CRYPTO_SECRET` and `CRYPTO_SECRET_PREVIOUS`.
    pub master_key: Arc<MasterKey>,
    /// `JWT_*`.
    pub tokens: TokenSettings,
    /// `ADMIN_EMAIL`, `ADMIN_PASSWORD`.
    pub admin: BootstrapAdmin,
    /// `WEBCHAT_*`.
    pub webchat: WebchatSettings,
    /// `ROLES`.
    pub roles: Roles,
    /// `STREAM_PARTITIONS`: the same in every process.
    pub partitions: u32,
    /// `LEASE_TTL`: how long the partitions of a dead process wait for another.
    pub lease_ttl: Duration,
    /// `SHUTDOWN_TIMEOUT`: after it the process ends whatever is left.
    pub shutdown_timeout: Duration,
    /// `FLOW_HTTP_ALLOWED_HOSTS`: servers that `httpRequest` may reach although their addresses are not
    /// public.
    pub flow_http_allowed_hosts: AllowedHosts,
    /// `LOG_FORMAT=json`.
    pub json_logs: bool,
}

/// Signing of access and refresh tokens.
#[derive(Debug)]
pub struct TokenSettings {
    /// `JWT_ACCESS_SECRET`.
    pub access_secret: SecretString,
    /// `JWT_REFRESH_SECRET`.
    pub refresh_secret: SecretString,
    /// `JWT_ACCESS_EXPIRES_IN`, default a day.
    pub access_lifetime: Duration,
    /// `JWT_REFRESH_EXPIRES_IN`, default 7 days.
    pub refresh_lifetime: Duration,
}

/// The web chat.
#[derive(Debug, Clone, Copy)]
pub struct WebchatSettings {
    /// Limits against abuse.
    pub limits: LimitsConfig,
    /// `MAX_CONNECTIONS`: open connections of any kind.
    pub max_connections: u32,
    /// `TRUSTED_PROXIES`: how many proxies stand before the server and add to `X-Forwarded-For`.
    pub trusted_proxies: u32,
}

/// What a process does; all of it by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roles {
    /// The administrative API.
    pub api: bool,
    /// Orchestrator and engine, which share a transaction, and the message persister.
    pub conversation: bool,
    /// The web chat gateway and its page.
    pub webchat: bool,
}

impl Roles {
    /// Every role.
    pub const ALL: Roles = Roles { api: true, conversation: true, webchat: true };
}

/// A list that names no roles.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct InvalidRoles;

impl fmt::Display for InvalidRoles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "must be a comma-separated list of api, orchestrator, engine and webchat; orchestrator and engine \
             share a transaction, so a process has both or none",
        )
    }
}

impl FromStr for Roles {
    type Err = InvalidRoles;

    fn from_str(text: &str) -> Result<Self, InvalidRoles> {
        let (mut api, mut orchestrator, mut engine, mut webchat) = (false, false, false, false);
        for name in text.split(',').map(str::trim) {
            match name {
                "api" => api = true,
                "orchestrator" => orchestrator = true,
                "engine" => engine = true,
                "webchat" => webchat = true,
                _ => return Err(InvalidRoles),
            }
        }
        if orchestrator == engine {
            Ok(Self { api, conversation: engine, webchat })
        } else {
            Err(InvalidRoles)
        }
    }
}

impl Config {
    /// Reads everything.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn read(mut env: Environment<'_>) -> Result<Self, ConfigError> {
        if env.text("DATABASE_URL").is_none() {
            env.problem("DATABASE_URL", "is missing");
        }
        let database = env.parsed("DATABASE_URL").unwrap_or(DatabaseUrl::SqliteMemory);
        let redis = env.text("REDIS_URL").map(SecretString::from);
        let listen = env.parsed("LISTEN_ADDR").unwrap_or_else(|| SocketAddr::from(([127, 0, 0, 1], 8080)));
        let master_key = master_key(&mut env);
        let tokens = TokenSettings {
            access_secret: jwt_secret(&mut env, "JWT_ACCESS_SECRET"),
            refresh_secret: jwt_secret(&mut env, "JWT_REFRESH_SECRET"),
            access_lifetime: env.duration("JWT_ACCESS_EXPIRES_IN", Duration::from_secs(24 * 60 * 60)),
            refresh_lifetime: env.duration("JWT_REFRESH_EXPIRES_IN", Duration::from_secs(7 * 24 * 60 * 60)),
        };
        if !tokens.access_secret.expose_secret().is_empty()
            && tokens.access_secret.expose_secret() == tokens.refresh_secret.expose_secret()
        {
            env.problem("JWT_REFRESH_SECRET", "must differ from JWT_ACCESS_SECRET");
        }
        let admin = admin(&mut env);
        let defaults = LimitsConfig::default();
        let webchat = WebchatSettings {
            limits: LimitsConfig {
                new_visits_per_minute: env.number(
                    "WEBCHAT_NEW_VISITS_PER_MINUTE",
                    defaults.new_visits_per_minute,
                    0..=1_000_000,
                ),
                key_checks_per_minute: env.number(
                    "WEBCHAT_KEY_CHECKS_PER_MINUTE",
                    defaults.key_checks_per_minute,
                    0..=1_000_000,
                ),
                messages_per_second: env.number(
                    "WEBCHAT_MESSAGES_PER_SECOND",
                    defaults.messages_per_second,
                    0..=100_000,
                ),
                sockets_per_visitor: env.number(
                    "WEBCHAT_SOCKETS_PER_VISITOR",
                    defaults.sockets_per_visitor,
                    0..=100_000,
                ),
            },
            max_connections: env.number("MAX_CONNECTIONS", 20_000, 1..=1_000_000),
            trusted_proxies: env.number("TRUSTED_PROXIES", 0, 0..=16),
        };
        if redis.is_some() && !matches!(database, DatabaseUrl::Postgres(_)) {
            env.problem(
                "REDIS_URL",
                "needs DATABASE_URL to be postgres://..: several processes share no SQLite file",
            );
        }
        let roles = env.parsed("ROLES").unwrap_or(Roles::ALL);
        if redis.is_none() && roles != Roles::ALL {
            env.problem("ROLES", "needs REDIS_URL: without it one process does everything");
        }
        let log_format = env.text("LOG_FORMAT").unwrap_or_else(|| "text".to_owned());
        if !["json", "text"].contains(&log_format.as_str()) {
            env.problem("LOG_FORMAT", "must be json or text");
        }
        let config = Self {
            database,
            redis,
            listen,
            master_key: Arc::new(master_key),
            tokens,
            admin,
            webchat,
            roles,
            partitions: env.number("STREAM_PARTITIONS", 1, 1..=256),
            lease_ttl: env.duration("LEASE_TTL", Duration::from_secs(6)),
            shutdown_timeout: env.duration("SHUTDOWN_TIMEOUT", Duration::from_secs(30)),
            flow_http_allowed_hosts: AllowedHosts::new(
                env.text("FLOW_HTTP_ALLOWED_HOSTS")
                    .iter()
                    .flat_map(|hosts| hosts.split(','))
                    .map(str::to_owned),
            ),
            json_logs: log_format == "json",
        };
        env.finish()?;
        Ok(config)
    }
}

/// A key that stands in while the problems are gathered; it never leaves [`Config::read`].
const PLACEHOLDER: &str = "00000000000000000000000000000000";

fn master_key(env: &mut Environment<'_>) -> MasterKey {
    let secret = env.secret("CRYPTO_SECRET");
    let mut key = None;
    if !secret.expose_secret().is_empty() {
        key =
            MasterKey::new(secret.expose_secret()).map_err(|error| env.problem("CRYPTO_SECRET", error)).ok();
    }
    #[allow(clippy::expect_used, reason = "the placeholder has 32 bytes")]
    let key = key.unwrap_or_else(|| MasterKey::new(PLACEHOLDER).expect("32 bytes"));
    match env.text("CRYPTO_SECRET_PREVIOUS") {
        None => key,
        Some(previous) => key.with_previous(&previous).unwrap_or_else(|error| {
            env.problem("CRYPTO_SECRET_PREVIOUS", error);
            #[allow(clippy::expect_used, reason = "the placeholder has 32 bytes")]
            MasterKey::new(PLACEHOLDER).expect("32 bytes")
        }),
    }
}

fn jwt_secret(env: &mut Environment<'_>, name: &str) -> SecretString {
    let secret = env.secret(name);
    let length = secret.expose_secret().chars().count();
    if length > 0 && length < JWT_SECRET_MIN {
        env.problem(name, format_args!("must have at least {JWT_SECRET_MIN} characters, found {length}"));
    }
    secret
}

/// The administrator's address when none is given.
const DEFAULT_ADMIN: &str = "admin@flowsdk.local";

fn admin(env: &mut Environment<'_>) -> BootstrapAdmin {
    let text = env.text("ADMIN_EMAIL").unwrap_or_else(|| DEFAULT_ADMIN.to_owned());
    let email = Email::parse(&text).or_else(|error| {
        env.problem("ADMIN_EMAIL", error);
        Email::parse(DEFAULT_ADMIN)
    });
    #[allow(clippy::expect_used, reason = "a constant")]
    let email = email.expect("the default is an address");
    let password = env.text("ADMIN_PASSWORD").map(SecretString::from);
    if password.as_ref().is_some_and(|p| p.expose_secret().len() > flowsdk_core::crypto::MAX_SECRET_BYTES) {
        env.problem("ADMIN_PASSWORD", "must have at most 72 bytes");
    }
    BootstrapAdmin { email, password }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn read(values: &[(&str, &str)]) -> Result<Config, Vec<String>> {
        let values: HashMap<&str, &str> = values.iter().copied().collect();
        Config::read(Environment::new(|name| values.get(name).map(|value| (*value).to_owned())))
            .map_err(|error| error.problems)
    }

    const GOOD: [(&str, &str); 4] = [
        ("DATABASE_URL", "sqlite:/tmp/x.db"),
        ("CRYPTO_SECRET", "0123456789abcdef0123456789abcdef"),
        ("JWT_ACCESS_SECRET", "access-secret-16"),
        ("JWT_REFRESH_SECRET", "refresh-secret16"),
    ];

    #[test]
    fn four_values_are_enough() {
        let config = read(&GOOD).expect("good");
        assert_eq!(config.tokens.access_lifetime, Duration::from_secs(86_400));
        assert_eq!(config.roles, Roles::ALL);
        let shown = format!("{config:?}");
        assert!(!shown.contains("access-secret") && !shown.contains("0123456789abcdef"), "{shown}");
    }

    #[test]
    fn every_problem_is_reported_at_once_and_no_value_of_a_secret() {
        let problems = read(&[
            ("CRYPTO_SECRET", "too-short-a-key"),
            ("JWT_ACCESS_SECRET", "short"),
            ("LISTEN_ADDR", "nowhere"),
            ("JWT_ACCESS_EXPIRES_IN", "soon"),
            ("WEBCHAT_MESSAGES_PER_SECOND", "-1"),
            ("ROLES", "engine"),
            ("ADMIN_EMAIL", "nobody"),
        ])
        .expect_err("bad");
        let names: Vec<&str> = problems.iter().filter_map(|p| p.split(' ').next()).collect();
        for name in [
            "DATABASE_URL",
            "CRYPTO_SECRET",
            "JWT_ACCESS_SECRET",
            "JWT_REFRESH_SECRET",
            "LISTEN_ADDR",
            "JWT_ACCESS_EXPIRES_IN",
            "WEBCHAT_MESSAGES_PER_SECOND",
            "ROLES",
            "ADMIN_EMAIL",
        ] {
            assert!(names.contains(&name), "{name} in {problems:?}");
        }
        assert!(!problems.join("\n").contains("too-short-a-key"));
    }

    #[test]
    fn roles_are_apart_only_with_redis() {
        let mut values = GOOD.to_vec();
        values.push(("ROLES", "webchat"));
        assert!(read(&values).is_err());
        values.push(("REDIS_URL", "redis://127.0.0.1"));
        assert!(read(&values).is_err(), "SQLite is of one process");
        values[0] = ("DATABASE_URL", "postgres://u@127.0.0.1/d");
        assert_eq!(
            read(&values).map(|c| c.roles),
            Ok(Roles { api: false, conversation: false, webchat: true })
        );
    }
}
