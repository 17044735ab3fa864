//! Commands against a server: `login`, `flow push`, `pull` and `watch`, as their users run them.

use std::io::{BufRead as _, BufReader, Lines};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

use super::building::{router, says};
use crate::harness::api::ADMIN;
use crate::harness::process::{command, run};
use crate::harness::{Api, Setup, everywhere};

everywhere!(in process: from_a_file_to_a_published_flow, a_login_renews_itself_and_ends, a_file_that_is_watched,
    a_file_stays_with_its_flow, a_save_waits_for_the_server, authors_with_a_test_channel_each);

/// A user with a folder of files and configurations.
struct Author {
    folder: TempDir,
    server: SocketAddr,
    password: String,
}

impl Author {
    fn new(setup: &Setup, server: SocketAddr) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, server, password: setup.admin_password().to_owned() }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = command();
        command.current_dir(self.folder.path()).env("XDG_CONFIG_HOME", self.folder.path().join("config"));
        command.env("FLOWSDK_PASSWORD", &self.password).args(arguments);
        command
    }

    /// Runs a command; returns what it printed, and whether it succeeded.
    async fn runs(&self, arguments: &[&str]) -> (bool, String) {
        let (status, out, err) = run(self.command(arguments)).await;
        (status.success(), out + &err)
    }

    async fn does(&self, arguments: &[&str]) -> String {
        let (ok, said) = self.runs(arguments).await;
        assert!(ok, "{arguments:?}: {said}");
        said
    }

    async fn fails(&self, arguments: &[&str]) -> String {
        let (ok, said) = self.runs(arguments).await;
        assert!(!ok, "{arguments:?}: {said}");
        said
    }

    async fn logs_in(&self) -> String {
        self.does(&["login", &format!("http://{}", self.server), "--email", ADMIN]).await
    }

    fn writes(&self, file: &str, definition: &Value) {
        std::fs::write(self.folder.path().join(file), definition.to_string()).unwrap();
    }

    fn session(&self) -> Value {
        let file = self.folder.path().join("config/flowsdk/session.json");
        serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap()
    }
}

