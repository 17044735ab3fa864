//! Requests that are made, and requests that are refused, against a server of this machine.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowsdk_core::flow::definition::HttpMethod;
use flowsdk_core::flow::{HttpCaller as _, HttpRequest, MAX_ANSWER, OutsideFailure};
use flowsdk_outside::http::{AllowedHosts, GuardedHttp};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

/// A server that answers by path, and remembers what it was asked.
struct Server {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
    _task: tokio::task::JoinSet<()>,
}

impl Server {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&asked);
        let mut task = tokio::task::JoinSet::new();
        task.spawn(async move {
            let mut open = tokio::task::JoinSet::new();
            while let Ok((mut socket, _)) = listener.accept().await {
                let remembered = Arc::clone(&remembered);
                open.spawn(async move {
                    let mut request = vec![0; 65_536];
                    let length = socket.read(&mut request).await.unwrap_or(0);
                    let request = String::from_utf8_lossy(&request[..length]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or("").to_owned();
                    remembered.lock().expect("a lock").push(request);
                    let answer = answer(&path, port);
                    if path == "/slow" {
                        tokio::time::sleep(Duration::from_secs(30)).await;
                    }
                    drop(socket.write_all(&answer).await);
                    if path == "/drip" {
                        loop {
                            tokio::time::sleep(Duration::from_millis(20)).await;
                            if socket.write_all(b"x").await.is_err() {
                                return;
                            }
                        }
                    }
                });
            }
        });
        Self { port, asked, _task: task }
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().expect("a lock").clone()
    }
}

