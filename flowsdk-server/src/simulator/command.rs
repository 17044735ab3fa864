//! `flowsdk-server simulator`.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use reqwest::Url;
use secrecy::SecretString;
use tokio::net::TcpListener;

use super::{Provider, ProviderConfig, routes};

/// How long the server may take for a webhook.
const TIMEOUT: Duration = Duration::from_secs(10);

/// A provider of the phone channel on this machine, to try numbers without an account.
#[derive(Debug, Args)]
pub struct Simulator {
    /// Where to listen; port 0 means any free one.
    #[arg(long, default_value = "127.0.0.1:8090")]
    listen: SocketAddr,
    /// Where webhooks go: the address of the server with `/phone/webhook`.
    #[arg(long, default_value = "http://127.0.0.1:8080/phone/webhook")]
    callback: Url,
    /// The secret that signs webhooks: the `channelAppSecret` of the router.
    #[arg(long, env = "SIMULATOR_APP_SECRET", hide_env_values = true)]
    app_secret: SecretString,
    /// The business account: the `businessAccountId` of the number.
    #[arg(long)]
    account: String,
    /// The access token that calls have to bring; any is taken without it.
    #[arg(long, env = "SIMULATOR_ACCESS_TOKEN", hide_env_values = true)]
    access_token: Option<SecretString>,
    /// Message ids of another seed differ.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Deliver messages to phones, and let nobody read them.
    #[arg(long)]
    unread: bool,
}

/// Serves until the process is ended.
///
/// # Errors
/// The address cannot be had.
pub async fn run(
    options: Simulator,
    ready: impl FnOnce(SocketAddr) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    let Simulator { listen, callback, app_secret, account, access_token, seed, unread } = options;
    let config = ProviderConfig {
        seed,
        account_id: account,
        app_secret,
        access_token,
        callback: Some(callback),
        reads: !unread,
    };
    let provider = Provider::new(config, OpContext::system(), crate::http_client::client(TIMEOUT)?);
    let listener = TcpListener::bind(listen).await?;
    ready(listener.local_addr()?)?;
    Ok(axum::serve(listener, routes(&provider)).await?)
}
