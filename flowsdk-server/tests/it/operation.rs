//! The commands: `demo`, `serve`, their start, their end and what they write.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::harness::process::{command, run};
use crate::harness::{Api, Client, PrivateRedis, Server, Setup, eventually, everywhere, http};

everywhere!(stops_when_told, warns_once_that_recovery_codes_go_to_the_log, settings_in_common);

fn demo_command(data: &Path) -> Command {
    let mut command = command();
    command.arg("demo").arg("--data").arg(data).args(["--listen", "127.0.0.1:0", "--json", "--lang", "pt"]);
    command
}

fn first_line(server: &Server) -> Value {
    serde_json::from_str(server.output().lines().next().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("data");
    let server = Server::start(demo_command(&data), dir.path(), "first").await;
    let first = first_line(&server);
    let password = first["adminPassword"].as_str().expect("shown once").to_owned();
    assert!(first["chatUrl"].as_str().unwrap().ends_with(first["channelId"].as_str().unwrap()));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&data), mode(&data.join("secrets.json"))), (0o700, 0o600));

    let start = http::get(server.addr, "/", &[]).await;
    assert!(start.body.contains(&password) && start.body.contains("admin@flowsdk.local"), "{}", start.body);
    let shop = http::get(server.addr, "/demo", &[]).await;
    assert_eq!(first["widgetUrl"], format!("http://{}/demo", server.addr));
    assert!(shop.body.contains(&format!("/widget.js?channel={}", first["channelId"].as_str().unwrap())));

    let auth = json!({ "channelId": first["channelId"] });
    let (mut client, ok) = Client::enter(server.addr, auth).await;
    let hello = client.next_messages(1).await.remove(0);
    let key = ok["sessionKey"].as_str().unwrap().to_owned();

    // The folder is taken.
    let (status, out, err) = run(demo_command(&data)).await;
    assert!(!status.success() && out.is_empty(), "{status} {out}");
    assert!(err.contains("another process works on the folder ") && err.contains("--data"), "{err}");
    let (status, _, err) = run({
        let mut command = command();
        command.args(["demo", "--listen", "8097"]);
        command
    })
    .await;
    assert!(!status.success() && err.contains("an IP address and a port, such as 127.0.0.1:8080"), "{err}");

    let first_log = server.log();
    let (status, time) = server.stop().await;
    assert!(status.success() && time < Duration::from_secs(10), "{status} {time:?}");

    let server = Server::start(demo_command(&data), dir.path(), "second").await;
    let second = first_line(&server);
    assert!(second.get("adminPassword").is_none(), "shown again");
    for name in ["channelId", "routerId", "adminEmail"] {
        assert_eq!(first[name], second[name]);
    }
    let auth = json!({ "channelId": first["channelId"], "userId": ok["userId"], "sessionKey": key, "since": hello["id"] });
    let (mut client, _) = Client::enter(server.addr, auth).await;
    client.say("Ana").await;
    assert_eq!(client.texts(1).await, ["Prazer, Ana!"], "at the same block");

    let secrets: Value = serde_json::from_slice(&std::fs::read(data.join("secrets.json")).unwrap()).unwrap();
    let logs = first_log + &server.log();
    let mut planted: Vec<&str> = secrets.as_object().unwrap().values().filter_map(Value::as_str).collect();
    planted.extend([password.as_str(), key.as_str()]);
    for secret in planted {
        assert!(!logs.contains(secret), "a secret is in the log");
    }
    assert!(server.stop().await.0.success());
}

/// Minimal containers have no certificates of authorities: those of Mozilla stand in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_demo_needs_no_certificates_of_the_system() {
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("certificates");
    std::fs::create_dir(&empty).unwrap();
    let mut command = demo_command(&dir.path().join("data"));
    command.env("SSL_CERT_FILE", empty.join("none.pem")).env("SSL_CERT_DIR", &empty);
    let server = Server::start(command, dir.path(), "bare").await;
    let auth = json!({ "channelId": first_line(&server)["channelId"] });
    let (mut client, _) = Client::enter(server.addr, auth).await;
    client.next_messages(1).await;
    assert!(server.stop().await.0.success());
}

