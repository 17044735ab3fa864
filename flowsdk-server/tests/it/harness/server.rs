//! A server of a test: a process of its own, or the application in this process.

use std::net::SocketAddr;
use std::ops::Deref;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::time::Duration;

use flowsdk_server::testkit::TestApp;
use tokio::net::TcpListener;

use super::process::Process;

/// A running server. It derefs to its process, for tests about processes.
pub struct Server {
    /// Where it listens.
    pub addr: SocketAddr,
    host: Host,
}

enum Host {
    Process(Process),
    App(Arc<TestApp>),
}

impl Server {
    /// Starts `command` and waits until it is ready.
    pub async fn start(command: Command, dir: &Path, name: &str) -> Self {
        let server = Self::spawn(command, dir, name).await;
        server.ready().await;
        server
    }

    /// Starts `command` and waits until it listens.
    pub async fn spawn(command: Command, dir: &Path, name: &str) -> Self {
        let process = Process::spawn(command, dir, name).await;
        Self { addr: process.addr, host: Host::Process(process) }
    }

    /// Lets the application listen too, for clients with sockets.
    pub async fn in_process(app: TestApp) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let addr = listener.local_addr().unwrap();
        app.listen(listener);
        Self { addr, host: Host::App(Arc::new(app)) }
    }

    /// The application, if it is in this process.
    pub fn app(&self) -> Option<&Arc<TestApp>> {
        match &self.host {
            Host::Process(_) => None,
            Host::App(app) => Some(app),
        }
    }

    /// Lets time pass for the application in this process; for a process it passes by itself.
    pub async fn advance(&self, step: Duration) {
        if let Some(app) = self.app() {
            app.advance(step).await;
        }
    }

    fn into_process(self) -> Process {
        match self.host {
            Host::Process(process) => process,
            Host::App(_) => panic!("a test about processes"),
        }
    }

    /// Ends it as a power cut would.
    pub fn kill(self) {
        self.into_process().kill();
    }

    /// Asks it to end; how it ended and how long it took.
    pub async fn stop(self) -> (ExitStatus, Duration) {
        self.into_process().stop().await
    }
}

impl Deref for Server {
    type Target = Process;

    fn deref(&self) -> &Process {
        match &self.host {
            Host::Process(process) => process,
            Host::App(_) => panic!("a test about processes"),
        }
    }
}
