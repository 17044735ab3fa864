//! Deliveries that are repeated and out of order, while the server is killed again and again (rulings C3, C4, C6, S2, S4).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::sending::World;
use super::{SECRET, Shop, delivery};
use crate::harness::{Api, Setup, everywhere, http};

everywhere!(deliveries_survive_kills);

/// How many messages contacts write, unless `FLOWSDK_STORM` says how many.
const MESSAGES: usize = 600;
/// Of one contact; fewer than one recipient is sent at once.
const EACH: usize = 30;
const KILLS: usize = 3;
/// A message that failed stays so.
const RANKS: [&str; 5] = ["pending", "sent", "delivered", "read", "failed"];
const AT_ONCE: usize = 16;
/// A message whose call never reached the provider ends a minute after it.
const SETTLED_WITHIN: Duration = Duration::from_secs(100);

/// What the workers share.
struct Storm {
    /// Where the server listens now.
    address: Mutex<SocketAddr>,
    /// Contacts who have not begun: the index is their number's, too.
    waiting: Mutex<VecDeque<usize>>,
    delivered: AtomicUsize,
    numbers: usize,
}

fn phone_of(contact: usize) -> String {
    (15_550_000_000 + contact).to_string()
}

fn number_of(contact: usize, numbers: usize) -> String {
    (111 + contact % numbers).to_string()
}

fn wamid(contact: usize, nth: usize) -> String {
    format!("wamid.{contact}.{nth}")
}

impl Storm {
    fn body(&self, contact: usize, nth: usize) -> String {
        let shop = Shop {
            router: String::new(),
            number: number_of(contact, self.numbers),
            account: "9111".to_owned(),
            secret: SECRET.to_owned().into(),
        };
        delivery(&[shop.text(&phone_of(contact), &wamid(contact, nth), &nth.to_string())])
    }

