//! Inflicts faults on a set-up.

use std::time::{Duration, Instant};

use anyhow::Result;
use rustix::process::Signal;

use super::fault::{Fault, Faults, Kind};
use super::record::Window;
use super::stage::Stage;
use super::watch::{Watch, now};

/// How long after its end a fault may still show in the log.
const AFTERMATH: Duration = Duration::from_secs(10);
/// The share of the time, and the longest time, in which no fault begins any more.
const QUIET_SHARE: u32 = 5;
const QUIET: Duration = Duration::from_secs(20);

impl Stage {
    /// Inflicts faults until `time` is over.
    pub(super) async fn suffer(&mut self, faults: Faults, time: Duration, watch: &Watch) -> Result<()> {
        let end = Instant::now() + time;
        let last = end - QUIET.min(time / QUIET_SHARE);
        for fault in faults {
            if Instant::now() + fault.after > last {
                break;
            }
            tokio::time::sleep(fault.after).await;
            self.mend().await?;
            let server = fault.server % self.servers.len();
            let begin = now();
            let what = match fault.kind {
                Kind::Redis | Kind::Postgres => fault.to_string(),
                _ => format!("{}: {fault}", self.servers[server].name()),
            };
            println!("{}: {what}", self.name);
            if let Err(error) = self.inflict(&fault, server).await {
                self.processes.ends.push(format!("{what}: {error:#}"));
            }
            let aftermath = i64::try_from(AFTERMATH.as_millis())?;
            self.processes.windows.push(Window { fault: what, begin, end: now() + aftermath });
            watch.count_fault();
        }
        tokio::time::sleep_until(end.into()).await;
        self.mend().await
    }

    /// Starts servers again that ended although nobody told them to, and notes that.
    async fn mend(&mut self) -> Result<()> {
        for server in &mut self.servers {
            if let Some(status) = server.ended_by_itself()? {
                self.processes.ends.push(format!("{} ended by itself: {status}", server.name()));
            }
            if !server.is_running() {
                server.start(0)?;
                server.ready().await?;
            }
        }
        Ok(())
    }

    /// Inflicts a fault and waits until everything runs again.
    async fn inflict(&mut self, fault: &Fault, server: usize) -> Result<()> {
        match (fault.kind, &mut self.services) {
            (Kind::Redis, Some(services)) => {
                services.redis.crash().await?;
                tokio::time::sleep(fault.length).await;
                services.redis.start().await?;
            }
            (Kind::Postgres, Some(services)) => {
                services.postgres.crash().await?;
                tokio::time::sleep(fault.length).await;
                services.postgres.start().await?;
            }
            (Kind::Redis | Kind::Postgres, None) => {}
            (Kind::Kill | Kind::Clock, _) => {
                self.servers[server].kill();
                tokio::time::sleep(fault.length).await;
                self.servers[server].start(fault.ahead)?;
            }
            (Kind::Restart, _) => {
                let complaint = self.servers[server].stop().await?;
                self.processes.ends.extend(complaint);
                tokio::time::sleep(fault.length).await;
                self.servers[server].start(0)?;
            }
            (Kind::Sleep, _) => {
                self.servers[server].signal(Signal::STOP)?;
                tokio::time::sleep(fault.length).await;
                self.servers[server].signal(Signal::CONT)?;
            }
        }
        for server in &mut self.servers {
            server.ready().await?;
        }
        Ok(())
    }
}