/// A killed demo leaves no lock behind, and one that is stopped twice ends at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_demo_starts_again() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(demo_command(dir.path()), dir.path(), "first").await;
    let first = first_line(&server);
    server.kill();
    let server = Server::start(demo_command(dir.path()), dir.path(), "second").await;
    assert_eq!(first_line(&server)["channelId"], first["channelId"]);
    assert!(server.stop().await.0.success());
}

/// Large pages would make it half as large again.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_has_small_pages() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(demo_command(dir.path()), dir.path(), "small").await;
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
    let large = status.lines().find_map(|line| line.strip_prefix("THP_enabled:"));
    assert!(large.is_none_or(|large| large.trim() == "0"), "{status}");
}

/// SIGTERM with visitors on the line: they are told, the log has no error, the exit code is 0.
async fn stops_when_told(setup: Setup) {
    let server = setup.start().await;
    let mut visitors = Vec::new();
    for n in 0..20 {
        let auth = json!({ "channelId": setup.seeded.closed, "token": setup.token(json!({ "sub": format!("v{n}") })) });
        let (mut client, _) = Client::enter(server.addr, auth).await;
        client.say("oi").await;
        client.texts(1).await;
        visitors.push(client);
    }
    // And a client that hangs in the middle of its request.
    let _half = tokio::net::TcpStream::connect(server.addr).await.unwrap();
    let log = setup.dir.path().join("server-0.log");
    let (status, time) = server.stop().await;
    assert!(status.success() && time < Duration::from_secs(8), "{status} {time:?}");
    for client in visitors {
        client.closed().await;
    }
    let log = std::fs::read_to_string(log).unwrap();
    let bad = log.lines().find(|line| line.contains("\"ERROR\"") || line.contains("panicked"));
    assert_eq!(bad, None);
    // The next start finds everything, and nothing to complain about.
    let server = setup.start().await;
    assert!(server.stop().await.0.success());
}

/// A server that meets a damaged page says so once, is not ready, and takes no messages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_database() {
    let setup = Setup::embedded().await;
    let server = setup.start().await;
    let (mut client, _) = setup.visit(&server).await;
    client.say("oi").await;
    client.texts(1).await;
    drop(client);
    assert!(server.stop().await.0.success());
    let root = setup.text_of("SELECT CAST(rootpage AS TEXT) FROM sqlite_master WHERE name = 'message'").await;
    let file = setup.dir.path().join("flowsdk.db");
    let mut pages = std::fs::read(&file).unwrap();
    let from = (root.parse::<usize>().unwrap() - 1) * 4096;
    pages[from..from + 4096].fill(0xff);
    std::fs::write(&file, pages).unwrap();

    let server = setup.start().await;
    let log = setup.dir.path().join("server-1.log");
    let (client, _) = setup.visit(&server).await;
    for n in 0..6 {
        let ack = client.emit("message", &json!({ "text": format!("{n}") })).await;
        assert_eq!((&ack["ok"], &ack["code"]), (&json!(false), &json!("unavailable")), "{ack}");
    }
    let ready = http::get(server.addr, "/readyz", &[]).await;
    assert_eq!(ready.status, 503);
    assert!(ready.body.contains("the database is damaged"), "{}", ready.body);
    assert_eq!(http::get(server.addr, "/healthz", &[]).await.status, 200);
    assert!(server.stop().await.0.success());
    let log = std::fs::read_to_string(log).unwrap();
    let bad: Vec<_> = log.lines().filter(|line| line.contains("ERROR") || line.contains("WARN")).collect();
    // Whoever sends a message that is refused is told, and so is the log.
    let bad: Vec<_> = bad.into_iter().filter(|line| !line.contains("a message was not taken")).collect();
    let told = bad.iter().filter(|line| line.contains("malformed") || line.contains("damaged")).count();
    assert_eq!(told, 1, "{bad:#?}");
    assert!(bad.len() < 10, "{bad:#?}");
}

