//! A database with its seed, and the processes that work on it.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowsdk_agent::executor::Models;
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_server::config::{Config, Environment};
use flowsdk_server::testkit::TestApp;
use flowsdk_store::sql::{DatabaseUrl, OutboxRoutes, SqlStore};
use serde_json::Value;
use sqlx::Connection as _;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;

use super::process::{command, pdf_reader, script_workers};
use super::seed::{Seeded, seed};
use super::{Client, Server, log, token};

/// Redis databases that no test uses.
static FREE: Mutex<Vec<u32>> = Mutex::new(Vec::new());
static TAKEN: AtomicU32 = AtomicU32::new(0);
/// Seeds of the applications in this process.
static SEEDS: AtomicU64 = AtomicU64::new(0);

/// A database with the schema of today, of which those of the tests are copies: to migrate one takes three times as long
/// as to copy it.
static TEMPLATE: OnceCell<String> = OnceCell::const_new();

/// What a new database has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Begins {
    /// Nothing.
    Empty,
    /// The schema of today.
    Migrated,
}

/// Postgres and Redis of one test.
pub struct Services {
    /// To create and drop databases with.
    admin: String,
    database: String,
    /// Where several processes share the database.
    redis: Option<String>,
    index: Option<u32>,
}

/// Where the servers of one test work.
pub struct Setup {
    pub seeded: Seeded,
    pub dir: TempDir,
    env: Vec<(String, String)>,
    services: Option<Services>,
    /// The connections of the application in this process.
    store: Option<SqlStore>,
    /// The models of the application in this process; those of the credentials, if there are none here.
    models: Option<Arc<dyn Models>>,
    started: AtomicU32,
    secrets: Mutex<Vec<String>>,
}

