//! `flowsdk-server doctor phone`: walks through the set-up of a number, and names the step that fails.

use std::sync::Arc;
use std::time::Duration;

use clap::{Args, Subcommand};
use flowsdk_channels::channel_number::{ChannelNumber, HasChannelNumbers as _};
use flowsdk_channels::phone::graph::GraphApi;
use flowsdk_channels::phone::webhook::{SIGNATURE_HEADER, sign};
use flowsdk_channels::template::{TemplateAccount, TemplateProvider as _};
use flowsdk_core::channel::{SendError, SendingAccount};
use flowsdk_core::crypto::{Encrypted, MasterKey};
use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_core::flow::HasFlows as _;
use flowsdk_core::page::PageRequest;
use flowsdk_core::router::{HasRouters as _, Router};
use flowsdk_core::store::Store as _;
use flowsdk_store::sql::{OutboxRoutes, SchemaState, SqlStore};
use reqwest::{Client, Url};
use secrecy::SecretString;
use serde_json::json;

use crate::config::Config;
use crate::http_client::near;
use crate::printed::Printed;

/// How long a request may take.
const TIMEOUT: Duration = Duration::from_secs(20);
const PAGE: u32 = 200;
/// What the server sends back of the check of an address.
const CHALLENGE: &str = "1158201444";

/// What is looked at.
#[derive(Debug, Subcommand)]
pub enum Doctor {
    /// A number of the phone channel: what is stored of it, its token, its app, its business account, its templates and the
    /// webhook. It takes the environment of `serve`, which may run meanwhile, and changes nothing.
    Phone(Phone),
}

/// The number, and where its webhook is.
#[derive(Debug, Args)]
pub struct Phone {
    /// The number: its `phoneNumberId`. It can be left out where there is only one.
    #[arg(long)]
    number: Option<String>,
    /// The address that the provider calls, such as `https://chat.example.com/phone/webhook`. By default that of this machine.
    #[arg(long)]
    webhook: Option<Url>,
}

/// What is stored of a number.
struct Stored {
    number: ChannelNumber,
    router: Router,
    has_flow: bool,
}

/// Looks at a number, step by step. A step that needs one that failed is left out.
///
/// # Errors
/// There is no such number, or the database cannot be read.
pub async fn phone(options: &Phone, config: &Config) -> Result<Printed, BoxError> {
    let stored = stored(options.number.as_deref(), config).await?;
    let Stored { number, router, .. } = &stored;
    let mut printed = Printed { text: String::new(), ok: true };
    printed.line(Ok(format!(
        "number: {} ({}) of the router {:?}",
        number.phone_number_id, number.phone_number, router.name
    )));
    if !number.active {
        printed.step("active", Err("the number is switched off: nothing is sent from it".to_owned()));
    }
    printed.step("flow", flow(&stored));
    let key = &config.master_key;
    let secret = opened(key, router.channel_app_secret.as_ref(), "the router has no channelAppSecret");
    let token = opened(key, number.access_token.as_ref(), "the number has no accessToken");
    let client = crate::http_client::client(TIMEOUT)?;
    match &token {
        Err(reason) => {
            printed.step("token", Err(reason.clone()));
            printed.skip(&["account", "templates"]);
        }
        Ok(token) => {
            let api = GraphApi::new(config.phone.api_url.clone(), client.clone());
            at_provider(&mut printed, &api, number, token, secret.as_ref().ok()).await;
        }
    }
    if let Err(reason) = &secret {
        printed.step("app secret", Err(reason.clone()));
    }
    let local = format!("http://{}/phone/webhook", near(config.listen));
    let webhook = options.webhook.clone().map_or_else(|| local.parse(), Ok)?;
    printed.step("address", verified(&client, &webhook, router).await);
    if let Ok(secret) = &secret {
        let account = number.business_account_id.as_str();
        printed.step("delivery", delivered(&client, &webhook, account, secret).await);
    } else {
        printed.skip(&["delivery"]);
    }
    if webhook.scheme() != "https" {
        printed.text += match options.webhook {
            Some(_) => "The provider needs an address with https, which that of --webhook is not.\n",
            None => "The provider needs an address with https: give yours with --webhook to check it.\n",
        };
    }
    Ok(printed)
}

impl Printed {
    /// Names steps that were left out because another one fails.
    fn skip(&mut self, names: &[&str]) {
        for name in names {
            self.text += &format!("{name}: not checked\n");
        }
    }

    /// Prints a step: what was found, or why it fails.
    fn step(&mut self, name: &str, found: Result<String, String>) {
        let named = |text: String| format!("{name}: {text}");
        self.line(found.map(named).map_err(|reason| format!("{name}: FAILS: {reason}")));
    }
}

async fn stored(wanted: Option<&str>, config: &Config) -> Result<Stored, BoxError> {
    match config.database.schema().await? {
        SchemaState::Current => {}
        SchemaState::Missing => {
            return Err("there is nothing at DATABASE_URL yet: start the server first".into());
        }
        SchemaState::Ahead | SchemaState::Behind(_) => {
            return Err("the database is not one of this version: start the server first".into());
        }
    }
    let store = Arc::new(SqlStore::connect(&config.database, OutboxRoutes::relayed()).await?);
    let found = find(&store, wanted).await;
    store.close().await;
    found
}