fn answer(path: &str, port: u16) -> Vec<u8> {
    let redirect = |status: u16, to: &str| {
        format!("HTTP/1.1 {status} R\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .into_bytes()
    };
    match path {
        "/slow" | "/ok" => {
            b"HTTP/1.1 200 OK\r\ncontent-length: 7\r\nconnection: close\r\n\r\n{\"a\":1}".to_vec()
        }
        "/missing" => b"HTTP/1.1 404 N\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno".to_vec(),
        "/page" => {
            b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 3\r\nconnection: close\r\n\r\nTea"
                .to_vec()
        }
        "/to-page" => redirect(301, "/page"),
        "/busy" => {
            b"HTTP/1.1 503 B\r\nretry-after: 90\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec()
        }
        "/drip" => b"HTTP/1.1 200 OK\r\ncontent-length: 100000\r\nconnection: close\r\n\r\n".to_vec(),
        "/announced" => format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", MAX_ANSWER + 1).into_bytes(),
        "/endless" => {
            let mut answer = b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".to_vec();
            answer.extend(vec![b'x'; MAX_ANSWER + 1]);
            answer
        }
        "/inside" => redirect(302, "http://127.0.0.1:1/"),
        "/metadata" => redirect(302, "http://169.254.169.254/latest"),
        "/named" => redirect(302, &format!("http://localhost:{port}/ok")),
        "/mapped" => redirect(307, "http://[::ffff:127.0.0.1]:1/"),
        "/file" => redirect(302, "file:///etc/passwd"),
        "/round" => redirect(302, "/round"),
        "/away" => redirect(302, &format!("http://other.localhost:{port}/ok")),
        "/away-with-body" => redirect(307, &format!("http://other.localhost:{port}/ok")),
        "/moved" => redirect(303, "/ok"),
        "/kept" => redirect(308, "/ok"),
        _ => b"garbage\r\n\r\n".to_vec(),
    }
}

fn caller() -> GuardedHttp {
    GuardedHttp::new(AllowedHosts::new(["localhost".into(), "other.localhost".into()])).expect("a caller")
}

fn request(url: String) -> HttpRequest {
    HttpRequest {
        method: HttpMethod::Get,
        url: url.into(),
        headers: vec![("x-key".into(), "a-secret".into())],
        body: None,
        is_json: false,
        follows_redirects: true,
        timeout: Duration::from_millis(500),
        paths: Vec::new(),
    }
}

async fn get(url: String) -> Result<u16, OutsideFailure> {
    caller().call(&request(url)).await.map(|answer| answer.status)
}

#[tokio::test]
async fn an_allowed_server_is_asked() {
    let server = Server::start().await;
    let answer = caller().call(&request(server.url("localhost", "/ok"))).await.expect("answered");
    assert_eq!((answer.status, answer.body.as_slice()), (200, &b"{\"a\":1}"[..]));
    assert!(server.asked()[0].contains("x-key: a-secret"));
    assert_eq!(get(server.url("localhost", "/missing")).await, Ok(404));
    let post = HttpRequest {
        method: HttpMethod::Post,
        body: Some("{\"b\":2}".into()),
        is_json: true,
        ..request(server.url("LOCALHOST", "/ok"))
    };
    assert_eq!(caller().call(&post).await.expect("answered").status, 200);
    let asked = server.asked().pop().expect("asked");
    assert!(
        asked.starts_with("POST /ok") && asked.contains("application/json") && asked.ends_with("{\"b\":2}"),
        "{asked}"
    );
}

#[tokio::test]
async fn what_is_not_public_is_refused() {
    let server = Server::start().await;
    let strict = GuardedHttp::new(AllowedHosts::default()).expect("a caller");
    for host in [
        // Loopback, this network, the cloud's metadata, private networks.
        "127.0.0.1",
        "[::1]",
        "0.0.0.0",
        "169.254.169.254",
        "10.0.0.1",
        "192.168.0.1",
        "172.16.0.1",
        "[fd00::1]",
        "[fe80::1]",
        // The same as one number, octal, hexadecimal, shortened, full-width, and within IPv6.
        "2130706433",
        "017700000001",
        "0177.0.0.1",
        "0x7f000001",
        "0x7f.1",
        "127.1",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "012.0.0.1",
        "１２７.０.０.１",
        "127。0。0。1",
        "[::ffff:127.0.0.1]",
        "[::ffff:a9fe:a9fe]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
        // What stands before an `@` is no host.
        "example.com@127.0.0.1",
        "8.8.8.8%2F@127.0.0.1",
    ] {
        let failure = strict.call(&request(server.url(host, "/ok"))).await.expect_err(host);
        assert_eq!(failure.code, "http_forbidden", "{host}: {failure}");
    }
    // A name that resolves inward is as good as unknown: the names of the network around are nobody's business.
    for name in ["localhost", "no-such-name.invalid"] {
        let failure = strict.call(&request(server.url(name, "/ok"))).await.expect_err(name);
        assert_eq!((failure.code, &*failure.message), ("http_unreachable", "no connection"), "{name}");
    }
    // A name that is allowed allows no address, and an address no name.
    assert_eq!(get(server.url("127.0.0.1", "/ok")).await.expect_err("refused").code, "http_forbidden");
    for url in ["ftp://localhost/", "file:///etc/passwd", "gopher://localhost/", "data:text/plain,x"] {
        assert_eq!(get(url.into()).await.expect_err(url).code, "http_forbidden", "{url}");
    }
    for url in ["", "nonsense", "http://", "https://"] {
        assert_eq!(get(url.into()).await.expect_err(url).code, "http_bad_request", "{url}");
    }
    assert_eq!(server.asked(), [""; 0], "nothing was connected to");
}

#[tokio::test]
async fn every_redirect_is_looked_at_again() {
    let server = Server::start().await;
    for path in ["/inside", "/metadata", "/mapped", "/file", "/round"] {
        let failure = get(server.url("localhost", path)).await.expect_err(path);
        assert_eq!(failure.code, "http_forbidden", "{path}: {failure}");
    }
    assert_eq!(server.asked().iter().filter(|asked| asked.starts_with("GET /round")).count(), 6);
    // By a name that resolves inward, too.
    let by_address = GuardedHttp::new(AllowedHosts::new(["127.0.0.1".into()])).expect("a caller");
    let before = server.asked().len();
    let call = by_address.call(&request(server.url("127.0.0.1", "/named"))).await;
    assert_eq!(call.expect_err("refused").code, "http_unreachable");
    assert_eq!(server.asked().len(), before + 1, "the redirect was not followed");
    let post = |path: &str| HttpRequest {
        method: HttpMethod::Post,
        body: Some("b".into()),
        ..request(server.url("localhost", path))
    };
    assert_eq!(caller().call(&post("/moved")).await.expect("answered").status, 200);
    assert!(server.asked().pop().expect("asked").starts_with("GET /ok"), "303 is a GET");
    assert_eq!(caller().call(&post("/kept")).await.expect("answered").status, 200);
    assert!(server.asked().pop().expect("asked").starts_with("POST /ok"), "308 keeps the method");
    let here = HttpRequest { follows_redirects: false, ..post("/moved") };
    let before = server.asked().len();
    assert_eq!(caller().call(&here).await.expect("answered").status, 303, "the redirect is the answer");
    assert_eq!(server.asked().len(), before + 1);
}

#[tokio::test]
async fn secrets_do_not_follow_to_another_server() {
    let server = Server::start().await;
    if tokio::net::lookup_host(("other.localhost", 0)).await.is_err() {
        return;
    }
    assert_eq!(get(server.url("localhost", "/away")).await, Ok(200));
    let asked = server.asked();
    assert!(asked[0].contains("a-secret") && !asked[1].contains("a-secret"), "{asked:?}");
    let post = HttpRequest {
        method: HttpMethod::Post,
        body: Some("b".into()),
        ..request(server.url("localhost", "/away-with-body"))
    };
    assert_eq!(caller().call(&post).await.expect_err("refused").code, "http_forbidden");
}

#[tokio::test]
async fn time_and_size_are_bounded() {
    let server = Server::start().await;
    for (path, code) in [
        ("/slow", "http_timeout"),
        ("/drip", "http_timeout"),
        ("/announced", "http_too_large"),
        ("/endless", "http_too_large"),
        ("/garbage", "http_unreachable"),
    ] {
        let failure = get(server.url("localhost", path)).await.expect_err(path);
        assert_eq!(failure.code, code, "{path}: {failure}");
        assert!(!failure.to_string().contains("127.0.0.1") && !failure.to_string().contains(path));
    }
    let closed = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = closed.local_addr().expect("an address").port();
    drop(closed);
    let failure = get(format!("http://localhost:{port}/")).await.expect_err("refused");
    assert_eq!(failure.code, "http_unreachable");
}

#[tokio::test]
async fn a_page_is_fetched_where_it_stands() {
    let server = Server::start().await;
    let http = caller();
    let get = async |path: &str, most: usize| http.page(&server.url("localhost", path), most).await;
    for path in ["/page", "/to-page"] {
        let page = get(path, 3).await.expect("a page");
        assert_eq!(
            (page.content_type.as_deref(), &page.bytes[..]),
            (Some("text/html"), &b"Tea"[..]),
            "{path}"
        );
    }
    assert!(!server.asked().concat().to_lowercase().contains("x-key"));
    let failures = [
        ("/page", 2, false, None),
        ("/endless", 10, false, None),
        ("/missing", 10, false, None),
        ("/busy", 10, true, Some(90)),
        ("/garbage", 10, true, None),
        ("/inside", 10, false, None),
        ("/metadata", 10, false, None),
        ("/mapped", 10, false, None),
        ("/file", 10, false, None),
        ("/round", 10, false, None),
    ];
    for (path, most, is_passing, seconds) in failures {
        let failure = get(path, most).await.expect_err(path);
        assert_eq!(failure.is_passing, is_passing, "{path}: {failure:?}");
        assert_eq!(failure.retry_after, seconds.map(Duration::from_secs), "{path}");
        assert!(!failure.reason.contains("169.254") && !failure.reason.contains("127.0.0.1"), "{failure:?}");
    }
    // A name that leads inside is as one that does not exist.
    let allowed = GuardedHttp::new(AllowedHosts::default()).expect("a caller");
    let named = allowed.page(&server.url("localhost", "/page"), 10).await.expect_err("refused");
    let unknown = allowed.page("http://nowhere.invalid/", 10).await.expect_err("refused");
    assert_eq!(named, unknown);
}
