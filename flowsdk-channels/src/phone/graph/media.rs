//! Files that contacts have sent (WhatsApp Cloud API, "Media"): their address is asked for, then read with the same token.

use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flowsdk_core::channel::{MediaSource, MediaSourceError, ProviderFile, SendError, SendingAccount};
use flowsdk_core::fault::BoxError;
use flowsdk_core::media::Content;
use futures_util::stream::{self, StreamExt as _};
use reqwest::{Response, StatusCode, Url};
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::GraphApi;

/// The code of a call that names an object which is not there, or a parameter that is wrong.
const NO_OBJECT: i64 = 100;

/// Hosts that may see the token of an account: names, and `*.name` for all names below one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaHosts(Arc<[String]>);

/// A word in a list of hosts is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("must be names of hosts with commas between, such as lookaside.fbsbx.com,*.fbcdn.net: `{0}` is none")]
pub struct NotAMediaHost(String);

impl Default for MediaHosts {
    /// The hosts of the provider.
    fn default() -> Self {
        Self(["lookaside.fbsbx.com", "*.fbcdn.net", "*.whatsapp.net"].map(str::to_owned).into())
    }
}

impl FromStr for MediaHosts {
    type Err = NotAMediaHost;

    fn from_str(list: &str) -> Result<Self, NotAMediaHost> {
        let words =
            list.split(',').map(|word| word.trim().to_ascii_lowercase()).filter(|word| !word.is_empty());
        let host = |word: String| {
            let name = word.strip_prefix("*.").unwrap_or(&word);
            let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.');
            // A star before a single label would stand for a whole country.
            let is_host = !name.is_empty() && name.bytes().all(is_letter);
            if is_host && (name == word || name.contains('.')) { Ok(word) } else { Err(NotAMediaHost(word)) }
        };
        words.map(host).collect::<Result<Arc<[String]>, _>>().map(Self)
    }
}

impl MediaHosts {
    fn contain(&self, host: &str) -> bool {
        self.0.iter().any(|known| match known.strip_prefix('*') {
            Some(below) => host.len() > below.len() && host.ends_with(below),
            None => host == known,
        })
    }
}

/// Reads files of contacts. Its client has time for a large one.
#[derive(Debug, Clone)]
pub struct GraphMedia {
    api: GraphApi,
    hosts: MediaHosts,
}

/// What the provider says of a file.
struct Told {
    url: Url,
    sha256: Option<String>,
    size: Option<u64>,
}

impl GraphMedia {
    /// Creates a reader that gives tokens to `hosts`, and to the address of `api` itself.
    pub fn new(api: GraphApi, hosts: MediaHosts) -> Self {
        Self { api, hosts }
    }

    async fn resolve(&self, account: &SendingAccount, id: &str) -> Result<Told, MediaSourceError> {
        let url = self.api.at(&[id]).map_err(unanswered)?;
        let request = self.api.client.get(url).query(&[("phone_number_id", &account.id)]);
        let told = self.api.call(request, &account.access_token).await.map_err(unanswered)?;
        told_of(&told).ok_or_else(|| MediaSourceError::Unreached("an answer without an address".into()))
    }

    /// Returns whether the token may be sent to an address: one of the provider's hosts, encrypted, or wherever calls go.
    fn may_see_token(&self, url: &Url) -> bool {
        let own = self.api.base();
        let is_own = url.origin() == own.origin();
        let is_theirs =
            url.scheme() == "https" && url.host_str().is_some_and(|host| self.hosts.contain(host));
        is_own || is_theirs
    }
}

#[async_trait]
impl MediaSource for GraphMedia {
    async fn open(
        &self,
        account: &SendingAccount,
        id: &str,
        most: u64,
    ) -> Result<ProviderFile, MediaSourceError> {
        // An address ends after five minutes; then there is another one.
        for _ in 0..2 {
            let told = self.resolve(account, id).await?;
            if told.size.is_some_and(|size| size > most) {
                return Err(MediaSourceError::TooLarge);
            }
            if !self.may_see_token(&told.url) {
                return Err(MediaSourceError::ForeignHost(
                    told.url.host_str().unwrap_or_default().to_owned(),
                ));
            }
            let request = self.api.client.get(told.url).bearer_auth(account.access_token.expose_secret());
            let answer = request.send().await.map_err(|error| MediaSourceError::Unreached(error.into()))?;
            match answer.status() {
                StatusCode::OK if answer.content_length().is_some_and(|length| length > most) => {
                    return Err(MediaSourceError::TooLarge);
                }
                StatusCode::OK => {
                    return Ok(ProviderFile { sha256: told.sha256, content: content_of(answer) });
                }
                StatusCode::NOT_FOUND => {}
                status => return Err(MediaSourceError::Unreached(format!("HTTP {status}").into())),
            }
        }
        Err(MediaSourceError::Gone)
    }
}

