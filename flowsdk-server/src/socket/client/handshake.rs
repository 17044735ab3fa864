//! The opening of a websocket by a request of the HTTP client.

use http::header::{CONNECTION, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE};
use reqwest::{Client, StatusCode, Upgraded, Version};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::Role;

/// The reason why there is no websocket.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// No answer came.
    #[error("no websocket: {0}")]
    Unreachable(#[from] reqwest::Error),
    /// The answer is not that of a websocket.
    #[error("no websocket: the answer has status {0}")]
    Refused(StatusCode),
}

/// Opens a websocket at `url`, an address of `http` or `https`.
///
/// # Errors
/// [`HandshakeError`].
pub async fn upgrade(http: &Client, url: &str) -> Result<WebSocketStream<Upgraded>, HandshakeError> {
    let key = generate_key();
    let request = http.get(url).version(Version::HTTP_11).header(CONNECTION, "Upgrade");
    let request = request.header(UPGRADE, "websocket").header(SEC_WEBSOCKET_VERSION, "13");
    let answer = request.header(SEC_WEBSOCKET_KEY, &key).send().await.map_err(reqwest::Error::without_url)?;
    let is_accepted = answer
        .headers()
        .get(SEC_WEBSOCKET_ACCEPT)
        .is_some_and(|accepted| accepted.as_bytes() == derive_accept_key(key.as_bytes()).as_bytes());
    if answer.status() != StatusCode::SWITCHING_PROTOCOLS || !is_accepted {
        return Err(HandshakeError::Refused(answer.status()));
    }
    Ok(WebSocketStream::from_raw_socket(answer.upgrade().await?, Role::Client, None).await)
}
