//! `flowsdk-server`: `demo` for a working chat in one command, `serve` for production.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, Parser, Subcommand};
use clap_complete::Shell;
use flowsdk_auth::bootstrap::Bootstrapped;
use flowsdk_channels::phone::graph::API_VERSION;
use flowsdk_core::fault::BoxError;
use flowsdk_core::text::Language;
use flowsdk_server::agent_command::{self, AgentCommand};
use flowsdk_server::app::{self, Adapters, App, DatabaseTaken};
use flowsdk_server::backup_command::Source;
use flowsdk_server::config::{Config, Environment, NO_LISTEN_ADDRESS, RotationConfig};
use flowsdk_server::demo::{self, DataFolder, DeskSeed, Facts, pages, seed};
use flowsdk_server::desk_command;
use flowsdk_server::doctor_command::{self, Doctor};
use flowsdk_server::flow_command::{self, FlowCommand};
use flowsdk_server::pdf_reader::READER_COMMAND;
use flowsdk_server::printed::Printed;
use flowsdk_server::remote::SessionFile;
use flowsdk_server::remote::login::Login;
use flowsdk_server::script_worker::{WORKER_COMMAND, script_workers};
use flowsdk_server::simulator::{self, Simulator};
use flowsdk_server::user_command::{self, Account, Deed};
use flowsdk_server::{backup_command, check_command, logging, remote, restore_command, rotate_command};
use flowsdk_store::sql::SqlKeyValue;
use secrecy::ExposeSecret as _;
use serde_json::json;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The reference server of FlowSDK.
#[derive(Debug, Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Starts a working chat on this machine: makes a data folder with secrets of its own, an administrator, a flow,
    /// AI agents on a scripted model, a test channel, and a queue with two agents. A second start on the same folder goes on where it was.
    Demo {
        /// The data folder.
        #[arg(long, default_value = "data")]
        data: PathBuf,
        /// Where to listen; port 0 means any free one.
        #[arg(long, default_value = "127.0.0.1:8080", value_parser = listen_address)]
        listen: SocketAddr,
        /// Print one line of JSON once ready, for scripts.
        #[arg(long)]
        json: bool,
        /// The language of the flow and of messages for callers who name none: `pt` or `en`. By default that of the
        /// environment (`DEFAULT_LANGUAGE`, `LC_ALL`, `LC_MESSAGES`, `LANG`), otherwise English.
        #[arg(long, value_parser = ["pt", "en"])]
        lang: Option<String>,
    },
    /// Starts the server with the configuration of the environment: `DATABASE_URL`, `REDIS_URL`,
    /// `LISTEN_ADDR`, `CRYPTO_SECRET`, `JWT_ACCESS_SECRET`, `JWT_REFRESH_SECRET` and others. All are listed in
    /// docs/configuration.md; `check-config` says what is wrong with them.
    Serve,
    /// A desk in the terminal: shows the tickets of an agent and what their contacts write, and takes commands, one a
    /// line; `help` lists them. The password is that of the data folder of `demo`, of `FLOWSDK_PASSWORD`, asked for, or
    /// with `--password-stdin` the first line of standard input.
    Desk(desk_command::Options),
    /// Starts a provider of the phone channel on this machine, to try numbers without an account: docs/phone.md.
    Simulator(Simulator),
    /// Prints the OpenAPI document of the administrative API, as it is in docs/openapi.json.
    Openapi,
    /// Prints the AsyncAPI document of the web chat and desk sockets, as it is in docs/asyncapi.json.
    Asyncapi,
    /// Logs you in at a server, for `flow push`, `pull` and `watch`. The password is that of `FLOWSDK_PASSWORD`, or asked
    /// for, or the first line of standard input. The login is kept in `flowsdk/session.json` in `XDG_CONFIG_HOME`, or in
    /// `~/.config`.
    Login(Login),
    /// Ends every login of yours at that server.
    Logout,
    /// Checks, draws and tests flow definitions, and takes them to a server and back.
    Flow {
        #[command(subcommand)]
        command: FlowCommand,
    },
    /// Talks to the AI agents of a file, or holds them against what is expected of them. Nothing is stored.
    Agent {
        #[command(subcommand)]
        command: AgentCommand,
    },
    /// Encrypts every stored secret again that is under `CRYPTO_SECRET_PREVIOUS`, with `CRYPTO_SECRET`. Takes
    /// `DATABASE_URL` and `REDIS_URL` as `serve` does; without `REDIS_URL` no server may run meanwhile.
    RotateSecrets,
    /// Makes the settings of the environment those that processes on its database must have in common: takes what `serve`
    /// takes, and prints the names of those that changed.
    AdoptSettings,
    /// Copies a SQLite database into a new folder, with the secrets of a data folder. The server may run meanwhile. The
    /// copy of a data folder is one too: start the server on it, or see `restore`.
    Backup {
        /// The folder to make.
        to: PathBuf,
        /// The data folder of `demo`; without it, the database of `DATABASE_URL` is copied.
        #[arg(long)]
        data: Option<PathBuf>,
    },
    /// Makes a data folder of a copy that `backup` made of one. The copy is checked, and stays.
    Restore {
        /// The folder that `backup` made.
        copy: PathBuf,
        /// The data folder to make.
        #[arg(long)]
        data: PathBuf,
        /// Move a folder that is there to one with `.replaced` behind its name, unless a server works in it.
        #[arg(long)]
        replace: bool,
    },
    /// Creates an administrator, with a password that is made and shown once. A server that has the database for itself
    /// must not run meanwhile.
    CreateAdmin(Account),
    /// Gives a user another password, which is made and shown once, and ends their sessions. A server that has the
    /// database for itself must not run meanwhile.
    ResetPassword(Account),
    /// Lists what stands in the way of `serve`: every problem of the configuration, and whether database and Redis can be
    /// reached. It changes nothing, and fails if there is anything.
    CheckConfig,
    /// Looks at a set-up step by step, and names what fails.
    Doctor {
        #[command(subcommand)]
        what: Doctor,
    },
    /// Prints the completion of these commands for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Runs scripts of flows for a server; started by it.
    #[command(hide = true, name = WORKER_COMMAND)]
    ScriptWorker,
    /// Reads a PDF for a server; started by it.
    #[command(hide = true, name = READER_COMMAND)]
    ReadPdf,
}