/// The first start of a server on a database prints how to log in, and logs what it is. A taken address says what to do.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_start() {
    let dir = tempfile::tempdir().unwrap();
    let serve = |listen: &str| {
        let mut serve = command();
        serve.arg("serve").envs([
            ("DATABASE_URL", format!("sqlite:{}", dir.path().join("first.db").display()).as_str()),
            ("CRYPTO_SECRET", "0123456789abcdef0123456789abcdef"),
            ("JWT_ACCESS_SECRET", "access-secret-of-a-test"),
            ("JWT_REFRESH_SECRET", "refresh-secret-of-a-test"),
            ("ADMIN_EMAIL", "ana@loja.example"),
            ("LISTEN_ADDR", listen),
            ("LOG_FORMAT", "json"),
        ]);
        serve
    };
    let server = Server::start(serve("127.0.0.1:0"), dir.path(), "serve").await;
    let printed = server.output();
    assert!(printed.starts_with("administrator ana@loja.example, password (shown once): "), "{printed}");
    let log = server.log();
    let line = log.lines().find(|line| line.contains("listening")).unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    let fields = &line["fields"];
    assert_eq!((&fields["database"], &fields["redis"]), (&json!("SQLite"), &json!(false)), "{line}");
    assert_eq!(fields["roles"], "agent,api,helpdesk,orchestrator,engine,phone,webchat,webhooks");
    assert_eq!(fields["version"], env!("CARGO_PKG_VERSION"));
    let (status, _, err) = run(serve(&server.addr.to_string())).await;
    assert!(
        !status.success()
            && err.contains("is in use, perhaps by another server of this kind; choose another port"),
        "{err}"
    );
    assert!(server.stop().await.0.success());
}

/// Every problem of a configuration at once, and no value of a secret.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bad_configuration() {
    let mut bare = command();
    bare.arg("serve");
    let (status, out, err) = run(bare).await;
    assert!(!status.success() && out.is_empty());
    for name in ["DATABASE_URL", "CRYPTO_SECRET", "JWT_ACCESS_SECRET", "JWT_REFRESH_SECRET"] {
        assert!(err.contains(&format!("{name} is missing")), "{name}: {err}");
    }
    let wrong = [
        ("DATABASE_URL", "mysql://user:planted-database@localhost/x"),
        ("CRYPTO_SECRET", "planted-crypto"),
        ("CRYPTO_SECRET_PREVIOUS", "planted-previous"),
        ("JWT_ACCESS_SECRET", "planted-jwt"),
        ("JWT_REFRESH_SECRET", "planted-jwt"),
        ("JWT_ACCESS_EXPIRES_IN", "soon"),
        ("ADMIN_EMAIL", "nobody"),
        ("LISTEN_ADDR", "everywhere"),
        ("ROLES", "cook"),
        ("STREAM_PARTITIONS", "0"),
        ("LEASE_TTL", "never"),
        ("WEBCHAT_MESSAGES_PER_SECOND", "many"),
    ];
    let mut bad = command();
    bad.arg("serve").envs(wrong);
    bad.env("ADMIN_PASSWORD", "planted-password".repeat(10));
    let (status, out, err) = run(bad).await;
    assert!(!status.success() && out.is_empty());
    for (name, _) in wrong {
        assert!(err.contains(name), "{name}: {err}");
    }
    assert!(err.contains("ADMIN_PASSWORD") && !err.contains("planted"), "{err}");
}