async fn from_a_file_to_a_published_flow(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let id = router(&admin, "Shop").await;
    let mut author = Author::new(&setup, server.addr);
    author.writes("hello.json", &says("Hello!"));
    let push = ["flow", "push", "hello.json", "--router", "Shop"];
    assert!(author.fails(&push).await.contains("not logged in: run `flowsdk-server login URL`"));
    let right = std::mem::replace(&mut author.password, "wrong".to_owned());
    let url = format!("http://{}", server.addr);
    let refused = author.fails(&["login", &url, "--email", ADMIN]).await;
    assert!(
        refused.contains("the server refuses: ") && refused.contains("(invalid_credentials)"),
        "{refused}"
    );
    author.password = right;
    let said = author.logs_in().await;
    assert_eq!(said, format!("logged in at {url} as {ADMIN}\n"));
    let mode = |path: &str| std::fs::metadata(author.folder.path().join(path)).unwrap().permissions().mode();
    assert_eq!(mode("config/flowsdk/session.json") & 0o777, 0o600);

    let created = author.does(&push).await;
    assert!(created.starts_with("created flow `hello` ("), "{created}");
    let draft = "not published: visitors get the draft with --publish\n";
    let said = author.does(&push).await;
    assert_eq!(said, format!("flow `hello` is as the file, at revision 1\n{draft}"));
    author.writes("hello.json", &says("Hi!"));
    let by_id = ["flow", "push", "hello.json", "--router", &id, "--publish"];
    assert_eq!(author.does(&by_id).await, "updated flow `hello`, now at revision 2\npublished version 1\n");
    let said = author.does(&push).await;
    assert_eq!(said, "flow `hello` is as the file, at revision 2\npublished as it is: version 1\n");
    let mut broken = says("Hi!");
    broken["blocks"][0]["onEnter"] = json!([{ "type": "executeScript", "script": "return (" }]);
    author.writes("hello.json", &broken);
    let refused = author.fails(&by_id).await;
    assert!(refused.contains("  error bad_script in `start` at /blocks/0/onEnter/0/script: "), "{refused}");
    assert!(refused.contains("warning unhandled_failure in `start`"), "{refused}");
    assert!(refused.ends_with("not published: the draft has errors\n"), "{refused}");

    let pulled = author.does(&["flow", "pull", "hello", "copy.json"]).await;
    assert_eq!(pulled, "copy.json is flow `hello` at revision 3\n");
    let copy: Value =
        serde_json::from_slice(&std::fs::read(author.folder.path().join("copy.json")).unwrap()).unwrap();
    assert_eq!(copy, broken);
    let file = author.folder.path().join("hello.json");
    let before = std::fs::read(&file).unwrap();
    let pulled = author.does(&["flow", "pull", "hello", "hello.json"]).await;
    assert_eq!(pulled, "hello.json is flow `hello` at revision 3 already\n");
    assert_eq!(std::fs::read(&file).unwrap(), before, "it stays as it is written");
    let text = broken.to_string().replacen('{', r#"{"zzz":1,"#, 1);
    std::fs::write(author.folder.path().join("keys.json"), &text).unwrap();
    author.fails(&["flow", "push", "keys.json", "--router", "Shop"]).await;
    let printed = author.does(&["flow", "pull", "keys"]).await;
    assert!(printed.starts_with("{\n  \"zzz\": 1,\n  \""), "{printed}");
    author.writes("copy.json", &json!({ "my": "work" }));
    let kept = author.fails(&["flow", "pull", "hello", "copy.json"]).await;
    assert!(kept.contains("copy.json says something else; --force replaces it"), "{kept}");
    author.does(&["flow", "pull", "hello", "copy.json", "--force"]).await;
    let copy: Value =
        serde_json::from_slice(&std::fs::read(author.folder.path().join("copy.json")).unwrap()).unwrap();
    assert_eq!(copy, broken);
    let printed = author.does(&["flow", "pull", "hello", "--router", "Shop"]).await;
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), broken);

    // A colleague was faster.
    let flow = admin.get("/flows?q=hello").await.ok(200)["items"][0]["id"].as_str().unwrap().to_owned();
    let theirs = json!({ "definition": says("Theirs"), "revision": 3 });
    admin.patch(&format!("/flows/{flow}"), &theirs).await.ok(200);
    author.writes("hello.json", &says("Mine"));
    let refused = author.fails(&push).await;
    let newer =
        "the draft of flow `hello` is at revision 4 on the server, and this file was made of revision 3";
    assert!(refused.contains(newer), "{refused}");
    author.writes("other.json", &says("Other"));
    let never = author.fails(&["flow", "push", "other.json", "--router", "Shop", "--name", "hello"]).await;
    assert!(never.contains("and this file was never pulled"), "{never}");
    assert_eq!(admin.get(&format!("/flows/{flow}")).await.ok(200)["definition"], says("Theirs"));
    author.does(&["flow", "pull", "hello", "hello.json", "--force"]).await;
    author.writes("hello.json", &says("Ours"));
    let later = "not published: visitors get version 1, and the draft with --publish\n";
    assert_eq!(author.does(&push).await, format!("updated flow `hello`, now at revision 5\n{later}"));
    let forced =
        author.does(&["flow", "push", "other.json", "--router", "Shop", "--name", "hello", "--force"]).await;
    assert_eq!(forced, format!("updated flow `hello`, now at revision 6\n{later}"));
    author.writes("hello.json", &says("Other"));

    author.writes("look.json", &json!({ "primaryColor": "#0a7d4f" }));
    for (arguments, expected) in [
        (&["flow", "push", "hello.json", "--router", "Nowhere"][..], "there is no router `Nowhere`"),
        (&["flow", "push", "none.json", "--router", "Shop"], "none.json: cannot be read"),
        (&["flow", "pull", "../users"], "there is no flow `../users`; there is `"),
        (
            &["flow", "push", "look.json", "--router", "Shop"],
            "look.json: this is not the definition of a flow",
        ),
        (&["login", "example.com"], "`example.com` is not the address of a server"),
        (&["login", "http://127.0.0.1:1", "--email", "a@b.c"], "http://127.0.0.1:1 cannot be reached"),
    ] {
        let said = author.fails(arguments).await;
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
    let mut twins = Vec::new();
    for _ in 0..2 {
        let twin = admin.post("/flows", &json!({ "routerId": id, "name": "twin" })).await.ok(201);
        twins.push(twin["id"].as_str().unwrap().to_owned());
    }
    let said = author.fails(&["flow", "pull", "twin"]).await;
    assert!(said.contains("several flows are called `twin`: name one of them by its id, "), "{said}");
    // One of them by its id, also where it is pushed.
    author.does(&["flow", "pull", &twins[0], "twin.json"]).await;
    author.writes("twin.json", &says("One of two"));
    let by_id = ["flow", "push", "twin.json", "--router", "Shop", "--name", &twins[0]];
    assert_eq!(author.does(&by_id).await, format!("updated flow `twin`, now at revision 2\n{draft}"));
    for (twin, revision) in twins.iter().zip([2, 1]) {
        assert_eq!(admin.get(&format!("/flows/{twin}")).await.ok(200)["revision"], revision);
    }
}

