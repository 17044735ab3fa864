//! The races of FlowSDK: the same work done by a peer and by the server of this workspace, in turns, on one
//! core, with every answer checked.
//!
//! `cargo xtask bench NAME` builds the server and calls this program.

mod agents;
mod api;
mod attacks;
mod budget;
mod desk;
mod engine;
mod flow;
mod growth;
mod hostile;
mod http;
mod intake;
mod load;
mod login;
mod machine;
mod outside;
mod peers;
mod process;
mod random;
mod report;
mod requests;
mod services;
mod soak;
mod sockets;
mod start;
mod streams;
mod trips;
mod turns;
mod vectors;
mod webchat;

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::{Args, Parser, Subcommand};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
#[command(name = "flowsdk-benches", about = "The races of FlowSDK")]
struct Cli {
    #[command(subcommand)]
    race: Race,
}

#[derive(Subcommand)]
enum Race {
    /// Stored round trips of the web chat, against Node and against the raw cost
    Webchat(webchat::Options),
    /// Stored round trips of the web chat on PostgreSQL and Redis, against Node on the same services
    Streams(streams::Options),
    /// Idle sockets of the web chat: memory, and the time until all are back with their keys
    Sockets(sockets::Options),
    /// Turns of a flow over the socket and over HTTP, against botbuilder
    Flow(flow::Options),
    /// From the start of the program to the first answer, memory and size
    Start(start::Options),
    /// Turns of the flow engine in memory
    Engine(engine::Options),
    /// The time of turns that use up their budget of work
    Budget(budget::Options),
    /// Authorised reads over the administrative API, against Fastify
    Api(api::Options),
    /// Signed deliveries of the phone provider, against Fastify
    Intake(intake::Options),
    /// Logins while others read, against Fastify and against bcrypt alone
    Login(api::Options),
    /// Whether the time of a refused login tells that an account exists
    LoginTiming(login::timing::Options),
    /// Visitors who write while everything is broken on purpose, and every invariant at the end
    Soak(soak::Options),
    /// Visitors talk while another tenant, or strangers, work against the server
    Hostile(hostile::Options),
    /// Lists, lookups and turns on a small store and on a large one
    Growth(growth::Options),
    /// Agents who pick tickets up, and handoffs until agents have them, against the statements alone
    Desk(desk::Options),
    /// Turns of AI agents of many sessions at once, against the time that their model takes
    Agents(agents::Options),
    /// Searches of documents by the index of pgvector, against comparing every vector
    Vectors(vectors::Options),
    /// The socket alone: part of the raw cost
    #[command(hide = true)]
    RawSocket(webchat::RawSocket),
    /// The statements alone: part of the raw cost
    #[command(hide = true)]
    RawStorage(webchat::RawStorage),
}

/// The options of every race.
#[derive(Args, Debug, Clone)]
pub(crate) struct Common {
    /// The server; otherwise the one beside this program
    #[arg(long, value_name = "PATH")]
    server: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the result into docs/performance.md
    #[arg(long)]
    write: bool,
}

impl Common {
    /// The server to race.
    pub(crate) fn server(&self) -> Result<PathBuf> {
        let beside = || Ok(env::current_exe()?.with_file_name("flowsdk-server"));
        let server = self.server.clone().map_or_else(beside, Ok::<_, anyhow::Error>)?;
        server.canonicalize().with_context(|| format!("there is no server at {}", server.display()))
    }
}

fn main() -> ExitCode {
    let done = match Cli::parse().race {
        Race::Webchat(options) => webchat::race(&options),
        Race::Streams(options) => streams::race(&options),
        Race::Sockets(options) => sockets::race(&options),
        Race::Flow(options) => flow::race(&options),
        Race::Start(options) => start::race(&options),
        Race::Engine(options) => engine::race(&options),
        Race::Budget(options) => budget::race(&options),
        Race::Api(options) => api::race(&options),
        Race::Intake(options) => intake::race(&options),
        Race::Login(options) => login::race(&options),
        Race::LoginTiming(options) => login::timing::check(&options),
        Race::Soak(options) => soak::soak(&options),
        Race::Hostile(options) => hostile::trial(&options),
        Race::Growth(options) => growth::race(&options),
        Race::Desk(options) => desk::race(&options),
        Race::Agents(options) => agents::race(&options),
        Race::Vectors(options) => vectors::race(&options),
        Race::RawSocket(raw) => raw.serve(),
        Race::RawStorage(raw) => raw.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("flowsdk-benches: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