/// A process with a setting that differs from that of the others does not start, and names it without its value.
async fn settings_in_common(setup: Setup) {
    let server = setup.start().await;
    if !setup.is_distributed() {
        assert!(server.stop().await.0.success());
        refused(&setup, &[("CRYPTO_SECRET", "planted-secret-of-32-characters!")]).await;
        // A process alone has nobody whose tokens it would not know.
        let setup = setup.with("JWT_ACCESS_SECRET", "another-secret-of-tokens");
        assert!(setup.start().await.stop().await.0.success());
        return adopts(setup, "CRYPTO_SECRET", "planted-secret-of-32-characters!").await;
    }
    let several = [
        ("STREAM_PARTITIONS", "7"),
        ("CRYPTO_SECRET", "planted-secret-of-32-characters!"),
        ("JWT_ACCESS_SECRET", "planted-access-secret"),
        ("JWT_REFRESH_SECRET", "planted-refresh-secret"),
    ];
    for setting in several {
        refused(&setup, &[setting]).await;
    }
    refused(&setup, &several).await;
    // One with the same starts, and one that has no such secrets.
    let gateway = setup.start_as(&[("ROLES", "webchat"), ("JWT_ACCESS_SECRET", "")]).await;
    assert!(gateway.stop().await.0.success());
    // So does one that has both secrets, in the middle of a rotation; from then on the new one counts.
    let new = "planted-secret-of-32-characters!";
    let rotating = [("CRYPTO_SECRET", new), ("CRYPTO_SECRET_PREVIOUS", setup.value("CRYPTO_SECRET"))];
    assert!(setup.start_as(&rotating).await.stop().await.0.success());
    refused(&setup, &[]).await;
    let setup = setup.with("CRYPTO_SECRET", new);
    // The number of partitions changes only while nobody runs.
    let mut early = setup.command_of("adopt-settings");
    early.env("STREAM_PARTITIONS", "7");
    let (status, _, err) = run(early).await;
    assert!(!status.success() && err.contains("no process works"), "{err}");
    assert!(server.stop().await.0.success());
    adopts(setup, "STREAM_PARTITIONS", "7").await;
}

async fn refused(setup: &Setup, changes: &[(&str, &str)]) {
    let mut command = setup.command();
    command.envs(changes.iter().copied());
    let (status, out, err) = run(command).await;
    assert!(!status.success() && out.is_empty(), "{out}{err}");
    let err = err.lines().find(|line| line.starts_with("flowsdk-server:")).expect("a reason");
    for (name, value) in changes {
        assert!(err.contains(name) && !err.contains(value), "{name}: {err}");
    }
    let named = ["STREAM_PARTITIONS", "CRYPTO_SECRET", "JWT_ACCESS_SECRET", "JWT_REFRESH_SECRET"];
    let named = named.iter().filter(|name| err.contains(*name)).count();
    assert_eq!(named, changes.len().max(1), "{err}");
}

/// After the command the new setting is the one to have.
async fn adopts(setup: Setup, name: &str, value: &str) {
    let setup = setup.with(name, value);
    refused(&setup, &[]).await;
    let (status, out, err) = run(setup.command_of("adopt-settings")).await;
    assert!(status.success() && out.contains(name) && !out.contains(value), "{out}{err}");
    assert!(setup.start().await.stop().await.0.success());
}

/// What cannot be reached or bound is said once, without secrets, and ends the process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_there() {
    let setup = Setup::embedded().await;
    let taken = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nobody = {
        let free = TcpListener::bind("127.0.0.1:0").await.unwrap();
        free.local_addr().unwrap()
    };
    let postgres = ("DATABASE_URL", format!("postgres://user:planted-secret@{nobody}/flowsdk"));
    let redis = ("REDIS_URL", format!("redis://user:planted-secret@{nobody}"));
    let cases = [
        (vec![("LISTEN_ADDR", taken.local_addr().unwrap().to_string())], String::new()),
        (
            vec![("DATABASE_URL", "sqlite:/no/such/folder/flowsdk.db".to_owned())],
            "/no/such/folder".to_owned(),
        ),
        (vec![redis.clone()], "DATABASE_URL".to_owned()),
        (vec![postgres.clone()], format!("PostgreSQL at {nobody}")),
        (vec![redis, postgres], format!("Redis at {nobody}")),
    ];
    for (settings, named) in cases {
        let mut bad = setup.command();
        bad.envs(settings.clone());
        let (status, _, err) = run(bad).await;
        assert!(!status.success(), "{settings:?}");
        assert!(err.contains("flowsdk-server:") && !err.contains("planted-secret"), "{err}");
        assert!(!err.contains("panicked") && err.contains(&named), "{named}: {err}");
    }
    // A second server on the same SQLite file.
    let server = setup.start().await;
    let (status, _, err) = run(setup.command()).await;
    assert!(!status.success() && err.contains("another process"), "{err}");
    drop(server);
}