fn main() -> ExitCode {
    keep_pages_small();
    let command = Cli::parse().command;
    match &command {
        Command::ScriptWorker => return done(flowsdk_outside::script::serve().map_err(Into::into)),
        Command::ReadPdf => return flowsdk_outside::pdf::serve(),
        Command::Backup { to, data } => return done(back_up(to, data.clone())),
        Command::Completions { shell } => return done(complete(*shell)),
        Command::Demo { .. }
        | Command::Serve
        | Command::Desk(_)
        | Command::Simulator(_)
        | Command::Openapi
        | Command::Asyncapi
        | Command::Login(_)
        | Command::Restore { .. }
        | Command::CreateAdmin(_)
        | Command::ResetPassword(_)
        | Command::CheckConfig
        | Command::Doctor { .. }
        | Command::Logout
        | Command::Flow { .. }
        | Command::Agent { .. }
        | Command::RotateSecrets
        | Command::AdoptSettings => {}
    }
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let done = runtime.block_on(async {
        match command {
            Command::Demo { data, listen, json, lang } => demo(&data, listen, json, lang).await,
            Command::Serve => serve().await,
            Command::Desk(options) => desk(&options).await,
            Command::Simulator(options) => simulator(options).await,
            Command::RotateSecrets => rotate_secrets().await,
            Command::AdoptSettings => adopt_settings().await,
            Command::Openapi => print_line(&flowsdk_server::api::document_text()?),
            Command::Asyncapi => print_line(&flowsdk_server::api::asyncapi::document_text()?),
            Command::Login(login) => {
                print_line(&remote::login::login(&login, SessionFile::of_user()?).await?)
            }
            Command::Logout => print_line(&remote::login::logout(SessionFile::of_user()?).await?),
            Command::Flow { command } => return flow(&command).await,
            Command::Agent { command } => return agent(&command).await,
            Command::Restore { copy, data, replace } => restore(&copy, &data, replace).await,
            Command::CreateAdmin(account) => print_line(&user_command::run(Deed::Create, &account).await?),
            Command::ResetPassword(account) => print_line(&user_command::run(Deed::Reset, &account).await?),
            Command::CheckConfig => {
                let checked = check_command::run(|name| std::env::var(name).ok()).await;
                return printed(&checked);
            }
            Command::Doctor { what: Doctor::Phone(options) } => {
                let config = Config::read(Environment::process())?;
                return printed(&doctor_command::phone(&options, &config).await?);
            }
            Command::Backup { .. }
            | Command::Completions { .. }
            | Command::ScriptWorker
            | Command::ReadPdf => Ok(()),
        }
        .map(|()| ExitCode::SUCCESS)
    });
    done.unwrap_or_else(|error| fail(&error))
}

/// Asks for pages of 4 KiB. The allocator asks for 2 MiB, all of which is resident as soon as one byte is used: some
/// 15 MiB more, for which no race became faster.
fn keep_pages_small() {
    #[cfg(target_os = "linux")]
    // Where it is forbidden, the process is larger and nothing else.
    let _forbidden = rustix::thread::disable_transparent_huge_pages(true);
}

