//! A Redis that a test stops and starts.

use std::process::Command;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use super::eventually;

/// A Redis of one test, with its data in a folder of its own; killed when dropped.
pub struct PrivateRedis {
    dir: tempfile::TempDir,
    port: u16,
    child: Option<std::process::Child>,
}

impl PrivateRedis {
    const PROGRAM: &str = "redis-server";

    /// Returns none where there is no Redis.
    pub async fn start() -> Option<Self> {
        if Command::new(Self::PROGRAM).arg("--version").output().is_err() {
            eprintln!("SKIPPED: there is no redis-server");
            return None;
        }
        let port = {
            let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
            free.local_addr().unwrap().port()
        };
        let mut redis = Self { dir: tempfile::tempdir().unwrap(), port, child: None };
        redis.run().await;
        Some(redis)
    }

    /// Runs it with the data that it had.
    pub async fn run(&mut self) {
        let child = Command::new(Self::PROGRAM)
            .args(["--port", &self.port.to_string(), "--bind", "127.0.0.1", "--appendonly", "yes"])
            .args(["--appendfsync", "always", "--save", ""])
            .current_dir(self.dir.path())
            .stdout(std::process::Stdio::null())
            .spawn();
        self.child = Some(child.unwrap());
        let at = ("127.0.0.1", self.port);
        eventually("Redis listens", || async { tokio::net::TcpStream::connect(at).await.ok() }).await;
    }

    /// Kills it.
    pub fn stop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Returns its address.
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Changes a setting while it runs.
    pub async fn set(&self, name: &str, value: &str) {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        stream.write_all(format!("CONFIG SET {name} {value}\r\n").as_bytes()).await.unwrap();
        let mut answer = [0; 5];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"+OK\r\n");
    }
}

impl Drop for PrivateRedis {
    fn drop(&mut self) {
        self.stop();
    }
}
