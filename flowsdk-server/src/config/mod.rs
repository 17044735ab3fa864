//! Configuration: one struct a section, one file a section, from the environment names of the contract
//! (spec A 1, 5.1).
//!
//! Every problem is found and reported at once; a value that is a secret is never part of a report.

mod admin;
mod administration;
mod agreed;
mod api;
mod environment;
mod master_key;
mod media;
mod operator;
mod phone;
mod roles;
mod rotation;
mod sms;
mod tokens;
mod webchat;

pub use administration::Administration;
pub use agreed::Agreed;
pub use api::ApiSettings;
pub use environment::{ConfigError, Environment};
pub(crate) use media::media_beside;
pub use media::{MediaSettings, MediaStore};
pub use operator::OperatorConfig;
pub use phone::PhoneSettings;
pub use roles::{InvalidRoles, Role, Roles, Section};
pub use rotation::RotationConfig;
pub use sms::SmsSettings;
pub use webchat::WebchatSettings;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use flowsdk_core::crypto::MasterKey;
use flowsdk_core::text::Language;
use flowsdk_outside::http::AllowedHosts;
use flowsdk_store::sql::DatabaseUrl;
use secrecy::SecretString;

/// How long the partitions of a dead process wait, but for a fifth of it. Short, because visitors wait as long; long
/// enough that a busy machine misses no five renewals in a row.
const AGENT_QUIET: Duration = Duration::from_millis(1_500);
const LEASE_TTL: Duration = Duration::from_millis(1_200);
const SHORTEST_LEASE: Duration = Duration::from_millis(500);
/// What is told of an address to listen at that is none.
pub const NO_LISTEN_ADDRESS: &str = "must be an IP address and a port, such as 127.0.0.1:8080";
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

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
    /// `JWT_*`, `ADMIN_*`, `SMS_*` and `TWILIO_*`. Only a process with the role `api` reads them.
    pub administration: Option<Administration>,
    /// `WEBCHAT_*`.
    pub webchat: WebchatSettings,
    /// `PHONE_*`.
    pub phone: PhoneSettings,
    /// `MEDIA_*` and `PUBLIC_URL`.
    pub media: MediaSettings,
    /// `API_*` and other settings of the administrative API.
    pub api: ApiSettings,
    /// `ROLES`. Without `REDIS_URL` an embedder may leave roles out: the events for them wait in the database until an
    /// app with the role works on it.
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
    /// How long a contact has to be quiet before an AI agent answers what they wrote.
    pub agent_quiet: Duration,
    /// `AGENT_TRANSCRIBER`: the model that turns recordings for AI agents into text.
    pub agent_transcriber: String,
    /// `LOG_FORMAT=json`.
    pub json_logs: bool,
    /// `DEFAULT_LANGUAGE`: the language of texts for people who name none.
    pub default_language: Language,
    /// The settings that every process on the database has to have in common.
    pub agreed: Vec<Agreed>,
}

impl Config {
    /// Reads and checks every setting.
    ///
    /// # Errors
    /// Every problem at once.
    pub fn read(mut env: Environment<'_>) -> Result<Self, ConfigError> {
        if env.text("DATABASE_URL").is_none() {
            env.problem("DATABASE_URL", "is missing");
        }
        let database = env.parsed("DATABASE_URL").unwrap_or(DatabaseUrl::SqliteMemory);
        let redis = env.text("REDIS_URL").map(SecretString::from);
        let listen = env.text("LISTEN_ADDR").map_or(Ok(LISTEN), |text| text.parse());
        let listen = listen.unwrap_or_else(|_| {
            env.problem("LISTEN_ADDR", NO_LISTEN_ADDRESS);
            LISTEN
        });
        let master_key = master_key::master_key(&mut env);
        // A list that cannot be read is a problem of its own; settings of every role are still checked.
        let roles: Roles = env.parsed("ROLES").unwrap_or_else(Roles::all);
        let administration =
            roles.need(Section::Administration).then(|| administration::administration(&mut env));
        let webchat = webchat::webchat(&mut env);
        let phone = phone::phone(&mut env);
        let media = media::media(&mut env, &database);
        let api = api::api(&mut env);
        if redis.is_some() && !matches!(database, DatabaseUrl::Postgres(_)) {
            env.problem(
                "REDIS_URL",
                "needs DATABASE_URL to be postgres://..: several processes share no SQLite file",
            );
        }
        if redis.is_none() && roles != Roles::all() {
            env.problem("ROLES", "needs REDIS_URL: without it one process does everything");
        }
        let log_format = env.text("LOG_FORMAT").unwrap_or_else(|| "text".to_owned());
        if !["json", "text"].contains(&log_format.as_str()) {
            env.problem("LOG_FORMAT", "must be json or text");
        }
        let lease_ttl = env.duration("LEASE_TTL", LEASE_TTL);
        if lease_ttl < SHORTEST_LEASE {
            env.problem("LEASE_TTL", "must be 500ms or more");
        }
        let partitions = env.number("STREAM_PARTITIONS", 1, 1..=256);
        let agreed = agreed::agreed(&env, partitions, administration.as_ref());
        let config = Self {
            database,
            redis,
            listen,
            master_key: Arc::new(master_key),
            administration,
            webchat,
            phone,
            media,
            api,
            roles,
            partitions,
            lease_ttl,
            shutdown_timeout: env.duration("SHUTDOWN_TIMEOUT", Duration::from_secs(30)),
            flow_http_allowed_hosts: env.parsed("FLOW_HTTP_ALLOWED_HOSTS").unwrap_or_default(),
            agent_quiet: env.duration("AGENT_QUIET", AGENT_QUIET),
            agent_transcriber: env
                .text("AGENT_TRANSCRIBER")
                .unwrap_or_else(|| crate::agent::TRANSCRIBER.to_owned()),
            json_logs: log_format == "json",
            default_language: default_language(&mut env),
            agreed,
        };
        env.finish()?;
        Ok(config)
    }

    /// Warns of settings that are allowed and probably not meant for production.
    pub fn warn(&self) {
        if self.administration.as_ref().is_some_and(|section| matches!(section.sms, SmsSettings::Log)) {
            tracing::warn!(
                "SMS_DRIVER is log: codes of password recoveries go to this log, and whoever reads it can use them"
            );
        }
    }
}

/// Portuguese, the language of the contract, unless the value says otherwise.
fn default_language(env: &mut Environment<'_>) -> Language {
    match env.text("DEFAULT_LANGUAGE").as_deref() {
        None | Some("pt") => Language::Portuguese,
        Some("en") => Language::English,
        Some(_) => {
            env.problem("DEFAULT_LANGUAGE", "must be pt or en");
            Language::Portuguese
        }
    }
}

#[cfg(test)]
mod tests;