/// Redis goes away and comes back: the server says so, and the chat goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn redis_comes_back() {
    let Some(mut redis) = PrivateRedis::start().await else { return };
    let Some(setup) = Setup::distributed_on(redis.url()).await else { return };
    let server = setup.start().await;
    let (mut client, ana) = setup.visit(&server).await;
    client.say("antes").await;
    assert_eq!(client.texts(1).await, ["eco antes"]);
    redis.stop();
    let body = red(&server).await;
    assert_eq!(body["ready"], false);
    assert_ne!(body["checks"]["redis"], "ok", "{body}");
    assert_eq!(body["checks"]["database"], "ok", "{body}");
    // Not taken, and said so: the client sends it again.
    let payload = json!({ "text": "durante", "clientMessageId": "d" });
    let ack = client.emit("message", &payload).await;
    assert_eq!((&ack["ok"], &ack["code"]), (&json!(false), &json!("unavailable")));

    redis.run().await;
    server.ready().await;
    let mut client = if client.is_closed() { Client::enter(server.addr, ana.auth()).await.0 } else { client };
    eventually("the message is taken", || async {
        (client.emit("message", &payload).await["ok"] == true).then_some(())
    })
    .await;
    assert_eq!(client.texts(1).await, ["eco durante"]);
    client.nothing_else().await;
    assert!(server.stop().await.0.success());
}

/// A Redis whose memory is full answers, but takes no message.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_redis_that_refuses_writes_is_not_ready() {
    let Some(redis) = PrivateRedis::start().await else { return };
    let Some(setup) = Setup::distributed_on(redis.url()).await else { return };
    let server = setup.start().await;
    let (mut client, _) = setup.visit(&server).await;
    client.say("antes").await;
    assert_eq!(client.texts(1).await, ["eco antes"]);
    redis.set("maxmemory", "1").await;
    let body = red(&server).await;
    assert_eq!(body["checks"]["redis"], "refuses writes (OOM)", "{body}");
    let payload = json!({ "text": "durante", "clientMessageId": "d" });
    assert_eq!(client.emit("message", &payload).await["code"], "unavailable");
    redis.set("maxmemory", "0").await;
    server.ready().await;
    eventually("the message is taken", || async {
        (client.emit("message", &payload).await["ok"] == true).then_some(())
    })
    .await;
    assert_eq!(client.texts(1).await, ["eco durante"]);
}

/// The body of a readiness that is red.
async fn red(server: &Server) -> Value {
    eventually("the server says that it is not ready", || async {
        let answer = http::try_get(server.addr, "/readyz", &[]).await?;
        (answer.status == 503).then(|| answer.json())
    })
    .await
}

/// Lets the channel of a demo wait for the first message of its visitors, as every channel does that is not told otherwise.
async fn await_first_messages(server: &Server, line: &Value) {
    let api = Api::anonymous(server);
    let login = json!({ "email": line["adminEmail"], "password": line["adminPassword"] });
    let session = api.post("/auth/login", &login).await.ok(200);
    let api = api.with(session["accessToken"].as_str().unwrap());
    let channel = format!("/webchat/channels/{}", line["channelId"].as_str().unwrap());
    api.patch(&channel, &json!({ "startOn": "message" })).await.ok(200);
}