async fn a_file_stays_with_its_flow(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let shop = router(&admin, "Shop").await;
    router(&admin, "Other").await;
    let author = Author::new(&setup, server.addr);
    author.logs_in().await;
    let flow = json!({ "routerId": shop, "name": "Welcome", "definition": says("Hello!") });
    let flow = admin.post("/flows", &flow).await.ok(201)["id"].as_str().unwrap().to_owned();
    author.does(&["flow", "pull", "Welcome", "mine.json"]).await;
    author.writes("mine.json", &says("Hi!"));
    let push = ["flow", "push", "mine.json", "--router", "Shop"];
    let said = author.does(&push).await;
    assert!(said.starts_with("updated flow `Welcome`, now at revision 2\n"), "{said}");
    // Also under a new name on the server.
    admin.patch(&format!("/flows/{flow}"), &json!({ "name": "Greeting", "revision": 2 })).await.ok(200);
    let said = author.does(&push).await;
    assert!(said.starts_with("flow `Greeting` is as the file"), "{said}");
    // In another router it is a flow of its own.
    let said = author.does(&["flow", "push", "mine.json", "--router", "Other"]).await;
    assert!(said.starts_with("created flow `mine` (") && said.contains("in router `Other`"), "{said}");
    // As a second flow of the router by its name alone; then the file says no more which one is meant.
    let second = ["flow", "push", "mine.json", "--router", "Shop", "--name", "mine"];
    let said = author.does(&second).await;
    assert!(said.starts_with("created flow `mine` ("), "{said}");
    let several = author.fails(&push).await;
    assert!(
        several.contains("mine.json is a file of several flows, ")
            && several.contains(&format!("`Greeting` ({flow})"))
            && several.contains(": say which one with --name"),
        "{several}"
    );
    author.does(&second).await;
    let kept = author.folder.path().join("config/flowsdk/revisions.json");
    let revisions = std::fs::read(&kept).unwrap();
    std::fs::write(&kept, "{").unwrap();
    let damaged = author.fails(&push).await;
    assert!(damaged.contains("revisions.json is damaged: delete it; then `flow pull`"), "{damaged}");
    std::fs::write(&kept, revisions).unwrap();
    // What is gone is not asked for again.
    admin.delete(&format!("/flows/{flow}")).await.ok(204);
    let said = author.does(&push).await;
    assert!(said.starts_with("flow `mine` is as the file"), "{said}");
}

