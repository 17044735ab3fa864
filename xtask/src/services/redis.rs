//! A Redis of its own that keeps nothing.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use rustix::process::Signal;

use super::{Plan, Service, free_port, new_directory};
use crate::packages::Program;

const PATIENCE: Duration = Duration::from_secs(1);
const PONG: &[u8] = b"+PONG\r\n";

pub(super) fn start(server: &Program) -> Result<Service> {
    let directory = new_directory("redis")?;
    let port = free_port()?;
    let mut command = Command::new(&server.path);
    command
        .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
        .arg("--dir")
        .arg(directory.path());
    Plan { name: "Redis", port, stop: &[Signal::TERM], quick_stop: "TERM", directory }
        .start(&mut command, |_, port| is_ready(port))
}

fn is_ready(port: u16) -> bool {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let ping = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"PING\r\n")?;
        let mut answer = [0; PONG.len()];
        stream.read_exact(&mut answer)?;
        Ok(answer == PONG)
    };
    ping().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use std::thread;

    fn is_ready_with(answer: &'static [u8]) -> bool {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("a client");
            let mut request = [0; 6];
            stream.read_exact(&mut request).expect("a request");
            stream.write_all(answer).expect("an answer");
            request
        });
        let ready = is_ready(port);
        assert_eq!(&server.join().expect("a server"), b"PING\r\n");
        ready
    }

    #[test]
    fn only_a_pong_means_ready() {
        assert!(is_ready_with(PONG));
        assert!(!is_ready_with(b"-LOADING Redis is loading\r\n"));
        assert!(!is_ready_with(b"+P"));
    }

    #[test]
    fn a_closed_port_is_not_ready() {
        assert!(!is_ready(free_port().expect("a port")));
    }
}