fn back_up(to: &Path, data: Option<PathBuf>) -> Result<(), BoxError> {
    let source = match data {
        Some(folder) => Source::Folder(folder),
        None => Source::Database(std::env::var("DATABASE_URL").map_err(|_| "give --data or DATABASE_URL")?),
    };
    backup_command::run(&source, to)?;
    print_line(&format!("{} holds a whole copy", to.display()))
}

async fn rotate_secrets() -> Result<(), BoxError> {
    let printed = rotate_command::run(&RotationConfig::read(Environment::process())?).await?;
    print_line(printed.text.trim_end())?;
    if printed.ok { Ok(()) } else { Err("some secrets were left as they are".into()) }
}

async fn adopt_settings() -> Result<(), BoxError> {
    let changed = app::adopt(&Config::read(Environment::process())?).await?;
    if changed.is_empty() {
        return print_line("no setting has changed");
    }
    print_line(&format!("changed: {}", changed.join(", ")))
}

fn done(result: Result<(), BoxError>) -> ExitCode {
    result.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS)
}

async fn flow(command: &FlowCommand) -> Result<ExitCode, BoxError> {
    printed(&flow_command::run(command, Arc::new(script_workers()?), print_line).await?)
}

/// Runs a command over AI agents. It ends with 2 when nothing could be played, so that a file that cannot be used is told apart from an
/// agent that does not do what is expected.
async fn agent(command: &AgentCommand) -> Result<ExitCode, BoxError> {
    match agent_command::run(command, print_line).await {
        Ok(done) => printed(&done),
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        Err(error) => {
            let _failed = fail(&error);
            Ok(ExitCode::from(2))
        }
    }
}