async fn a_login_renews_itself_and_ends(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    router(&admin, "Shop").await;
    let author = Author::new(&setup, server.addr);
    author.writes("hello.json", &says("Hello!"));
    author.logs_in().await;
    let push = ["flow", "push", "hello.json", "--router", "Shop"];
    let before = author.session();
    author.does(&push).await;
    assert_eq!(author.session(), before, "a token that counts is kept");
    // Past the life of the access token, within that of the other.
    server.advance(Duration::from_secs(2 * 24 * 60 * 60)).await;
    author.does(&push).await;
    let renewed = author.session();
    assert_ne!(renewed["accessToken"], before["accessToken"]);
    let out = format!("logged out at http://{}: every login of this user has ended\n", server.addr);
    assert_eq!(author.does(&["logout"]).await, out);
    assert!(author.fails(&push).await.contains("not logged in"));
    author.logs_in().await;
    server.advance(Duration::from_secs(400 * 24 * 60 * 60)).await;
    let ended = author.fails(&push).await;
    assert!(
        ended.contains(&format!("the login has ended: run `flowsdk-server login http://{}`", server.addr))
    );
}

/// A `flow watch` that runs.
struct Watching {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watching {
    fn start(author: &Author, arguments: &[&str]) -> Self {
        let mut child = author.command(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The line that it prints next.
    fn next(&mut self) -> String {
        tokio::task::block_in_place(|| self.lines.next()).unwrap().unwrap()
    }

    fn stop(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

async fn a_file_that_is_watched(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    router(&admin, "Shop").await;
    let author = Author::new(&setup, server.addr);
    author.logs_in().await;
    let watch = ["flow", "watch", "hello.json", "--router", "Shop"];
    assert!(author.fails(&watch).await.contains("hello.json"), "there is nothing to watch");
    author.writes("hello.json", &says("Hello!"));
    let nowhere = author.fails(&["flow", "watch", "hello.json", "--router", "Nowhere"]).await;
    assert!(
        nowhere.contains("there is no router `Nowhere`; there is `Shop`, `Loja`")
            && nowhere.contains(": POST /routers "),
        "{nowhere}"
    );
    let mut watching = Watching::start(&author, &watch);
    let mut next = || watching.next();
    let first = next();
    let (_, chat) = first.split_once("is in the test chat: ").expect(&first);
    assert!(chat.starts_with(&format!("http://{}/chat/", server.addr)), "{chat}");
    author.writes("hello.json", &json!({ "schemaVersion": 1 }));
    let refused = next();
    assert_eq!(refused, "not published: the draft has errors");
    // What is missing.
    let problem = next();
    assert!(problem.starts_with("  error "), "{problem}");
    // One that can be read and not run: the problems as `flow check` prints them.
    let mut lost = says("Hello!");
    lost["blocks"][0]["defaultOutput"]["blockId"] = json!("nowhere");
    author.writes("hello.json", &lost);
    let mut line = next();
    while line.starts_with("  ") {
        line = next();
    }
    assert_eq!(line, "not published: the draft has errors");
    let problem = next();
    assert!(problem.starts_with("  error ") && problem.contains(" in `"), "{problem}");
    author.writes("hello.json", &says("Hello again!"));
    let mut line = next();
    while line.starts_with("  ") {
        line = next();
    }
    assert_eq!(line, first);
    let flows = admin.get("/flows?q=hello").await.ok(200);
    assert_eq!(flows["items"][0]["hasTestVersion"], true);
    // A script that may fail is published, and warned of.
    let mut risky = says("Hello!");
    risky["blocks"][0]["onEnter"] = json!([{ "type": "executeScript", "script": "return 1" }]);
    author.writes("hello.json", &risky);
    let warning = next();
    assert!(warning.starts_with("  warning unhandled_failure in `"), "{warning}");
    assert_eq!(next(), first);
    std::fs::remove_file(author.folder.path().join("hello.json")).unwrap();
    assert_eq!(next(), "hello.json is gone: waiting until it is there again");
    watching.stop();
}

/// A way to a server. While it is closed, its connections end at once.
async fn gate(server: SocketAddr) -> (SocketAddr, watch::Sender<bool>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (open, is_open) = watch::channel(true);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let mut is_open = is_open.clone();
            tokio::spawn(async move {
                let mut server = TcpStream::connect(server).await.unwrap();
                tokio::select! {
                    biased;
                    _ = is_open.wait_for(|open| !open) => {}
                    _ = copy_bidirectional(&mut client, &mut server) => {}
                }
            });
        }
    });
    (addr, open)
}

async fn a_save_waits_for_the_server(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    router(&admin, "Shop").await;
    let (addr, open) = gate(server.addr).await;
    let author = Author::new(&setup, addr);
    author.logs_in().await;
    author.writes("hello.json", &says("Hello!"));
    let watch = ["flow", "watch", "hello.json", "--router", "Shop"];
    let mut watching = Watching::start(&author, &watch);
    let first = watching.next();
    assert!(first.contains("is in the test chat: "), "{first}");
    open.send_replace(false);
    author.writes("hello.json", &says("Hello again!"));
    let waiting = watching.next();
    assert!(waiting.starts_with(&format!("not published: http://{addr} cannot be reached: ")), "{waiting}");
    assert!(waiting.ends_with(": waiting for the server"), "{waiting}");
    open.send_replace(true);
    // Sent again without another save, and the wait is told once.
    assert_eq!(watching.next(), first);
    let flow = &admin.get("/flows?q=hello").await.ok(200)["items"][0];
    let id = flow["id"].as_str().unwrap();
    assert_eq!(admin.get(&format!("/flows/{id}")).await.ok(200)["definition"], says("Hello again!"));
    watching.stop();
    // Also one that is away at the beginning.
    open.send_replace(false);
    let mut watching = Watching::start(&author, &watch);
    let waiting = watching.next();
    assert!(waiting.starts_with(&format!("http://{addr} cannot be reached: ")), "{waiting}");
    assert!(waiting.ends_with(": waiting for the server"), "{waiting}");
    open.send_replace(true);
    assert_eq!(watching.next(), first);
    watching.stop();
}

/// The address of the chat in which a save can be tried.
fn watched(author: &Author, arguments: &[&str]) -> String {
    let mut watching = Watching::start(author, arguments);
    let line = watching.next();
    watching.stop();
    line.split_once("is in the test chat: ").unwrap_or_else(|| panic!("{line}")).1.to_owned()
}

async fn authors_with_a_test_channel_each(setup: Setup) {
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    router(&admin, "Shop").await;
    router(&admin, "Other").await;
    let author = Author::new(&setup, server.addr);
    author.logs_in().await;
    author.writes("hello.json", &says("Hello!"));
    author.writes("bye.json", &says("Bye!"));
    let own = watched(&author, &["flow", "watch", "hello.json", "--router", "Shop"]);
    let of_ana = ["flow", "watch", "bye.json", "--router", "Shop", "--channel", "ana"];
    let chat = watched(&author, &of_ana);
    assert_ne!(chat, own);
    assert_eq!(watched(&author, &of_ana), chat, "by its name again");
    let id = chat.rsplit_once('/').unwrap().1;
    assert_eq!(watched(&author, &["flow", "watch", "bye.json", "--router", "Shop", "--channel", id]), chat);
    let made = admin.get(&format!("/webchat/channels/{id}")).await.ok(200);
    let shown = [&made["name"], &made["isTestChannel"], &made["startOn"]];
    assert_eq!(shown, [&json!("ana"), &json!(true), &json!("open")]);
    // A name is that of a channel of this router.
    let elsewhere = watched(&author, &["flow", "watch", "bye.json", "--router", "Other", "--channel", "ana"]);
    assert!(elsewhere != chat && elsewhere != own);
    let bye = admin.get("/flows?q=bye").await.ok(200);
    let bye = bye["items"].as_array().unwrap().iter().find(|flow| flow["routerId"] == made["routerId"]);
    assert_eq!(made["initialFlowId"], bye.unwrap()["id"]);
    let first = admin.get(&format!("/webchat/channels/{}", own.rsplit_once('/').unwrap().1)).await.ok(200);
    assert_ne!(first["initialFlowId"], made["initialFlowId"], "nobody takes the channel of another");
}