async fn find(store: &SqlStore, wanted: Option<&str>) -> Result<Stored, BoxError> {
    let mut tx = store.read().await?;
    let (mut numbers, mut after) = (Vec::new(), None);
    loop {
        let request = PageRequest { limit: PAGE, after };
        let page = tx.channel_numbers().list(None, None, &request).await?;
        numbers.extend(page.items);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let known: Vec<String> = numbers.iter().map(|number| number.phone_number_id.to_string()).collect();
    let number = match wanted {
        Some(id) => numbers.into_iter().find(|number| number.phone_number_id.as_str() == id),
        None if numbers.len() == 1 => numbers.pop(),
        None => None,
    };
    let Some(number) = number else {
        return Err(match known.as_slice() {
            [] => "there is no number yet: docs/phone.md, \"Set a number up\"".into(),
            known => {
                let none =
                    wanted.map(|id| format!("no number has the phoneNumberId {id}; ")).unwrap_or_default();
                format!("{none}give one of these with --number: {}", known.join(", ")).into()
            }
        });
    };
    let router = tx.routers().find(&number.router_id).await?.ok_or("its router is gone")?;
    let flow = match &router.initial_flow_id {
        Some(flow) => tx.flows().find(flow).await?,
        None => None,
    };
    let has_flow = flow.is_some_and(|flow| flow.published_version_id.is_some());
    Ok(Stored { number, router, has_flow })
}

fn flow(Stored { router, has_flow, .. }: &Stored) -> Result<String, String> {
    match (&router.initial_flow_id, has_flow) {
        (None, _) => {
            Err("the router has no initialFlowId: messages are stored, and nobody answers".to_owned())
        }
        (Some(_), false) => Err("the flow of the router is not published".to_owned()),
        (Some(_), true) => Ok("a published flow answers".to_owned()),
    }
}

fn opened(key: &MasterKey, secret: Option<&Encrypted>, none: &str) -> Result<SecretString, String> {
    let secret = secret.ok_or(none)?;
    key.decrypt(secret).map_err(|_| "it cannot be decrypted with CRYPTO_SECRET".to_owned())
}

/// The steps that ask the provider.
async fn at_provider(
    printed: &mut Printed,
    api: &GraphApi,
    number: &ChannelNumber,
    token: &SecretString,
    secret: Option<&SecretString>,
) {
    let account = SendingAccount { id: number.phone_number_id.to_string(), access_token: token.clone() };
    let facts = api.number(&account, None).await;
    let is_let_in = facts.is_ok();
    printed.step(
        "token",
        facts.map_err(|error| refused(&error)).map(|facts| {
            let name = facts.verified_name.unwrap_or_else(|| "without a name".to_owned());
            let quality = facts.quality_rating.unwrap_or_else(|| "UNKNOWN".to_owned());
            format!("the provider knows {} ({name}), quality {quality}", facts.display_phone_number)
        }),
    );
    if !is_let_in {
        return printed.skip(&["app secret", "account", "templates"]);
    }
    if let Some(secret) = secret {
        let proven = api.number(&account, Some(secret)).await;
        printed.step(
            "app secret",
            proven.map(|_| "it is that of the token's app".to_owned()).map_err(|error| refused(&error)),
        );
    }
    let account = TemplateAccount { id: number.business_account_id.clone(), access_token: token.clone() };
    let apps = api.subscribed_apps(&account).await.map_err(|error| refused(&error));
    printed.step(
        "account",
        apps.and_then(|apps| match apps.as_slice() {
            [] => {
                Err("no app hears of the business account: POST /{account}/subscribed_apps, or the console"
                    .to_owned())
            }
            apps => Ok(format!("{} hears of {}", apps.join(", "), account.id)),
        }),
    );
    let templates = api.list(&account, None).await.map_err(|error| refused(&error));
    printed.step(
        "templates",
        templates.map(|page| {
            let approved = page.templates.iter().filter(|one| one.status == "APPROVED").count();
            let more = if page.next.is_some() { ", and there are more" } else { "" };
            format!("{approved} of {} are approved{more}", page.templates.len())
        }),
    );
}

fn refused(error: &SendError) -> String {
    match error {
        SendError::Refused(refusal) => {
            let words = refusal.error.title.as_deref().unwrap_or_default();
            format!("the provider refuses with {}: {words}", refusal.error.code)
        }
        error => Chain(error).to_string(),
    }
}

/// Checks the address as the provider does when it is typed in.
async fn verified(client: &Client, webhook: &Url, router: &Router) -> Result<String, String> {
    let token = router.channel_verify_token.as_deref().ok_or("the router has no channelVerifyToken")?;
    let query = [("hub.mode", "subscribe"), ("hub.verify_token", token), ("hub.challenge", CHALLENGE)];
    let answer = client.get(webhook.clone()).query(&query).send().await;
    let answer = answer.map_err(|error| unreached(webhook, error))?;
    let status = answer.status();
    let body = answer.text().await.unwrap_or_default();
    if status.is_success() && body == CHALLENGE {
        Ok(format!("{webhook} answers the check"))
    } else {
        Err(format!("{webhook} answers the check with {status}: is it this server's, with this router?"))
    }
}

/// Delivers news of nothing, as the provider would sign it.
async fn delivered(
    client: &Client,
    webhook: &Url,
    account: &str,
    secret: &SecretString,
) -> Result<String, String> {
    let entry = json!({ "id": account, "changes": [] });
    let body = json!({ "object": "whatsapp_business_account", "entry": [entry] }).to_string();
    let request = client.post(webhook.clone()).header(SIGNATURE_HEADER, sign(secret, body.as_bytes()));
    let answer = request.header("content-type", "application/json").body(body).send().await;
    let status = answer.map_err(|error| unreached(webhook, error))?.status();
    if status.is_success() {
        Ok("a signed delivery is taken".to_owned())
    } else {
        Err(format!("a signed delivery is answered with {status}; the log of the server says why"))
    }
}

/// The address may hold what is secret; the verify token is in its query.
fn unreached(webhook: &Url, error: reqwest::Error) -> String {
    format!("{webhook} is not reached: {}", Chain(&error.without_url()))
}
