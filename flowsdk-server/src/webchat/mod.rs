//! The web chat over HTTP and Socket.IO: the socket, the history, the test channel, the public page.

mod caller;
mod connection;
mod document;
mod history;
mod media;
mod page;
mod refusal;
mod socket;
mod standing;
mod stream;
mod test_messages;
mod widget;

pub(crate) use document::describe;
pub(crate) use page::{assets, icon};
pub use socket::{SOCKET_PATH, WebchatSocket};
pub use stream::tail_outgoing;

pub(crate) use test_messages::operation as test_messages;

use std::sync::Arc;

use axum::Router;
use flowsdk_channels::webchat::{Limits, TestChat, Visitors};
use flowsdk_core::media::{MediaFiles, MediaLinks};
use flowsdk_store::sql::SqlStore;

/// The HTTP routes of the web chat.
pub fn routes(
    store: Arc<SqlStore>,
    visitors: Arc<Visitors<SqlStore>>,
    test_chat: Arc<TestChat<SqlStore>>,
    (files, links): (Arc<MediaFiles<SqlStore>>, Arc<MediaLinks>),
    limits: Arc<Limits>,
    trusted_proxies: u32,
) -> Router {
    let uploads = media::Services { visitors: Arc::clone(&visitors), files, limits, trusted_proxies };
    history::routes(Arc::clone(&store), visitors, Arc::clone(&links), trusted_proxies)
        .merge(media::routes(uploads))
        .merge(test_messages::routes(test_chat, links, trusted_proxies))
        .merge(page::routes())
        .merge(widget::routes(store))
}