    /// Delivers a message until it is taken, as the provider does.
    async fn deliver(&self, contact: usize, nth: usize) {
        let body = self.body(contact, nth);
        let signature = sign(&SECRET.to_owned().into(), body.as_bytes());
        loop {
            let address = *self.address.lock().expect("a lock");
            let headers = [(SIGNATURE_HEADER, &*signature)];
            let answer = http::send(address, "POST", "/phone/webhook", &headers, Some(body.as_bytes())).await;
            if answer.is_some_and(|answer| answer.status == 200) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Delivers what contacts write: of each in order, some of it twice, and some of it again later.
    async fn work(&self) {
        loop {
            let next = self.waiting.lock().expect("a lock").pop_front();
            let Some(contact) = next else { return };
            for nth in 0..EACH {
                self.deliver(contact, nth).await;
                if (contact + nth) % 5 == 0 {
                    self.deliver(contact, nth).await;
                }
                if (contact + nth) % 7 == 0 {
                    self.deliver(contact, nth / 2).await;
                }
                self.delivered.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

async fn deliveries_survive_kills(setup: Setup) {
    let asked = std::env::var("FLOWSDK_STORM").ok().and_then(|count| count.parse().ok());
    let contacts = asked.unwrap_or(MESSAGES).div_ceil(EACH);
    let numbers = (contacts * EACH / 1_000).max(3);
    let mut world = World::new(setup, true).await;
    for number in 1..numbers {
        let new = json!({ "routerId": world.shop.router, "name": "Filial", "phoneNumber": "5511987654321",
            "phoneNumberId": (111 + number).to_string(), "businessAccountId": "9111", "accessToken": "good-token" });
        world.admin.post("/channel-numbers", &new).await.ok(201);
    }
    let storm = Arc::new(Storm {
        address: Mutex::new(world.server.addr),
        waiting: Mutex::new((0..contacts).collect()),
        delivered: AtomicUsize::new(0),
        numbers,
    });
    let mut watcher = JoinSet::new();
    watcher.spawn(watch(Arc::clone(&storm), world.admin.clone()));
    let mut workers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let storm = Arc::clone(&storm);
        workers.spawn(async move { storm.work().await });
    }
    for kill in 1..=KILLS {
        while storm.delivered.load(Ordering::Relaxed) < contacts * EACH * kill / (KILLS + 1) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        world = world.killed().await;
        *storm.address.lock().expect("a lock") = world.server.addr;
    }
    workers.join_all().await;
    watcher.abort_all();
    match watcher.join_next().await {
        Some(Err(ended)) => assert!(ended.is_cancelled(), "{ended}"),
        other => unreachable!("it watches for good: {other:?}"),
    }

    let deadline = Instant::now() + SETTLED_WITHIN;
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for contact in 0..contacts {
        let said = settled(&world, &phone_of(contact), deadline).await;
        let text = |message: &&Value| message["content"]["text"]["body"].as_str().unwrap_or("?").to_owned();
        let of =
            |direction: &'static str| said.iter().filter(move |message| message["direction"] == direction);
        let written: Vec<String> = of("in").map(|message| text(&message)).collect();
        let answered: Vec<String> = of("out").map(|message| text(&message)).collect();
        let all: Vec<String> = (0..EACH).map(|nth| nth.to_string()).collect();
        assert_eq!(written, all, "contact {contact}: each message once, in order");
        let all: Vec<String> = all.iter().map(|nth| format!("eco {nth}")).collect();
        assert_eq!(answered, all, "contact {contact}: each answer once, in order");
        // One whose call was cut off before the provider had it failed, and is not sent again.
        let sent = of("out").filter(|message| message["status"] != "failed");
        expected.insert(phone_of(contact), sent.map(|message| text(&message)).collect());
    }
    let mut sent: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for message in world.provider.sent() {
        let text = message.body["text"]["body"].as_str().unwrap_or("?").to_owned();
        sent.entry(message.to).or_default().push(text);
    }
    assert_eq!(sent, expected, "at the phones: each answer once, in order");
    assert!(world.server.stop().await.0.success());
}

/// Looks again and again at the messages of the first contact: a status never goes back (rulings C4).
async fn watch(storm: Arc<Storm>, admin: Api) {
    let token = format!("Bearer {}", admin.token.unwrap_or_default());
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut chat = None;
    loop {
        tokio::time::sleep(Duration::from_millis(20)).await;
        let ask = async |path: String| {
            let address = *storm.address.lock().expect("a lock");
            let answer = http::send(address, "GET", &path, &[("authorization", &token)], None).await?;
            (answer.status == 200).then(|| answer.json())
        };
        if chat.is_none() {
            let found = ask("/chats?limit=1".to_owned()).await;
            chat = found.and_then(|page| page["items"][0]["id"].as_str().map(str::to_owned));
        }
        let Some(chat) = &chat else { continue };
        let Some(page) = ask(format!("/chats/{chat}/messages?limit=200")).await else { continue };
        for message in page["items"].as_array().into_iter().flatten().filter(|one| one["direction"] == "out")
        {
            let rank = RANKS.iter().position(|status| message["status"] == *status).expect("a known status");
            let before = seen.insert(message["id"].to_string(), rank).unwrap_or(0);
            assert!(before <= rank, "{} was {} before: {message}", RANKS[rank], RANKS[before]);
        }
    }
}

/// The messages of a contact's chat, oldest first, once there is an answer to each and none of them waits.
async fn settled(world: &World, phone: &str, deadline: Instant) -> Vec<Value> {
    loop {
        let contacts = world.admin.get(&format!("/contacts?q={phone}")).await.ok(200);
        if let Some(contact) = contacts["items"][0]["id"].as_str() {
            let chats = world.admin.get(&format!("/chats?contactId={contact}")).await.ok(200);
            let chat = chats["items"][0]["id"].as_str().unwrap_or_default();
            let messages = world.admin.get(&format!("/chats/{chat}/messages?limit=200")).await.ok(200);
            let mut items = messages["items"].as_array().cloned().unwrap_or_default();
            items.reverse();
            let waits = |message: &Value| message["direction"] == "out" && message["status"] == "pending";
            if items.len() >= 2 * EACH && !items.iter().any(waits) {
                return items;
            }
            assert!(Instant::now() < deadline, "{phone} is not settled: {} messages", items.len());
        }
        assert!(Instant::now() < deadline, "{phone} has no chat");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
