//! A tenant who tries to stop, slow or starve the others with flows, imports, scripts and requests.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::definitions;
use super::{Attack, PAUSE, Tally, Target};
use crate::http::{Connection, Request};
use crate::load::{self, Visitor};
use crate::webchat::seed::Channel;

/// How long a visitor waits for an answer before it comes as somebody else.
const PATIENCE: Duration = Duration::from_secs(3);

/// Prepares the tenant and begins all attacks, or those in `only`. Requests of its flows go to `silent`, a server that
/// answers nothing.
pub(crate) async fn begin(
    target: &Target,
    silent: SocketAddr,
    only: &[String],
    tally: &Tally,
) -> Result<Attack> {
    let hostile = target.tenant("Hostile", &definitions::searches()).await?;
    let patterns = target.channel(&hostile, "patterns", &definitions::patterns(20)).await?;
    let scripts = target.channel(&hostile, "scripts", &definitions::scripts()).await?;
    let requests = target.channel(&hostile, "requests", &definitions::requests(silent)).await?;
    let variables = target.channel(&hostile, "variables", &definitions::variables()).await?;
    let draft = draft(target.address(0), &hostile.router, &hostile.token).await?;
    let wanted = |attack: &str| only.is_empty() || only.iter().any(|one| one == attack);
    let crowds: Vec<Crowd> = [
        ("searches", hostile.channel.clone(), 10, PATIENCE),
        ("patterns", patterns, 10, PATIENCE),
        ("scripts", scripts, 40, Duration::from_secs(60)),
        ("requests", requests, 600, Duration::from_secs(60)),
        ("variables", variables, 20, Duration::from_secs(20)),
    ]
    .into_iter()
    .filter(|(attack, ..)| wanted(attack))
    .map(|(attack, channel, size, patience)| Crowd { attack, channel, size, patience })
    .collect();
    let import = Request::new(
        "POST",
        &format!("/routers/{}/import", hostile.router),
        Some(&hostile.token),
        Some(&definitions::import()),
    );
    let validate = Request::new("POST", &format!("/flows/{draft}/validate"), Some(&hostile.token), None);
    let publish = Request::new("POST", &format!("/flows/{draft}/publish-test"), Some(&hostile.token), None);
    let asked: Vec<(&'static str, Request, usize)> =
        [("import", import, 8), ("validate", validate, 4), ("publish-test", publish, 4)]
            .into_iter()
            .filter(|(attack, ..)| wanted(attack))
            .collect();
    let (target, tally) = (target.clone(), tally.clone());
    Attack::start(move || async move {
        let mut all = tokio::task::JoinSet::new();
        for crowd in crowds {
            for number in 0..crowd.size {
                all.spawn_local(crowd.clone().visit(target.address(number), number, tally.clone()));
            }
        }
        for (attack, request, connections) in asked {
            for number in 0..connections {
                all.spawn_local(ask(attack, target.address(number), request.clone(), tally.clone()));
            }
        }
        while all.join_next().await.is_some() {}
    })
}

/// A draft that no server may compile.
async fn draft(address: SocketAddr, router: &str, token: &str) -> Result<String> {
    let flow = json!({ "routerId": router, "name": "Draft", "definition": definitions::too_many_patterns() });
    let mut api = Connection::open(address).await?;
    let made = api.json(&Request::new("POST", "/flows", Some(token), Some(&flow))).await?;
    Ok(made["id"].as_str().context("no id")?.to_owned())
}

/// Visitors who all do the same.
#[derive(Clone)]
struct Crowd {
    attack: &'static str,
    channel: Channel,
    size: usize,
    patience: Duration,
}

impl Crowd {
    /// One of them writes again and again. When no answer comes, the session is frozen, and they come as somebody else.
    async fn visit(self, address: SocketAddr, number: usize, tally: Tally) {
        let entrance = load::entrance(address, "/webchat/socket.io/");
        for life in 0_u64.. {
            let Ok(auth) = self.channel.auth(&format!("{}{number}x{life}", self.attack)) else { return };
            match tokio::time::timeout(PATIENCE * 10, Visitor::enter(&entrance, &auth, true)).await {
                Ok(Ok(mut visitor)) => self.talk(&mut visitor, &tally).await,
                _ => {
                    tally.count(self.attack, "not let in");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn talk(&self, visitor: &mut Visitor, tally: &Tally) {
        loop {
            visitor.say("a");
            let answered = async {
                visitor.flush().await?;
                while visitor.take_answer().is_none() {
                    visitor.flush().await?;
                    visitor.listen().await?;
                }
                anyhow::Ok(())
            };
            match tokio::time::timeout(self.patience, answered).await {
                Ok(Ok(())) => tally.count(self.attack, "answered"),
                Ok(Err(_)) => return tally.count(self.attack, "disconnected"),
                Err(_) => return tally.count(self.attack, "no answer"),
            }
        }
    }
}

/// Asks again and again.
async fn ask(attack: &'static str, address: SocketAddr, request: Request, tally: Tally) {
    loop {
        let Ok(mut connection) = Connection::open(address).await else {
            tally.count(attack, "not connected");
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        loop {
            match connection.ask(&request).await {
                Ok(status) => tally.count(attack, status),
                Err(_) => break tally.count(attack, "closed"),
            }
        }
    }
}
