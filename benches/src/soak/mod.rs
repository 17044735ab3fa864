//! The soak: visitors write for a long time while everything is broken on purpose, and another tenant and strangers
//! attack; then every invariant is checked.
//!
//! `cargo xtask soak --minutes N` builds the server and calls this program.

mod check;
mod connection;
mod fault;
mod history;
mod inflict;
mod log;
mod outside;
mod packet;
mod read;
mod record;
mod redis;
mod report;
mod script;
mod seed;
mod server;
mod services;
mod stage;
mod visitor;
mod watch;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, ValueEnum};

use crate::random::Random;
use services::Programs;
use stage::Plan;

/// The set-ups of servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Setup {
    /// One process on SQLite
    Embedded,
    /// Two processes on PostgreSQL and Redis
    Production,
}

/// The options of the soak.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    /// How long visitors write, in all
    #[arg(long, value_name = "N")]
    minutes: f64,
    /// Repeats the faults and the choices of visitors of another run
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Only this set-up; without it one after the other, half of the time each
    #[arg(long)]
    setup: Option<Setup>,
    /// Visitors at once
    #[arg(long, default_value_t = 40, value_name = "N")]
    visitors: usize,
    /// The server; otherwise the one beside this program
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// PostgreSQL's server program, beside which `initdb` stands
    #[arg(long, value_name = "PATH")]
    postgres: Option<PathBuf>,
    /// The program redis-server
    #[arg(long, value_name = "PATH")]
    redis: Option<PathBuf>,
    /// libfaketime, for steps of the clock; otherwise where its package puts it
    #[arg(long, value_name = "PATH")]
    faketime: Option<PathBuf>,
    /// Without faults, so that processes live long enough to show leaks
    #[arg(long)]
    calm: bool,
    /// Without attacks
    #[arg(long)]
    peaceful: bool,
    /// Print JSON at the end
    #[arg(long)]
    json: bool,
    /// Keep the folder with all records also when every invariant holds
    #[arg(long)]
    keep: bool,
}

impl Options {
    fn server(&self) -> Result<PathBuf> {
        let beside = || Ok(std::env::current_exe()?.with_file_name("flowsdk-server"));
        let server = self.server.clone().map_or_else(beside, Ok::<_, anyhow::Error>)?;
        server.canonicalize().with_context(|| format!("there is no server at {}", server.display()))
    }

    fn programs(&self) -> Result<Programs> {
        let missing = "needs --postgres and --redis, which `cargo xtask soak` finds";
        Ok(Programs {
            postgres: self.postgres.clone().with_context(|| format!("production {missing}"))?,
            redis: self.redis.clone().with_context(|| format!("production {missing}"))?,
        })
    }
}

/// Runs the soak. An invariant that does not hold is an error.
pub(crate) fn soak(options: &Options) -> Result<()> {
    ensure!(options.minutes > 0.0 && options.minutes.is_finite(), "--minutes must be more than 0");
    ensure!(options.visitors > 0, "--visitors must be more than 0");
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(run(options))
}

async fn run(options: &Options) -> Result<()> {
    let program = options.server()?;
    let setups = options.setup.map_or_else(|| vec![Setup::Embedded, Setup::Production], |setup| vec![setup]);
    let drawn = || u64::try_from(watch::now()).unwrap_or_default() % 1_000_000;
    let seed = options.seed.unwrap_or_else(drawn);
    let time = Duration::from_secs_f64(options.minutes * 60.0) / u32::try_from(setups.len())?;
    let faketime = options.faketime.clone().or_else(stage::find_faketime);
    // PostgreSQL, as another user, passes through it.
    let folder = tempfile::Builder::new()
        .prefix("flowsdk-soak-")
        .permissions(Permissions::from_mode(0o711))
        .tempdir()?;
    println!(
        "soak: seed {seed}, {} visitors, {:.0} s for each of {setups:?}, one after the other",
        options.visitors,
        time.as_secs_f64()
    );
    if faketime.is_none() {
        println!("soak: no clock is stepped: there is no libfaketime (Debian package libfaketime)");
    }
    let mut results = Vec::new();
    let mut violations = 0;
    for setup in setups {
        let name = match setup {
            Setup::Embedded => "embedded",
            Setup::Production => "production",
        };
        let plan = Plan {
            name,
            program: program.clone(),
            folder: folder.path().join(name),
            services: (setup == Setup::Production).then(|| options.programs()).transpose()?,
            faketime: faketime.clone(),
            is_calm: options.calm,
            is_peaceful: options.peaceful,
            visitors: options.visitors,
            time,
            random: Random::new(seed),
        };
        let at = plan.folder.clone();
        let outcome = match stage::perform(plan).await {
            Ok(outcome) => outcome,
            Err(error) => {
                println!("soak: everything is in {}", folder.keep().display());
                return Err(error.context(name));
            }
        };
        let verdicts = check::all(&outcome.visitors, &outcome.database, &outcome.processes);
        report::print(name, &outcome, &verdicts);
        report::write(&at, &outcome, &verdicts)?;
        results.push(report::json(name, &outcome, &verdicts));
        violations += report::violations(&verdicts);
    }
    if options.json {
        println!("{}", serde_json::json!({ "seed": seed, "violations": violations, "setups": results }));
    }
    if violations > 0 || options.keep {
        println!("\nsoak: everything is in {}", folder.keep().display());
    }
    if violations > 0 {
        bail!("{violations} violations with seed {seed}");
    }
    Ok(())
}
