//! The desk at work: what happens, one after the other.

use std::ops::ControlFlow;
use std::time::Duration;

use flowsdk_core::fault::BoxError;
use flowsdk_helpdesk::agent::PresenceStatus;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval, sleep_until};

use super::doing::Doing;
use super::line::Line;
use super::link::Link;
use super::names::Names;
use super::news;
use super::requests::me;
use crate::remote::Client;
use crate::socket::client::Packet;

/// The time between two renewals of the presence.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Prints a line.
pub(super) type Print<'a> = &'a mut dyn FnMut(Line) -> Result<(), BoxError>;

/// A desk and who sits at it.
pub(super) struct Agent<'a> {
    pub(super) client: Client,
    /// The id of the user.
    pub(super) user: String,
    lines: mpsc::Receiver<String>,
    pub(super) print: Print<'a>,
    pub(super) names: Names,
    pub(super) link: Option<Link>,
    /// The number of the last news that were shown.
    pub(super) since: Option<i64>,
    /// Attempts to connect since the last news.
    pub(super) attempts: u32,
    pub(super) next_attempt: Instant,
    /// Whether it was told that the server is away.
    pub(super) is_away: bool,
    /// Whether the token is newer than the last connection.
    pub(super) is_renewed: bool,
    beat: Interval,
    /// What the agent says of themselves.
    pub(super) status: PresenceStatus,
    /// The number of the answer to the last heartbeat.
    pub(super) beaten: Option<u64>,
    /// The command on its way. The next line is read when it is answered.
    pub(super) doing: Option<Doing>,
}

/// What a desk waits for.
enum Happened {
    Heard(Option<Packet>),
    Told(Option<String>),
    Attempt,
    Beat,
}

impl<'a> Agent<'a> {
    /// Creates a desk that is not connected yet.
    ///
    /// # Errors
    /// The user may not work at the helpdesk, or the server cannot be reached.
    pub(super) async fn new(
        mut client: Client,
        lines: mpsc::Receiver<String>,
        print: Print<'a>,
    ) -> Result<Self, BoxError> {
        let user = me(&mut client).await?;
        let mut beat = interval(HEARTBEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            client,
            user,
            lines,
            print,
            names: Names::default(),
            link: None,
            since: None,
            attempts: 0,
            next_attempt: Instant::now(),
            is_away: false,
            is_renewed: false,
            beat,
            status: PresenceStatus::Online,
            beaten: None,
            doing: None,
        })
    }

    /// Works until there is nothing more to do.
    ///
    /// # Errors
    /// The login has ended, rights were taken away, or nothing can be printed.
    pub(super) async fn work(&mut self) -> Result<(), BoxError> {
        self.connect().await?;
        loop {
            match self.wait().await {
                Happened::Heard(Some(packet)) => self.hear(packet).await?,
                Happened::Heard(None) => self.lose()?,
                Happened::Attempt => self.connect().await?,
                Happened::Beat => self.renew_presence().await?,
                Happened::Told(None) => return Ok(()),
                Happened::Told(Some(line)) => {
                    if let ControlFlow::Break(()) = self.obey(&line).await? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Waits for the next thing to happen. News come first, so that a command meets what is known. No command is read
    /// before the first of them, and none while there is another.
    async fn wait(&mut self) -> Happened {
        let Self { link, lines, doing, beat, next_attempt, since, .. } = self;
        let is_connected = link.is_some();
        let is_free = since.is_some() && doing.is_none();
        let heard = async {
            match link {
                Some(link) => link.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            packet = heard => Happened::Heard(packet),
            () = sleep_until(*next_attempt), if !is_connected => Happened::Attempt,
            _ = beat.tick(), if is_connected => Happened::Beat,
            line = lines.recv(), if is_free => Happened::Told(line),
        }
    }

    async fn hear(&mut self, packet: Packet) -> Result<(), BoxError> {
        match packet {
            Packet::Ping => {
                let told = match &mut self.link {
                    Some(link) => link.pong().await,
                    None => None,
                };
                if told.is_none() { self.lose() } else { Ok(()) }
            }
            Packet::Event { name, payload, .. } => self.show(&name, &payload).await,
            Packet::Ack { id, payload } if self.beaten == Some(id) => self.hear_presence(&payload).await,
            Packet::Ack { id, payload } => self.finish(id, &payload),
            Packet::Left => self.lose(),
            Packet::Connected | Packet::Refused(_) => Ok(()),
        }
    }

    async fn show(&mut self, event: &str, payload: &Value) -> Result<(), BoxError> {
        (self.print)(news::shown(event, payload, &mut self.names))?;
        self.attempts = 0;
        // What somebody else has said is not to be unsaid by the next heartbeat.
        if event == "agent:status"
            && let Ok(status) = serde_json::from_value(payload["status"].clone())
        {
            self.status = status;
        }
        if let Some(seq) = payload["seq"].as_i64() {
            self.since = Some(seq);
        }
        if event == "helpdesk:sync-required" { self.list("list").await } else { Ok(()) }
    }

    /// Sends a command. Returns the number of its answer, unless there is no connection.
    pub(super) async fn emit(&mut self, event: &str, payload: &Value) -> Result<Option<u64>, BoxError> {
        let Some(link) = &mut self.link else { return Ok(None) };
        let id = link.emit(event, payload).await;
        if id.is_none() {
            self.lose()?;
        }
        Ok(id)
    }
}
