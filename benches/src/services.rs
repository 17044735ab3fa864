//! PostgreSQL and Redis that run already: `cargo xtask bench` starts them on the core of the load.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use flowsdk_core::context::OpContext;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

/// The database of Redis that a race empties and uses.
const REDIS_INDEX: u32 = 9;

/// Where they are.
#[derive(Args, Debug, Clone)]
pub(crate) struct Addresses {
    /// A PostgreSQL in which databases may be made
    #[arg(long, env = "FLOWSDK_TEST_POSTGRES", hide_env_values = true, value_name = "URL")]
    postgres: Option<String>,
    /// A Redis whose database 9 may be emptied
    #[arg(long, env = "FLOWSDK_TEST_REDIS", hide_env_values = true, value_name = "URL")]
    redis: Option<String>,
}

impl Addresses {
    /// A PostgreSQL alone.
    pub(crate) fn of_postgres(url: &str) -> Self {
        Self { postgres: Some(url.to_owned()), redis: None }
    }

    pub(crate) fn has_postgres(&self) -> bool {
        self.postgres.is_some()
    }

    pub(crate) fn has_both(&self) -> bool {
        self.postgres.is_some() && self.redis.is_some()
    }

    /// An empty database of its own.
    pub(crate) async fn database(&self) -> Result<Database> {
        let admin = self.postgres.clone().context("no PostgreSQL")?;
        let name = format!("race_{}", OpContext::system().ids().next_id());
        execute(&admin, &format!("CREATE DATABASE {name}")).await?;
        let (server, _) = admin.rsplit_once('/').context("an address without a database")?;
        Ok(Database { url: format!("{server}/{name}"), admin, name })
    }

    /// The address of an empty Redis database.
    pub(crate) fn emptied_redis(&self) -> Result<String> {
        let url = self.redis.as_deref().context("no Redis")?;
        let address = url.trim_start_matches("redis://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).with_context(|| format!("Redis at {address}"))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "SELECT {REDIS_INDEX}\r\nFLUSHDB\r\n")?;
        let mut answer = [0; 10];
        stream.read_exact(&mut answer)?;
        ensure!(&answer == b"+OK\r\n+OK\r\n", "Redis said {}", String::from_utf8_lossy(&answer));
        Ok(format!("redis://{address}/{REDIS_INDEX}"))
    }
}

/// A database that was made for a race.
#[derive(Debug)]
pub(crate) struct Database {
    pub(crate) url: String,
    admin: String,
    name: String,
}

impl Database {
    /// Takes it away, whoever is connected.
    pub(crate) async fn remove(self) -> Result<()> {
        execute(&self.admin, &format!("DROP DATABASE {} WITH (FORCE)", self.name)).await
    }
}

/// Executes statements without values.
pub(crate) async fn execute(url: &str, statements: &str) -> Result<()> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await?;
    connection.close().await?;
    Ok(())
}
