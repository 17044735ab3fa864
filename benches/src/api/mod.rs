//! The race of the administrative API: `GET /routers/{id}` by a member of a group, with the token checked, the
//! permissions read again and the scope applied at every request.

mod contender;
pub(crate) mod ours;
mod peer;
mod report;

use anyhow::{Context as _, Result};
use clap::Args;
use serde_json::json;

pub(crate) use contender::{Contender, Ground, Stand};

use crate::Common;
use crate::http::Request;
use crate::http::load::{self, Plan};
use crate::machine::{self, Cores};
use crate::report::Contender as _;
use crate::requests::Run;
use crate::services::Addresses;
use crate::turns::Extent;

/// Members of the group, each with a login of their own.
pub(crate) const USERS: usize = 16;
/// The password of everybody.
pub(crate) const PASSWORD: &str = "Senha-da-corrida-1";
/// The number of connections that read.
pub(crate) const CONNECTIONS: usize = 32;

/// The address of a member.
pub(crate) fn email(number: usize) -> String {
    format!("member{number}@race.example")
}

/// The login of a user who knows the password.
pub(crate) fn login(email: &str) -> Request {
    Request::new("POST", "/auth/login", None, Some(&json!({ "email": email, "password": PASSWORD })))
}

/// The options of the race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Options {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) services: Addresses,
    #[command(flatten)]
    pub(crate) extent: Extent<Contender>,
}

/// Runs the contenders round by round and reports.
pub(crate) fn race(options: &Options) -> Result<()> {
    let mut runs = Vec::new();
    in_turns(options, |stand, runtime, contender, round| {
        let outcome = runtime.block_on(load::run(Plan {
            address: stand.address,
            read: stand.read.clone(),
            connections: CONNECTIONS,
            pace: None,
            logins: Vec::new(),
            window: options.extent.window(),
            pid: stand.server.pid(),
        }))?;
        let run = Run::of(contender, round, &outcome.reads, stand.server.pid())?;
        eprintln!("{}", crate::report::line(&run));
        runs.push(run);
        Ok(())
    })?;
    report::finish(options, &runs)
}

/// Runs every contender once in every round, the order reversed in every other.
pub(crate) fn in_turns(
    options: &Options,
    mut turn: impl FnMut(&Stand, &tokio::runtime::Runtime, Contender, u32) -> Result<()>,
) -> Result<()> {
    let cores = Cores::choose()?;
    let server = options.common.server();
    machine::pin(cores.load)?;
    let ground = Ground {
        cores,
        server: server.as_ref().cloned().unwrap_or_default(),
        services: options.services.clone(),
    };
    let field = ground.field(&options.extent.wanted, &server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    field.in_turns(options.extent.rounds, |contender, round| {
        let stand = runtime.block_on(ground.start(contender)).with_context(|| contender.name())?;
        turn(&stand, &runtime, contender, round).with_context(|| contender.name())?;
        runtime.block_on(stand.finish())
    })
}