impl Setup {
    /// One process and a SQLite file.
    pub async fn embedded() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", dir.path().join("flowsdk.db").display());
        Self::new(dir, &url, None, false).await
    }

    /// The application in this process, and SQLite in memory.
    pub async fn memory() -> Self {
        Self::new(tempfile::tempdir().unwrap(), "sqlite::memory:", None, true).await
    }

    /// The application in this process, on Postgres alone; `None`, with a line that says so, when there is none.
    pub async fn postgres() -> Option<Self> {
        let services = Services::create(None, None, Begins::Migrated).await?;
        let url = services.url();
        Some(Self::new(tempfile::tempdir().unwrap(), &url, Some(services), true).await)
    }

    /// Processes on Postgres and Redis; `None`, with a line that says so, when there are none.
    pub async fn distributed() -> Option<Self> {
        Some(Self::distributed_over(Services::both(Begins::Migrated).await?).await)
    }

    /// The same with the Redis server at `redis`.
    pub async fn distributed_on(redis: String) -> Option<Self> {
        let services = Services::create(Some(redis), None, Begins::Migrated).await?;
        Some(Self::distributed_over(services).await)
    }

    async fn distributed_over(services: Services) -> Self {
        let url = services.url();
        let setup = Self::new(tempfile::tempdir().unwrap(), &url, Some(services), false).await;
        setup.with("STREAM_PARTITIONS", "4").with("LEASE_TTL", "2s")
    }

    async fn new(dir: TempDir, url: &str, services: Option<Services>, in_process: bool) -> Self {
        let cx = OpContext::system();
        let secret = || cx.ids().secret(2);
        let crypto: String = secret().chars().take(32).collect();
        let secrets = vec![crypto.clone(), secret(), secret(), secret()];
        let names = ["CRYPTO_SECRET", "JWT_ACCESS_SECRET", "JWT_REFRESH_SECRET", "ADMIN_PASSWORD"];
        let mut env: Vec<(String, String)> =
            names.iter().zip(&secrets).map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        env.push(("DATABASE_URL".to_owned(), url.to_owned()));
        env.push(("LISTEN_ADDR".to_owned(), "127.0.0.1:0".to_owned()));
        env.push(("MEDIA_STORE".to_owned(), dir.path().join("media").display().to_string()));
        env.push(("WEBCHAT_NEW_VISITS_PER_MINUTE".to_owned(), "0".to_owned()));
        if let Some(redis) = services.as_ref().and_then(|services| services.redis.as_ref()) {
            env.push(("REDIS_URL".to_owned(), redis.clone()));
        }
        let store = connect(url).await;
        let seeded = seed(&store, &MasterKey::new(&crypto).unwrap()).await;
        let store = if in_process {
            log::begin();
            Some(store)
        } else {
            store.close().await;
            None
        };
        let (started, secrets) = (AtomicU32::new(0), Mutex::new(secrets));
        let setup = Self { dir, env, services, store, models: None, started, secrets, seeded };
        setup.plant(&setup.seeded.secret);
        setup
    }

    /// The same with a database of its own.
    pub async fn another(&self) -> Self {
        let another = match (self.store.is_some(), self.is_postgres()) {
            (true, false) => return Self::memory().await,
            (false, false) => return Self::embedded().await,
            (true, true) => Self::postgres().await,
            (false, true) => Self::distributed().await,
        };
        another.expect("services")
    }

    /// Sets a value of the environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Leaves a value of the environment to its default.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.env.retain(|(known, _)| known != name);
        self
    }

    /// The configuration of an app in this process, in these roles and without Redis.
    pub fn config(&self, roles: &str) -> Config {
        let find =
            |name: &str| self.env.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone());
        let alone = |name: &str| if name == "REDIS_URL" { None } else { find(name) };
        let mut config = Config::read(Environment::new(alone)).unwrap();
        config.roles = roles.parse().unwrap();
        config
    }

    /// The password of the administrator, `admin@flowsdk.local`.
    pub fn admin_password(&self) -> &str {
        self.value("ADMIN_PASSWORD")
    }

    /// A value of the environment.
    pub fn value(&self, name: &str) -> &str {
        &self.env.iter().find(|(known, _)| known == name).unwrap().1
    }

    /// Whether several processes can run.
    pub fn is_distributed(&self) -> bool {
        self.services.as_ref().is_some_and(|services| services.redis.is_some())
    }

    /// Whether the database is Postgres.
    fn is_postgres(&self) -> bool {
        self.services.is_some()
    }

    /// `serve` with this set-up's configuration.
    pub fn command(&self) -> std::process::Command {
        self.command_of("serve")
    }

    /// A subcommand with this set-up's configuration.
    pub fn command_of(&self, subcommand: &str) -> std::process::Command {
        let mut command = command();
        command.arg(subcommand).envs(self.env.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Starts a process, or the application in this one, and waits until it is ready.
    pub async fn start(&self) -> Server {
        if let Some(store) = &self.store {
            return self.start_here(store).await;
        }
        let number = self.started.fetch_add(1, Ordering::SeqCst);
        Server::start(self.command(), self.dir.path(), &format!("server-{number}")).await
    }

    /// Starts a process with other values of the environment, and waits until it is ready.
    pub async fn start_as(&self, changes: &[(&str, &str)]) -> Server {
        let number = self.started.fetch_add(1, Ordering::SeqCst);
        let mut command = self.command();
        command.envs(changes.iter().copied());
        Server::start(command, self.dir.path(), &format!("server-{number}")).await
    }

    async fn start_here(&self, store: &SqlStore) -> Server {
        // No two servers of a run make the same ids.
        let (mut adapters, clock) = TestApp::adapters(SEEDS.fetch_add(1, Ordering::SeqCst));
        adapters.store = Some(store.clone());
        adapters.scripts = Some(Arc::new(script_workers()));
        adapters.pdfs = Some(Arc::new(pdf_reader()));
        adapters.models.clone_from(&self.models);
        let config = self.config("api,orchestrator,engine,webchat,phone,helpdesk,webhooks,agent");
        Server::in_process(TestApp::start_with(config, adapters, clock).await.unwrap()).await
    }

    /// The application in this process asks these models.
    pub fn with_models(mut self, models: Arc<dyn Models>) -> Self {
        self.models = Some(models);
        self
    }

    /// Another connection to the database, or that of the application in this process.
    pub async fn store(&self) -> SqlStore {
        if let Some(store) = &self.store {
            return store.clone();
        }
        let url = self.env.iter().find(|(name, _)| name == "DATABASE_URL").unwrap();
        connect(&url.1).await
    }

    /// Ends what [`Setup::store`] gave: connections of their own are closed.
    pub async fn done(&self, store: SqlStore) {
        if self.store.is_none() {
            store.close().await;
        }
    }

    /// Waits until a transaction of Postgres waits for the end of another one. SQLite does not tell who waits for
    /// its one writer; there nothing is waited for.
    pub async fn somebody_waits_for_a_lock(&self) {
        const WAITING: &str = "SELECT count(*) FROM pg_stat_activity
             WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0";
        if !self.is_postgres() {
            return;
        }
        let mut connection = sqlx::PgConnection::connect(self.value("DATABASE_URL")).await.unwrap();
        let waits = async {
            while sqlx::query_scalar::<_, i64>(WAITING).fetch_one(&mut connection).await.unwrap() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        // The database ends a transaction that is idle for longer.
        tokio::time::timeout(Duration::from_secs(2), waits).await.expect("somebody waits for a lock");
    }

    /// What is in the streams and who works on the database, for whoever reads of a failure.
    pub async fn streams(&self) -> String {
        const LEFT: &str = "SELECT coalesce(string_agg(concat_ws(' ', topic, part, grp, count), E'\n'), '')
             FROM (SELECT topic, part, grp, count(*) FROM stream_entry GROUP BY topic, part, grp) AS left_over";
        const WORK: &str = "SELECT coalesce(string_agg(concat_ws(' ', pid, state, wait_event, now() - xact_start, left(query, 200)), E'\n'), '')
             FROM pg_stat_activity WHERE datname = current_database()";
        // Of each stream its length, and of each group what it has not read and not acknowledged.
        const GROUPS: &str = "local told = {}
             for _, key in ipairs(redis.call('KEYS', '*')) do
                 if redis.call('TYPE', key).ok == 'stream' and redis.call('XLEN', key) > 0 then
                     for _, group in ipairs(redis.call('XINFO', 'GROUPS', key)) do
                         table.insert(told, key .. ' ' .. cjson.encode(group))
                     end
                 end
             end
             return table.concat(told, '\n')";
        if !self.is_postgres() {
            return String::new();
        }
        let (left, work) = (self.text_of(LEFT).await, self.text_of(WORK).await);
        let groups = self.services.as_ref().and_then(|services| services.redis.as_ref()).map(|redis| {
            let told =
                std::process::Command::new("redis-cli").args(["-u", redis, "EVAL", GROUPS, "0"]).output();
            told.map_or_else(
                |error| error.to_string(),
                |told| String::from_utf8_lossy(&told.stdout).into_owned(),
            )
        });
        format!("outbox:\n{left}\ndatabase:\n{work}\nstreams:\n{}", groups.unwrap_or_default())
    }

    /// The one text that a query gives.
    pub async fn text_of(&self, query: &'static str) -> String {
        let url = self.value("DATABASE_URL");
        if self.is_postgres() {
            let mut connection = sqlx::PgConnection::connect(url).await.unwrap();
            sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
        } else {
            let mut connection = sqlx::SqliteConnection::connect(url).await.unwrap();
            sqlx::query_scalar(query).fetch_one(&mut connection).await.unwrap()
        }
    }

    /// A text that no log may ever hold.
    pub fn plant(&self, secret: &str) {
        self.secrets.lock().unwrap().push(secret.to_owned());
    }

    /// A good token for the closed channels.
    pub fn token(&self, claims: Value) -> String {
        let token = token::sign(&self.seeded.secret, claims);
        self.plant(&token);
        token
    }

    /// A new visit on the open channel; the client and its identity.
    pub async fn visit(&self, server: &Server) -> (Client, Identity) {
        let auth = serde_json::json!({ "channelId": self.seeded.open });
        let (client, ok) = Client::enter(server.addr, auth).await;
        let text = |name: &str| ok[name].as_str().unwrap().to_owned();
        let identity =
            Identity { channel: self.seeded.open.clone(), user: text("userId"), key: text("sessionKey") };
        self.plant(&identity.key);
        (client, identity)
    }
}

/// Who a visitor of an open channel is.
#[derive(Debug, Clone)]
pub struct Identity {
    pub channel: String,
    pub user: String,
    pub key: String,
}

impl Identity {
    /// `auth` of a returning visitor.
    pub fn auth(&self) -> Value {
        serde_json::json!({ "channelId": self.channel, "userId": self.user, "sessionKey": self.key })
    }

    /// `auth` of a returning visitor who has everything up to `since`.
    pub fn since(&self, since: &str) -> Value {
        let mut auth = self.auth();
        auth["since"] = since.into();
        auth
    }

    /// His credentials for the history.
    pub fn headers(&self) -> [(&str, &str); 3] {
        [("x-channel-id", &self.channel), ("x-user-id", &self.user), ("x-session-key", &self.key)]
    }
}

/// Returns whether a text has a secret. A code of six digits has to stand alone: by chance it is in the microseconds of a
/// time, or in an id.
fn tells(text: &str, secret: &str) -> bool {
    if secret.len() > 8 {
        return text.contains(secret);
    }
    let is_beside = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    text.match_indices(secret).any(|(at, _)| {
        let (before, behind) = (text[..at].chars().next_back(), text[at + secret.len()..].chars().next());
        !is_beside(before) && !is_beside(behind)
    })
}

impl Drop for Setup {
    fn drop(&mut self) {
        if std::thread::panicking() {
            return;
        }
        let secrets = self.secrets.lock().unwrap();
        if self.store.is_some() {
            let log = log::text();
            for secret in secrets.iter() {
                let found = log.lines().find(|line| tells(line, secret));
                assert!(found.is_none(), "a secret is in the log: {found:?}");
            }
        }
        for entry in std::fs::read_dir(self.dir.path()).unwrap() {
            let path = entry.unwrap().path();
            if !path.extension().is_some_and(|kind| kind == "log" || kind == "out") {
                continue;
            }
            let log = std::fs::read_to_string(&path).unwrap();
            for secret in secrets.iter() {
                let found = log.lines().find(|line| tells(line, secret));
                assert!(found.is_none(), "a secret is in {}: {found:?}", path.display());
            }
        }
    }
}

impl Services {
    /// A database of Postgres and an empty one of Redis; `None`, with a line that says so, when there are none.
    pub async fn both(begins: Begins) -> Option<Self> {
        let Ok(redis) = std::env::var("FLOWSDK_TEST_REDIS") else {
            eprintln!("SKIPPED: FLOWSDK_TEST_POSTGRES and FLOWSDK_TEST_REDIS are not set");
            return None;
        };
        let index = FREE.lock().unwrap().pop().unwrap_or_else(|| 1 + TAKEN.fetch_add(1, Ordering::SeqCst));
        let address = redis.trim_start_matches("redis://").trim_end_matches('/');
        redis_commands(address, index, &[vec!["FLUSHDB".to_owned()]]).await;
        Self::create(Some(format!("redis://{address}/{index}")), Some(index), begins).await
    }

    /// A database of its own; `None`, with a line that says so, when there is no Postgres.
    async fn create(redis: Option<String>, index: Option<u32>, begins: Begins) -> Option<Self> {
        let Ok(admin) = std::env::var("FLOWSDK_TEST_POSTGRES") else {
            eprintln!("SKIPPED: FLOWSDK_TEST_POSTGRES is not set");
            return None;
        };
        let database = format!("it_{}", OpContext::system().ids().next_id());
        let of = match begins {
            Begins::Empty => "",
            Begins::Migrated => &format!("TEMPLATE {}", TEMPLATE.get_or_init(|| template(&admin)).await),
        };
        create_database(&admin, &database, of).await;
        Some(Self { admin, database, redis, index })
    }

    /// The address of the database of Postgres.
    pub fn url(&self) -> String {
        let (server, _) = self.admin.rsplit_once('/').unwrap();
        format!("{server}/{}", self.database)
    }

    /// The address of the database of Redis.
    pub fn redis(&self) -> Option<&str> {
        self.redis.as_deref()
    }

    /// Runs commands that answer `OK`, a number or an id on the database of Redis.
    pub async fn write_redis(&self, commands: &[Vec<String>]) {
        let (server, index) = self.redis.as_ref().unwrap().rsplit_once('/').unwrap();
        redis_commands(server.trim_start_matches("redis://"), index.parse().unwrap(), commands).await;
    }

    /// With a runtime of its own, because a destructor cannot wait.
    fn drop_database(&self) {
        let (admin, database) = (self.admin.clone(), self.database.clone());
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let mut connection = sqlx::PgConnection::connect(&admin).await?;
                sqlx::query(sqlx::AssertSqlSafe(format!("DROP DATABASE {database} WITH (FORCE)")))
                    .execute(&mut connection)
                    .await
            })
        });
        if !matches!(dropping.join(), Ok(Ok(_))) {
            eprintln!("database {} is left behind", self.database);
        }
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        self.drop_database();
        FREE.lock().unwrap().extend(self.index);
    }
}

