//! The server tried where nothing else is: in an empty root folder, or in an empty folder where there is no such thing.

mod root;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use self::root::Root;
use super::output_of;

/// How long the demo may take to start.
const START_LIMIT: Duration = Duration::from_secs(60);
/// How long one answer may take.
const ANSWER_LIMIT: Duration = Duration::from_secs(10);

/// Checks that the server tells its version, runs the script of a flow, and serves a chat. Returns its version.
pub(super) fn run(program: &Path) -> Result<String> {
    let root = Root::with(program)?;
    eprintln!("xtask: trying the server in {root}");
    let told = output_of(&mut root.server(&["--version"]))?;
    let version = told.trim().strip_prefix("flowsdk-server ").context("the server tells no version")?;
    output_of(&mut root.server(&["flow", "new", "flow.json"]))?;
    // The sample has a script, which runs in a process of its own.
    output_of(&mut root.server(&["flow", "test", "flow.test.json"]))?;
    demo(&root)?;
    Ok(version.to_owned())
}

/// Starts the demo and asks it for its health and for the page of its chat.
fn demo(root: &Root) -> Result<()> {
    let mut command = root.server(&["demo", "--listen", "127.0.0.1:0", "--json"]);
    let mut server = Running(command.stdout(Stdio::piped()).spawn().context("cannot start the demo")?);
    let line = first_line(&mut server.0)?;
    let (address, path) = chat(&line).with_context(|| format!("the demo tells no chat: {line}"))?;
    for path in ["/readyz", path] {
        let answer = get(address, path)?;
        let status = answer.lines().next().unwrap_or_default();
        ensure!(status.contains(" 200 "), "{path} answers {status}");
    }
    Ok(())
}

/// A process that ends with the trial.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn first_line(server: &mut Child) -> Result<String> {
    let output = server.stdout.take().context("the output is piped")?;
    let (tell, told) = mpsc::channel();
    thread::spawn(move || {
        let mut lines = BufReader::new(output).lines();
        let _ = tell.send(lines.next());
        // The server goes on writing; nobody needs it.
        lines.for_each(drop);
    });
    match told.recv_timeout(START_LIMIT) {
        Ok(Some(line)) => Ok(line?),
        Ok(None) => bail!("the demo ended at its start"),
        Err(_) => bail!("the demo did not start within {} s", START_LIMIT.as_secs()),
    }
}

/// Returns the address and the path of the chat in the first line of the demo.
fn chat(line: &str) -> Option<(SocketAddr, &str)> {
    let (_, value) = line.split_once("\"chatUrl\":\"http://")?;
    let (url, _) = value.split_once('"')?;
    let (address, _) = url.split_once('/')?;
    Some((address.parse().ok()?, &url[address.len()..]))
}

fn get(address: SocketAddr, path: &str) -> Result<String> {
    let mut connection = TcpStream::connect_timeout(&address, ANSWER_LIMIT)?;
    connection.set_read_timeout(Some(ANSWER_LIMIT))?;
    write!(connection, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
    let mut answer = Vec::new();
    connection.read_to_end(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chat_is_found_in_the_first_line() {
        let line = r#"{"adminEmail":"a@b","chatUrl":"http://127.0.0.1:4711/chat/abc","channelId":"abc"}"#;
        assert_eq!(chat(line), Some((([127, 0, 0, 1], 4711).into(), "/chat/abc")));
        assert_eq!(chat("{}"), None);
        assert_eq!(chat(r#"{"chatUrl":"http://nowhere"}"#), None);
    }
}