fn unanswered(error: SendError) -> MediaSourceError {
    match error {
        SendError::Refused(refusal) if refusal.error.code == NO_OBJECT => MediaSourceError::Gone,
        SendError::Refused(refusal) => MediaSourceError::Refused(refusal),
        error => MediaSourceError::Unreached(error.into()),
    }
}

/// Reads what the provider says; the size is a number, or the text of one.
fn told_of(told: &Value) -> Option<Told> {
    let size = &told["file_size"];
    Some(Told {
        url: told["url"].as_str()?.parse().ok()?,
        sha256: told["sha256"].as_str().and_then(hex_digest),
        size: size.as_u64().or_else(|| size.as_str()?.parse().ok()),
    })
}

/// Returns a SHA-256 in hexadecimal digits, which is told so or in Base64.
fn hex_digest(text: &str) -> Option<String> {
    let bytes = hex::decode(text).ok().or_else(|| STANDARD.decode(text).ok())?;
    (bytes.len() == 32).then(|| hex::encode(bytes))
}

fn content_of(answer: Response) -> Content {
    let pieces = stream::try_unfold(answer, |mut answer| async move {
        let piece = answer.chunk().await.map_err(BoxError::from)?;
        Ok(piece.map(|piece| (piece, answer)))
    });
    pieces.boxed()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_go_to_the_provider_only() {
        let api = |base: &str| GraphApi::new(base.parse().expect("a URL"), reqwest::Client::new());
        let media = GraphMedia::new(api("https://graph.facebook.com/v24.0"), MediaHosts::default());
        let local =
            GraphMedia::new(api("http://127.0.0.1:8090/v24.0"), "cdn.example".parse().expect("hosts"));
        for (media, url, may) in [
            (&media, "https://lookaside.fbsbx.com/whatsapp_business/attachments/?mid=1", true),
            (&media, "https://mmg.whatsapp.net/a", true),
            (&media, "https://scontent.xx.fbcdn.net/a", true),
            (&media, "https://graph.facebook.com/a", true),
            (&media, "http://lookaside.fbsbx.com/a", false),
            (&media, "https://whatsapp.net/a", false),
            (&media, "https://evilwhatsapp.net/a", false),
            (&media, "https://lookaside.fbsbx.com.evil.example/a", false),
            (&media, "https://lookaside.fbsbx.com@evil.example/a", false),
            (&media, "http://169.254.169.254/a", false),
            (&media, "file:///etc/passwd", false),
            (&local, "http://127.0.0.1:8090/media/1", true),
            (&local, "http://127.0.0.1:8091/media/1", false),
            (&local, "https://cdn.example/1", true),
            (&local, "https://lookaside.fbsbx.com/1", false),
        ] {
            assert_eq!(media.may_see_token(&url.parse().expect("a URL")), may, "{url}");
        }
        for word in ["*", "*.net", "https://a", "a b", "*.", "a/b", "a:1"] {
            assert!(word.parse::<MediaHosts>().is_err(), "{word}");
        }
    }

    #[test]
    fn what_is_said_of_a_file_is_read() {
        let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let base64 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        for (size, sha256, read) in [
            (json!("303833"), json!(digest), (Some(303_833), Some(digest))),
            (json!(303_833), json!(base64), (Some(303_833), Some(digest))),
            (json!(null), json!("zz"), (None, None)),
            (json!("many"), json!(7), (None, None)),
        ] {
            let told = json!({ "url": "https://x.example/a", "file_size": size, "sha256": sha256 });
            let told = told_of(&told).expect("told");
            assert_eq!((told.size, told.sha256.as_deref()), read);
        }
        assert!(told_of(&json!({ "id": "1" })).is_none());
        assert!(told_of(&json!({ "url": "no address" })).is_none());
    }
}