async fn create_database(admin: &str, name: &str, of: &str) {
    let mut connection = sqlx::PgConnection::connect(admin).await.unwrap();
    let create = sqlx::query(sqlx::AssertSqlSafe(format!("CREATE DATABASE {name} {of}")));
    create.execute(&mut connection).await.unwrap();
}

async fn template(admin: &str) -> String {
    let name = format!("it_template_{}", OpContext::system().ids().next_id());
    create_database(admin, &name, "").await;
    let (server, _) = admin.rsplit_once('/').unwrap();
    connect(&format!("{server}/{name}")).await.close().await;
    name
}

async fn connect(url: &str) -> SqlStore {
    let url: DatabaseUrl = url.parse().unwrap();
    SqlStore::connect(&url, OutboxRoutes::relayed()).await.unwrap()
}

/// Runs commands on one database of a Redis server. Every one succeeds.
async fn redis_commands(address: &str, index: u32, commands: &[Vec<String>]) {
    let exchange = async {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let (first, last) = (vec!["SELECT".to_owned(), index.to_string()], vec!["QUIT".to_owned()]);
        let mut sent = String::new();
        for command in std::iter::once(&first).chain(commands).chain(std::iter::once(&last)) {
            sent.push_str(&format!("*{}\r\n", command.len()));
            sent.extend(command.iter().map(|word| format!("${}\r\n{word}\r\n", word.len())));
        }
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answers = String::new();
        stream.read_to_string(&mut answers).await.unwrap();
        assert!(answers.lines().all(|line| !line.starts_with('-')), "{answers}");
        assert!(answers.ends_with("+OK\r\n"), "{answers}");
    };
    tokio::time::timeout(Duration::from_secs(10), exchange).await.expect("Redis answers");
}
