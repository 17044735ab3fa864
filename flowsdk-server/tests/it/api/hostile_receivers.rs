//! Receivers of webhooks that misbehave: they harm themselves only.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::building::{id, router};
use crate::harness::{Api, Server, Setup, eventually, eventually_within, everywhere};

everywhere!(each_harms_itself_only);

/// What a receiver does with each connection, on a thread of its own. Returns its address and how many there were.
fn receiver(answer: fn(TcpStream)) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", listener.local_addr().unwrap());
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    thread::spawn(move || {
        for connection in listener.incoming().map_while(Result::ok) {
            counted.fetch_add(1, Ordering::SeqCst);
            thread::spawn(move || answer(connection));
        }
    });
    (url, count)
}

/// Reads what comes first, and says what is left to say.
fn say(mut connection: TcpStream, text: &str) -> TcpStream {
    let mut request = [0; 16 * 1024];
    let read = connection.read(&mut request).unwrap_or_default();
    assert!(read > 0, "a request comes");
    // Whoever has hung up has done so.
    drop(connection.write_all(text.as_bytes()));
    connection
}

/// Answers that it is fine, and then writes until nobody listens.
fn endless(connection: TcpStream) {
    let mut connection = say(connection, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x1_0000));
    while connection.write_all(chunk.as_bytes()).is_ok() {}
}

/// Never answers.
fn silent(connection: TcpStream) {
    let mut connection = say(connection, "");
    drop(connection.read_to_end(&mut Vec::new()));
}

fn good(connection: TcpStream) {
    say(connection, "HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n");
}

fn never_called(_connection: TcpStream) {}

/// Makes a webhook at an address, and tries it. Returns the path of the delivery.
async fn tried(admin: &Api, router: &str, url: &str) -> String {
    let body = json!({ "routerId": router, "name": url, "url": url, "eventTypes": ["ticket.opened"] });
    let webhook = id(&admin.post("/webhooks", &body).await.ok(201));
    let delivery = admin.send("POST", &format!("/webhooks/{webhook}/test"), &[], None).await.ok(200);
    format!("/webhooks/{webhook}/deliveries/{}", id(&delivery))
}

/// Waits for the first attempt of a delivery; returns the delivery and the attempt.
async fn attempted(server: &Server, admin: &Api, delivery: &str, within: Duration) -> (Value, Value) {
    eventually_within(within, delivery, || async {
        server.advance(Duration::from_millis(250)).await;
        let shown = admin.get(delivery).await.ok(200);
        let first = shown["attempts"].as_array().unwrap().first().cloned()?;
        Some((shown["delivery"].clone(), first))
    })
    .await
}

async fn each_harms_itself_only(setup: Setup) {
    let setup = setup.with("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let router = router(&admin, "Loja").await;
    let (inside, called_inside) = receiver(never_called);
    // The address of what must not be called is known to the redirecting one by its own path.
    let redirecting = wiremock::MockServer::start().await;
    let to_inside = wiremock::ResponseTemplate::new(307).insert_header("location", inside.as_str());
    wiremock::Mock::given(wiremock::matchers::any()).respond_with(to_inside).mount(&redirecting).await;
    let ((endless, _), (silent, called_silent), (good, _)) =
        (receiver(endless), receiver(silent), receiver(good));

    let to_silent = tried(&admin, &router, &silent).await;
    eventually("the silent one is asked", || async {
        server.advance(Duration::from_millis(250)).await;
        (called_silent.load(Ordering::SeqCst) == 1).then_some(())
    })
    .await;
    let to_endless = tried(&admin, &router, &endless).await;
    let to_redirecting = tried(&admin, &router, &format!("{}/hook", redirecting.uri())).await;
    let to_good = tried(&admin, &router, &good).await;
    let patience = Duration::from_secs(10);
    let (delivery, attempt) = attempted(&server, &admin, &to_good, patience).await;
    assert_eq!((&delivery["status"], &attempt["statusCode"]), (&json!("delivered"), &json!(204)));
    let (delivery, attempt) = attempted(&server, &admin, &to_redirecting, patience).await;
    assert_eq!((&delivery["status"], &attempt["statusCode"]), (&json!("pending"), &json!(307)));
    assert_eq!(called_inside.load(Ordering::SeqCst), 0, "no redirect is followed");
    // It is read up to a limit: whatever the outcome, it has one.
    let (_, attempt) = attempted(&server, &admin, &to_endless, patience).await;
    assert!(attempt["answer"].as_str().is_none_or(|answer| answer.len() <= 1_000), "{attempt}");
    let shown = admin.get(&to_silent).await.ok(200);
    assert_eq!(shown["attempts"], json!([]), "nobody has waited for the silent one");
    let (delivery, attempt) = attempted(&server, &admin, &to_silent, Duration::from_secs(60)).await;
    assert_eq!((&delivery["status"], &attempt["statusCode"]), (&json!("pending"), &json!(null)), "{attempt}");
}