/// The stock clients against a demo: Node, and a browser.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stock_clients() {
    let node = std::env::var("FLOWSDK_TEST_NODE").as_deref() == Ok("1");
    let browser = std::env::var_os("FLOWSDK_TEST_CHROMIUM");
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    if !node || !web.join("node_modules").exists() {
        eprintln!("SKIPPED: the stock clients need Node and the packages of web/; set FLOWSDK_TEST_NODE=1");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(demo_command(&dir.path().join("data")), dir.path(), "demo").await;
    let line = first_line(&server);
    let (first, mut scripts) = (browser.is_some().then_some("start-over.mjs"), vec!["client.mjs"]);
    if browser.is_some() {
        scripts.extend(["browser.mjs", "widget.mjs", "looks.mjs"]);
    } else {
        eprintln!("SKIPPED: no browser; set FLOWSDK_TEST_CHROMIUM");
    }
    for script in first.into_iter().chain(scripts) {
        if first != Some(script) {
            await_first_messages(&server, &line).await;
        }
        runs(&web, script, &line, browser.as_deref()).await;
    }
    assert!(server.stop().await.0.success());
}

/// Runs a script of the pages against a demo.
async fn runs(web: &Path, script: &str, line: &Value, browser: Option<&OsStr>) {
    let mut node = Command::new("node");
    node.arg(web.join("e2e").join(script)).current_dir(web);
    for (name, told) in [
        ("SERVER_URL", "url"),
        ("CHANNEL_ID", "channelId"),
        ("CHAT_URL", "chatUrl"),
        ("PHONE_URL", "phoneUrl"),
    ] {
        node.env(name, line[told].as_str().unwrap());
    }
    if let Some(browser) = browser {
        node.env("CHROMIUM", browser);
    }
    succeeds(node).await;
}

async fn succeeds(mut command: Command) {
    let named = format!("{command:?}");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output = tokio::time::timeout(Duration::from_secs(120), output).await.expect("it ends").unwrap();
    assert!(
        output.status.success(),
        "{named}: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Returns the browser of the tests; `None`, with a word on it, where it or Node or the packages of `web` are missing.
fn browser_with_node(web: &Path) -> Option<OsString> {
    let has_node =
        std::env::var("FLOWSDK_TEST_NODE").as_deref() == Ok("1") && web.join("node_modules").exists();
    let browser = std::env::var_os("FLOWSDK_TEST_CHROMIUM").filter(|_| has_node);
    if browser.is_none() {
        eprintln!(
            "SKIPPED: no browser, Node or packages of web/; set FLOWSDK_TEST_CHROMIUM and FLOWSDK_TEST_NODE=1"
        );
    }
    browser
}

/// The page of the simulated phone against a demo, in a browser.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_of_a_phone() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let Some(browser) = browser_with_node(&web) else { return };
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(demo_command(&dir.path().join("data")), dir.path(), "demo").await;
    runs(&web, "phone.mjs", &first_line(&server), Some(&browser)).await;
    assert!(server.stop().await.0.success());
}

/// The chat page against a mock of the server, for what only a mock can bring about.
#[tokio::test]
async fn the_chat_page_with_a_mock() {
    let web = Path::new(env!("CARGO_MANIFEST_DIR")).join("web");
    let Some(browser) = browser_with_node(&web) else { return };
    let mut node = Command::new("node");
    node.args(["e2e/run-mock.mjs", "page.mjs"]).env("CHROMIUM", browser).current_dir(&web);
    succeeds(node).await;
}

async fn warns_once_that_recovery_codes_go_to_the_log(setup: Setup) {
    let warnings = |server: &Server| server.log().matches("SMS_DRIVER is log").count();
    let server = setup.start().await;
    assert_eq!(warnings(&server), 1, "the default");
    assert!(server.stop().await.0.success());
    let setup = setup.with("SMS_DRIVER", "none");
    let server = setup.start().await;
    assert_eq!(warnings(&server), 0);
    assert!(server.stop().await.0.success());
}
