//! The phone of the demonstration: a number of its router, and the provider in the box.

use std::net::SocketAddr;
use std::time::Duration;

use flowsdk_channels::channel_number::{ChannelNumber, E164, HasChannelNumbers, ProviderId};
use flowsdk_channels::phone::graph::API_VERSION;
use flowsdk_core::context::OpContext;
use flowsdk_core::crypto::MasterKey;
use flowsdk_core::fault::BoxError;
use flowsdk_core::id::ChannelNumberId;
use flowsdk_core::router::HasRouterCatalog;
use flowsdk_core::store::{Store, Transaction as _};
use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};

use super::Demo;
use crate::http_client::near;
use crate::simulator::{API_PATH, PHONE, Provider, ProviderConfig, Reach, Shown, seed_at};

/// The provider's id of the number.
const NUMBER: &str = "100000000000001";
/// The provider's id of the business account.
const ACCOUNT: &str = "100000000000002";
/// The number itself, which nobody has.
const DIGITS: &str = "15550100000";
const TIMEOUT: Duration = Duration::from_secs(10);

/// Returns where the demonstration calls its own provider.
pub fn api_url(address: SocketAddr) -> String {
    format!("http://{}{API_PATH}/{API_VERSION}", near(address))
}

/// Gives the router of the demonstration a number, once, and returns the provider that it talks to.
///
/// # Errors
/// The database cannot be written.
pub async fn phone<S: Store>(
    store: &S,
    cx: &OpContext,
    key: &MasterKey,
    demo: &Demo,
    address: SocketAddr,
) -> Result<(Provider, Shown), BoxError>
where
    S::Tx: HasRouterCatalog + HasChannelNumbers,
{
    let mut tx = store.begin().await?;
    let mut secret = SecretString::from(cx.ids().secret(2));
    let mut business = "FlowSDK".to_owned();
    // A router that was deleted is not made again.
    if let Some(mut router) = tx.router_catalog().find_for_update(&demo.router_id).await? {
        business.clone_from(&router.name);
        match router.channel_app_secret.as_ref().map(|known| key.decrypt(known)) {
            Some(known) => secret = known?,
            None => {
                router.channel_app_secret = Some(key.encrypt(secret.expose_secret()));
                router.phone.read_receipts = true;
                router.phone.typing_indicator = true;
                tx.router_catalog().save(&router).await?;
            }
        }
        tx.channel_numbers().insert_if_absent(&number(cx, key, demo)?).await?;
    }
    tx.commit().await?;
    let callback = Url::parse(&format!("http://{}/phone/webhook", near(address)))?;
    let config = ProviderConfig {
        seed: seed_at(cx.now()),
        account_id: ACCOUNT.to_owned(),
        app_secret: secret,
        access_token: None,
        callback: Some(callback),
        reach: Reach::Delivered,
        business,
        approves_templates: true,
    };
    let provider = Provider::new(config, cx.clone(), crate::http_client::client(TIMEOUT)?);
    Ok((provider, Shown { number: NUMBER.to_owned(), phone: PHONE.to_owned(), is_alone: false }))
}

fn number(cx: &OpContext, key: &MasterKey, demo: &Demo) -> Result<ChannelNumber, BoxError> {
    Ok(ChannelNumber {
        id: ChannelNumberId::generate(cx.ids()),
        router_id: demo.router_id.clone(),
        name: "Simulator".to_owned(),
        phone_number_id: ProviderId::parse(NUMBER)?,
        phone_number: E164::parse(DIGITS)?,
        business_account_id: ProviderId::parse(ACCOUNT)?,
        access_token: Some(key.encrypt("simulator")),
        keys: None,
        active: true,
        created_at: cx.now(),
        updated_at: cx.now(),
    })
}
