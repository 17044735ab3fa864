//! `GET /widget.js`: the script that puts the chat page into any page (docs/webchat.md, "The widget").
//!
//! `?channel=ID` puts the looks of that channel's launcher before the script. A request of the script for them would
//! need more of a page's content security policy than the script itself.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use flowsdk_channels::webchat::HasWebchat;
use flowsdk_core::chat::Appearance;
use flowsdk_core::fault::{Chain, StorageError};
use flowsdk_core::id::ChannelId;
use flowsdk_core::store::Store;
use http::{HeaderMap, HeaderName, HeaderValue};
use moka::future::Cache;
use rust_embed::RustEmbed;

use super::page::MINUTES;
use crate::api::not_found;
use crate::embedded::{REVALIDATED, StaticFile, StaticFiles};

#[derive(RustEmbed)]
#[folder = "assets/widget/"]
struct Folder;

static FILES: LazyLock<StaticFiles> = LazyLock::new(StaticFiles::of::<Folder>);

const SCRIPT: &str = "widget.js";
/// How long the script of a channel is kept here. A change of the looks shows this much later, and as long as browsers
/// keep the script.
const KEEP_FOR: Duration = Duration::from_secs(10);
/// Most channels whose script is kept, of some 15 KiB each.
const KEPT_CHANNELS: u64 = 200;

const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

pub(super) fn routes<S: Store>(store: Arc<S>) -> Router
where
    S::Tx: HasWebchat,
{
    Router::new().route("/widget.js", get(widget::<S>)).with_state(Arc::new(Scripts::new(store)))
}

/// The scripts of channels.
struct Scripts<S> {
    store: Arc<S>,
    /// `None` of a channel whose launcher looks like any other.
    kept: Cache<ChannelId, Option<Arc<StaticFile>>>,
}

impl<S: Store> Scripts<S>
where
    S::Tx: HasWebchat,
{
    fn new(store: Arc<S>) -> Self {
        Self { store, kept: Cache::builder().max_capacity(KEPT_CHANNELS).time_to_live(KEEP_FOR).build() }
    }

    /// Returns the script with the looks of a channel, or `None` of one that has none or does not exist.
    async fn of(&self, channel: ChannelId) -> Result<Option<Arc<StaticFile>>, Arc<StorageError>> {
        let id = channel.clone();
        self.kept
            .try_get_with(channel, async move {
                let mut tx = self.store.glance().await?;
                let found = tx.webchat().find_channel(&id).await?;
                Ok(found.and_then(|channel| channel.appearance).and_then(with_looks))
            })
            .await
    }
}

/// The script behind the looks of a channel, as it was stored.
fn with_looks(appearance: serde_json::Value) -> Option<Arc<StaticFile>> {
    let looks = serde_json::from_value::<Appearance>(appearance).ok()?.of_widget();
    if looks == Appearance::default() {
        return None;
    }
    let script = FILES.get(SCRIPT)?;
    Some(Arc::new(script.after(&format!("document.currentScript.flowsdkLooks={};\n", looks.to_json()))))
}

/// Pages of every origin load it, those that isolate themselves too.
async fn widget<S: Store>(
    State(scripts): State<Arc<Scripts<S>>>,
    RawQuery(query): RawQuery,
    request: HeaderMap,
) -> Response
where
    S::Tx: HasWebchat,
{
    let channel = query.as_deref().and_then(channel_of);
    let (own, caching) = match channel {
        None => (None, MINUTES),
        Some(channel) => match scripts.of(channel).await {
            Ok(own) => (own, MINUTES),
            Err(error) => {
                tracing::warn!(error = %Chain(&*error), "the looks of a launcher could not be read");
                (None, REVALIDATED)
            }
        },
    };
    let mut response = match own.as_deref().or_else(|| FILES.get(SCRIPT)) {
        Some(file) => file.answer(&request, caching),
        None => not_found().await.into_response(),
    };
    response.headers_mut().insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    response
}

/// The channel that a query names.
fn channel_of(query: &str) -> Option<ChannelId> {
    let (_, id) = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "channel")?;
    ChannelId::parse(&id).ok()
}

#[cfg(test)]
mod tests {
    use http::header;
    use http_body_util::BodyExt as _;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn the_script_is_small() {
        let request = HeaderMap::from_iter([(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br"))]);
        let answer = FILES.get(SCRIPT).expect("a script").answer(&request, MINUTES);
        assert_eq!(answer.headers()[header::CONTENT_ENCODING], "gzip");
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        assert!(body.len() < 6_000, "{} bytes", body.len());
    }

    #[tokio::test]
    async fn looks_stand_before_the_script() {
        assert!(with_looks(json!({ "title": "Shop" })).is_none());
        let own = with_looks(json!({ "launcher": { "greeting": "\"</script>" } })).expect("a script");
        let plain = FILES.get(SCRIPT).expect("a script");
        let read = async |file: &StaticFile| {
            let answer = file.answer(&HeaderMap::new(), MINUTES);
            let tag = answer.headers()[header::ETAG].clone();
            (tag, answer.into_body().collect().await.expect("a body").to_bytes())
        };
        let ((own_tag, own), (tag, plain)) = (read(&own).await, read(plain).await);
        assert_ne!(own_tag, tag);
        let looks = br#"document.currentScript.flowsdkLooks={"launcher":{"greeting":"\"</script>"}};"#;
        assert_eq!(own.strip_prefix(looks.as_slice()), Some([b"\n".as_slice(), &plain].concat().as_slice()));
    }
}
