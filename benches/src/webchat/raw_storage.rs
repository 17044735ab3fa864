//! The storage's part of the raw cost: the writes of a turn, grouped into commits, straight on SQLite.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;
use flowsdk_core::context::OpContext;
use rusqlite::{Connection, params};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::seed;
use crate::machine::{self, Cores};

/// Turns that share a commit.
const GROUP: usize = 64;
/// Sessions that take turns.
const SESSIONS: usize = 1_000;
/// How often the write-ahead log is moved into the file, from another connection.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(1);

/// The statements alone.
#[derive(Args, Debug)]
pub(crate) struct RawStorage {
    #[arg(long)]
    file: PathBuf,
    #[arg(long)]
    seconds: f64,
}

/// The cost of the statements.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Measured {
    /// The number of turns a second.
    pub(crate) rate: f64,
    /// Processor time of a turn.
    pub(crate) cpu_micros: f64,
}

/// Runs [`RawStorage`] on the server's core.
pub(super) fn measure(folder: &Path, cores: Cores, time: Duration) -> Result<Measured> {
    let log = folder.join("raw.log");
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("raw-storage").arg("--file").arg(folder.join("raw.db"));
    command.arg("--seconds").arg(time.as_secs_f64().to_string());
    machine::pin(cores.server)?;
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(&log)?).spawn();
    machine::pin(cores.load)?;
    let output = child?.wait_with_output()?;
    if !output.status.success() {
        bail!("{}", std::fs::read_to_string(&log)?);
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

impl RawStorage {
    /// Measures, and prints [`Measured`] as JSON.
    pub(crate) fn run(&self) -> Result<()> {
        // The schema of the server, with its foreign keys.
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(seed::seed(&seed::sqlite(&self.file), seed::Opening::Token))?;
        let mut database = open(&self.file)?;
        let sessions = prepare(&mut database)?;
        let checkpoints = open(&self.file)?;
        thread::spawn(move || {
            loop {
                thread::sleep(CHECKPOINT_EVERY);
                if checkpoints.execute_batch("PRAGMA wal_checkpoint(PASSIVE)").is_err() {
                    return;
                }
            }
        });
        let (began, cpu) = (Instant::now(), machine::cpu_time(std::process::id())?);
        let mut turns = 0;
        for group in sessions.chunks(GROUP).cycle() {
            take_turns(&mut database, group)?;
            turns += group.len();
            if began.elapsed().as_secs_f64() >= self.seconds {
                break;
            }
        }
        let (time, cpu) = (began.elapsed(), machine::cpu_time(std::process::id())? - cpu);
        let measured = Measured {
            rate: turns as f64 / time.as_secs_f64(),
            cpu_micros: cpu.as_secs_f64() * 1e6 / turns as f64,
        };
        println!("{}", serde_json::to_string(&measured)?);
        Ok(())
    }
}

fn open(file: &Path) -> Result<Connection> {
    let database = Connection::open(file)?;
    database.busy_timeout(Duration::from_secs(10))?;
    database.set_prepared_statement_cache_capacity(32);
    database.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;
         PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -65536; PRAGMA temp_store = memory;",
    )?;
    Ok(database)
}

/// A session and its chat.
struct Seat {
    session: String,
    chat: String,
    contact: String,
    router: String,
}

fn prepare(database: &mut Connection) -> Result<Vec<Seat>> {
    let cx = OpContext::system();
    let tx = database.transaction()?;
    let router: String = tx.query_row("SELECT id FROM router", [], |row| row.get(0))?;
    let mut seats = Vec::with_capacity(SESSIONS);
    for number in 0..SESSIONS {
        let seat = Seat {
            session: format!("wc-channel-visitor{number}"),
            chat: cx.ids().next_id(),
            contact: cx.ids().next_id(),
            router: router.clone(),
        };
        tx.execute(
            "INSERT INTO contact (id, phone_number, name, created_at) VALUES (?1, ?2, 'Flow Chat', 0)",
            params![seat.contact, seat.session],
        )?;
        tx.execute(
            "INSERT INTO chat (id, contact_id, router_id, status, created_at) VALUES (?1, ?2, ?3, 'open', 0)",
            params![seat.chat, seat.contact, seat.router],
        )?;
        seats.push(seat);
    }
    tx.commit()?;
    Ok(seats)
}

const FIND: &str = "SELECT version, state FROM session WHERE id = ?1";
const INSERT: &str = "INSERT INTO message (id, chat_id, session_id, direction, kind, content, sender_kind, status,
     channel_message_id, created_at, status_updated_at, seq, previous)
     SELECT ?1, ?2, ?3, ?4, 'text', ?5, ?6, ?7, ?8, ?9, ?9, last_seq + 1, last_message FROM chat WHERE id = ?2";
const SAVE: &str =
    "INSERT INTO session (id, version, epoch, router_id, contact_id, chat_id, mode, state, started_at,
     last_interaction_at) VALUES (?1, ?2, 0, ?3, ?4, ?5, 'flow', ?6, ?7, ?7)
     ON CONFLICT (id) DO UPDATE SET version = excluded.version, state = excluded.state,
     last_interaction_at = excluded.last_interaction_at";
const DELIVERED: &str = "UPDATE message SET status = 'delivered', status_updated_at = ?2 WHERE id = ?1";

/// One turn of each seat in one commit; the statuses of their answers in another.
fn take_turns(database: &mut Connection, seats: &[Seat]) -> Result<()> {
    let cx = OpContext::system();
    let now = cx.now().as_millis();
    let stops: Vec<_> = (0..20).map(|_| json!({ "f": "cflow000000000000000000001", "b": "b1" })).collect();
    let state = json!({
        "position": { "flowId": "cflow000000000000000000001", "versionId": "cversion000000000000000001",
                      "blockId": "b1", "waiting": { "retries": 0, "deadline": now } },
        "variables": { "answer": "hello from the load generator 00000 00000000" },
        "history": stops, "expiryTimeout": 1_800_000,
    })
    .to_string();
    let inbound = r#"{"type":"text","text":{"body":"hello from the load generator 00000 00000000"}}"#;
    let outbound = r#"{"type":"text","text":{"body":"Olá Flow Chat, você disse: hello from the load generator 00000 00000000"}}"#;
    let mut answers = Vec::with_capacity(seats.len());
    let tx = database.transaction()?;
    {
        let mut find = tx.prepare_cached(FIND)?;
        let mut insert = tx.prepare_cached(INSERT)?;
        let mut save = tx.prepare_cached(SAVE)?;
        for seat in seats {
            let mut found = find.query([&seat.session])?;
            let version: i64 = found.next()?.map_or(Ok(0), |row| row.get(0))?;
            let key = format!("wc-{now}-{}", &cx.ids().secret(1)[..16]);
            let none = None::<&str>;
            let id = cx.ids().next_id();
            insert.execute(params![id, seat.chat, seat.session, "in", inbound, none, none, key, now])?;
            save.execute(params![
                seat.session,
                version + 1,
                seat.router,
                seat.contact,
                seat.chat,
                state,
                now
            ])?;
            let id = cx.ids().next_id();
            insert.execute(params![
                id,
                seat.chat,
                seat.session,
                "out",
                outbound,
                "flow",
                "pending",
                none,
                now
            ])?;
            answers.push(id);
        }
    }
    tx.commit()?;
    let tx = database.transaction()?;
    {
        let mut delivered = tx.prepare_cached(DELIVERED)?;
        for id in &answers {
            delivered.execute(params![id, now])?;
        }
    }
    tx.commit()?;
    Ok(())
}
