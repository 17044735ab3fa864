//! The web chat over HTTP and Socket.IO: the socket, the history, the public page.

mod caller;
mod connection;
mod history;
mod page;
mod socket;
mod stream;

pub use socket::{SOCKET_PATH, WebchatSocket};
pub use stream::{SENT_GROUP, SentReporter, tail_outgoing};

use std::sync::Arc;

use axum::Router;
use flowsdk_channels::webchat::{Visitors, WebchatTx};
use flowsdk_core::store::Store;

/// The HTTP routes of the web chat.
pub fn routes<S: Store>(store: Arc<S>, visitors: Arc<Visitors<S>>, trusted_proxies: u32) -> Router
where
    S::Tx: WebchatTx,
{
    history::routes(store, visitors, trusted_proxies).merge(page::routes())
}
