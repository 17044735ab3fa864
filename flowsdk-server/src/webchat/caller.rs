//! The caller, from the head of a request.

use flowsdk_channels::webchat::{Caller, Handshake};
use http::{Extensions, HeaderMap, header};
use secrecy::SecretString;

/// Address and origin of the caller.
pub(super) fn of<'a>(headers: &'a HeaderMap, extensions: &Extensions, trusted_proxies: u32) -> Caller<'a> {
    Caller {
        address: crate::caller::address(headers, extensions, trusted_proxies),
        origin: headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()),
    }
}

/// The headers `x-channel-id`, `x-user-id`, `x-session-key`, or a bearer token.
pub(super) fn credentials(headers: &HeaderMap) -> Handshake {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let bearer = text("authorization").and_then(|value| value.strip_prefix("Bearer ").map(str::to_owned));
    Handshake {
        channel_id: text("x-channel-id").unwrap_or_default(),
        user_id: text("x-user-id"),
        session_key: text("x-session-key").map(SecretString::from),
        token: bearer.map(SecretString::from),
        since: None,
        embedder: None,
    }
}