fn printed(printed: &Printed) -> Result<ExitCode, BoxError> {
    // Whoever reads only the beginning, such as `head`, has it.
    match print_line(printed.text.trim_end()) {
        Err(error) if is_broken_pipe(&error) => {}
        printed => printed?,
    }
    Ok(if printed.ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn is_broken_pipe(error: &BoxError) -> bool {
    let error = error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

async fn restore(copy: &Path, data: &Path, replace: bool) -> Result<(), BoxError> {
    restore_command::run(copy, data, replace).await?;
    print_line(&format!("{} holds the data of {}", data.display(), copy.display()))
}

fn complete(shell: Shell) -> Result<(), BoxError> {
    let whole = Cli::command();
    // The generator lists hidden commands too.
    let shown = whole.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let mut commands =
        clap::Command::new(env!("CARGO_PKG_NAME")).version(env!("CARGO_PKG_VERSION")).subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut commands, env!("CARGO_PKG_NAME"), &mut script);
    print_line(String::from_utf8(script)?.trim_end())
}

#[allow(clippy::print_stderr, reason = "the last word of a command")]
fn fail(error: &BoxError) -> ExitCode {
    eprintln!("flowsdk-server: {}", flowsdk_core::fault::Chain(&**error));
    ExitCode::FAILURE
}

async fn serve() -> Result<(), BoxError> {
    let mut config = Config::read(Environment::process())?;
    let logging = logging::init(config.json_logs);
    config.warn();
    let admin_email = config.administration.as_ref().map(|section| section.admin.email.to_string());
    let listener = App::bind(config.listen).await?;
    config.listen = listener.local_addr()?;
    let app = App::build(config, Adapters { metrics: logging::metrics(), ..Adapters::system() }).await?;
    if let (Some(Bootstrapped::CreatedWith(password)), Some(email)) = (app.bootstrapped(), admin_email) {
        // Shown once and never logged: standard output is the operator's, the log is not.
        print_line(&format!("administrator {email}, password (shown once): {}", password.expose_secret()))?;
    }
    log_start(&app, listener.local_addr()?);
    stop_on_signal(&app)?;
    let served = app.serve(listener).await;
    logging.finish().await;
    served
}

async fn demo(data: &Path, listen: SocketAddr, as_json: bool, lang: Option<String>) -> Result<(), BoxError> {
    let adapters = Adapters { metrics: logging::metrics(), ..Adapters::system() };
    let cx = adapters.context();
    let folder = DataFolder::open(data, cx.ids())?;
    let mut config = Config::read(Environment::new(|name| match name {
        "LISTEN_ADDR" => Some(listen.to_string()),
        "REDIS_URL" | "ROLES" => None,
        "DEFAULT_LANGUAGE" => lang.clone().or_else(language_of_environment),
        _ => folder.value(name).or_else(|| std::env::var(name).ok()),
    }))?;
    let logging = logging::init(config.json_logs);
    let admin_email = config.administration.as_ref().map(|section| section.admin.email.to_string());
    let listener = App::bind(config.listen).await?;
    let address = listener.local_addr()?;
    config.listen = address;
    if std::env::var_os("PHONE_API_URL").is_none() {
        config.phone.api_url = demo::api_url(address).parse()?;
    }
    let adapters = Adapters { models: Some(demo::models(&config)?), ..adapters };
    let app =
        App::build(config, adapters).await.map_err(|error| match error.downcast::<DatabaseTaken>() {
            Ok(_) => format!(
                "another process works on the folder {}: stop it, or name another folder with --data",
                data.display()
            )
            .into(),
            Err(error) => error,
        })?;
    let kv = SqlKeyValue::new(app.store().clone(), cx.clock());
    let demo = seed(app.store(), &kv, &cx, app.config().default_language).await?;
    let desk = DeskSeed { store: app.store(), kv: &kv, cx: &cx, language: app.config().default_language };
    let has_desk = desk.plant(&folder, &demo, address).await?;
    let password = match app.bootstrapped() {
        Some(Bootstrapped::CreatedWith(password)) => Some(password.clone()),
        Some(Bootstrapped::Created | Bootstrapped::Existed) | None => None,
    };
    log_start(&app, address);
    let (provider, shown) = demo::phone(app.store(), &cx, &app.config().master_key, &demo, address).await?;
    let facts =
        Facts { address, demo: demo.clone(), admin_email: admin_email.clone(), password: password.clone() };
    let app = app.with_front(pages(facts).merge(simulator::routes_below(&provider, shown)));
    let password = password.map(|password| password.expose_secret().to_owned());
    let url = format!("http://{address}");
    let chat_url = format!("{url}/chat/{}", demo.channel_id);
    let widget_url = format!("{url}/demo");
    let phone_url = format!("{url}/simulator");
    if as_json {
        let mut line = json!({ "url": url, "chatUrl": chat_url, "widgetUrl": widget_url, "phoneUrl": phone_url, "channelId": demo.channel_id,
            "routerId": demo.router_id, "adminEmail": admin_email });
        if let Some(password) = password {
            line["adminPassword"] = password.into();
        }
        print_line(&line.to_string())?;
    } else {
        let mut lines = vec![format!("Chat:          {chat_url}")];
        lines.push(format!("Widget:        {widget_url}"));
        lines.push(format!("Phone:         {phone_url}"));
        if has_desk {
            lines.push(format!("Desk:          {}", desk_command::command_line(data)));
        }
        lines.push(format!("API:           {url}/docs"));
        lines.extend(admin_email.map(|email| format!("Administrator: {email}")));
        lines.extend(password.map(|password| format!("Password:      {password} (kept nowhere: note it)")));
        lines.push(format!("Data:          {} (Ctrl-C stops, the same command continues)", data.display()));
        print_line(&format!("\n{}\n", lines.join("\n")))?;
    }
    stop_on_signal(&app)?;
    let served = app.serve(listener).await;
    logging.finish().await;
    served
}

async fn desk(options: &desk_command::Options) -> Result<(), BoxError> {
    match desk_command::run(options, print_line).await {
        // Whoever reads the lines needs no more of them.
        Err(error) if is_broken_pipe(&error) => Ok(()),
        done => done,
    }
}

async fn simulator(options: Simulator) -> Result<(), BoxError> {
    simulator::run(options, |address| {
        print_line(&format!(
            "A phone provider listens. Start the server with PHONE_API_URL=http://{address}/{API_VERSION}"
        ))
    })
    .await
}

fn listen_address(text: &str) -> Result<SocketAddr, &'static str> {
    text.parse().map_err(|_| NO_LISTEN_ADDRESS)
}

/// Returns the language of this environment; one that the demonstration does not speak is English.
fn language_of_environment() -> Option<String> {
    let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    set("DEFAULT_LANGUAGE").or_else(|| {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set).unwrap_or_default();
        let is_portuguese = Language::of_tag(&locale) == Some(Language::Portuguese);
        Some(if is_portuguese { "pt" } else { "en" }.to_owned())
    })
}

fn log_start(app: &App, address: SocketAddr) {
    let (version, config) = (env!("CARGO_PKG_VERSION"), app.config());
    let (roles, database) = (config.roles.to_string(), config.database.engine());
    let redis = config.redis.is_some();
    tracing::info!(version, roles, database, redis, %address, "listening");
}

fn print_line(line: &str) -> Result<(), BoxError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}

/// Stops the server on SIGTERM and SIGINT; a second signal ends the process at once.
fn stop_on_signal(app: &App) -> Result<(), BoxError> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut term, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let intake = app.supervisor().intake.clone();
    // It outlives the supervisor's tasks on purpose: a shutdown that hangs can still be cut short.
    #[allow(clippy::disallowed_methods, reason = "ends with the process")]
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = term.recv() => {}
                _ = interrupt.recv() => {}
            }
            if intake.is_cancelled() {
                std::process::exit(130);
            }
            intake.cancel();
        }
    });
    Ok(())
}
