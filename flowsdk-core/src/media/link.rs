//! Links to the contents of files: whoever has one may read the content for a while.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::Value;
use sha2::Sha256;
use zeroize::Zeroizing;

use super::MediaId;
use crate::crypto::MasterKey;
use crate::id::RouterId;
use crate::message::{ContentMessage, FileSource};
use crate::time::{Clock, Timestamp};

/// How long a link can be used at least. It ends at a full hour, so that the links of one hour are the same.
pub const LINK_LIFETIME: Duration = Duration::from_hours(1);

/// Names what the key is for.
const PURPOSE: &str = "flowsdk media links";
const HOUR: i64 = 3_600;
/// The nodes of messages that name a file.
const NODES: [&str; 5] = ["image", "audio", "video", "document", "sticker"];

/// Makes links, and checks them. A link holds for a file of the router for which it was made.
#[derive(Clone)]
pub struct MediaLinks {
    key: Arc<Zeroizing<[u8; 32]>>,
    clock: Arc<dyn Clock>,
    public: Option<Arc<str>>,
    own: Arc<str>,
}

impl fmt::Debug for MediaLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MediaLinks")
            .field("public", &self.public)
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

impl MediaLinks {
    /// Creates links below `public`, the address at which clients reach the server; without it they are paths, and `own` is
    /// the address for providers.
    pub fn new(key: &MasterKey, clock: Arc<dyn Clock>, public: Option<&str>, own: &str) -> Self {
        let base = |text: &str| Arc::from(text.trim_end_matches('/'));
        Self { key: Arc::new(key.derive(PURPOSE)), clock, public: public.map(base), own: base(own) }
    }

    /// Returns a link for clients of this server: a path, where nobody has said at which address they reach it.
    pub fn shown(&self, router: &RouterId, id: &MediaId) -> String {
        self.below(self.public.as_deref().unwrap_or_default(), router, id)
    }

    /// Returns a link for the provider of a channel.
    pub fn sent(&self, router: &RouterId, id: &MediaId) -> String {
        self.below(self.public.as_deref().unwrap_or(&self.own), router, id)
    }

    /// Returns when the links that are made now end.
    pub fn expiry(&self) -> Timestamp {
        Timestamp::from_millis(self.expires() * 1_000)
    }

    /// Returns whether a link to a file of `router` can be used now. The comparison takes the same time for every wrong
    /// signature.
    pub fn allows(&self, router: &RouterId, id: &MediaId, expires: i64, signature: &str) -> bool {
        let is_in_time = expires.saturating_mul(1_000) > self.clock.now().as_millis();
        let signature = hex::decode(signature).unwrap_or_default();
        self.mac(router, id, expires).verify_slice(&signature).is_ok() && is_in_time
    }

    /// Puts links in place of the ids of files in a message that is to be sent.
    pub fn resolve(&self, router: &RouterId, content: &mut ContentMessage) {
        for file in content.files_mut() {
            if let FileSource::Id(text) = file
                && let Some(id) = own_id(text)
            {
                *file = FileSource::Link(self.sent(router, &id));
            }
        }
        if let ContentMessage::Template { template } = content {
            for file in template.components.iter_mut().flat_map(files_of_component) {
                if let Some(id) = file.get("id").and_then(Value::as_str).and_then(own_id) {
                    file.remove("id");
                    file.insert("link".to_owned(), self.sent(router, &id).into());
                }
            }
        }
    }

    /// Returns whether a message may name a file.
    pub fn concern(content: &Value) -> bool {
        content["type"].as_str().is_some_and(|kind| kind == "interactive" || NODES.contains(&kind))
    }

    /// Adds links beside the ids of files in a message that is shown.
    pub fn show(&self, router: &RouterId, content: &mut Value) {
        let node = match content["type"].as_str() {
            Some("interactive") => content.get_mut("interactive").and_then(|node| node.get_mut("header")),
            _ => Some(content),
        };
        let Some(node) = node else { return };
        let file = NODES.iter().find(|kind| node["type"] == **kind).and_then(|kind| node.get_mut(*kind));
        if let Some(file) = file
            && let Some(id) = file["id"].as_str().and_then(own_id)
        {
            file["link"] = self.shown(router, &id).into();
        }
    }

    fn below(&self, base: &str, router: &RouterId, id: &MediaId) -> String {
        let expires = self.expires();
        let signature = hex::encode(self.mac(router, id, expires).finalize().into_bytes());
        format!("{base}/media/{id}/content?expires={expires}&signature={signature}")
    }

    fn expires(&self) -> i64 {
        let seconds = self.clock.now().as_millis() / 1_000 + LINK_LIFETIME.as_secs().cast_signed();
        (seconds / HOUR + 1) * HOUR
    }

    fn mac(&self, router: &RouterId, id: &MediaId, expires: i64) -> Hmac<Sha256> {
        #[allow(clippy::expect_used, reason = "HMAC takes keys of any length")]
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.key[..]).expect("a key");
        mac.update(format!("{router}/{id}/{expires}").as_bytes());
        mac
    }
}

/// Returns where the files of a template's component are: its parameters are in the provider's shape.
fn files_of_component(component: &mut Value) -> impl Iterator<Item = &mut serde_json::Map<String, Value>> {
    let parameters = component.get_mut("parameters").and_then(Value::as_array_mut);
    parameters.into_iter().flatten().filter_map(|parameter| {
        let kind = NODES.iter().find(|kind| parameter["type"] == **kind)?;
        parameter.get_mut(*kind)?.as_object_mut()
    })
}

/// Returns the id of a file of ours. Ids of providers are digits.
fn own_id(text: &str) -> Option<MediaId> {
    let is_theirs = text.bytes().all(|byte| byte.is_ascii_digit());
    (!is_theirs).then(|| MediaId::parse(text).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::time::ManualClock;

    fn links(clock: &ManualClock, public: Option<&str>) -> MediaLinks {
        let key = MasterKey::new("0123456789abcdef0123456789abcdef").expect("a key");
        MediaLinks::new(&key, Arc::new(clock.clone()), public, "http://127.0.0.1:8080/")
    }

    fn parts(link: &str) -> (i64, String) {
        let (_, query) = link.split_once("?expires=").expect("a query");
        let (expires, signature) = query.split_once("&signature=").expect("a signature");
        (expires.parse().expect("a number"), signature.to_owned())
    }

    #[test]
    fn a_link_holds_for_its_file_and_router_until_its_time() {
        let clock = ManualClock::at(1_795_085_820_050);
        let links = links(&clock, None);
        let id = |text: &str| MediaId::parse(text).expect("an id");
        let router = |text: &str| RouterId::parse(text).expect("an id");
        let link = links.shown(&router("r"), &id("file"));
        assert!(link.starts_with("/media/file/content?expires="), "{link}");
        let (expires, signature) = parts(&link);
        let allows = |r: &str, file: &str, expires, signature: &str| {
            links.allows(&router(r), &id(file), expires, signature)
        };
        assert!(allows("r", "file", expires, &signature));
        assert!(!allows("s", "file", expires, &signature), "another router");
        assert!(!allows("r", "elif", expires, &signature), "another file");
        assert!(!allows("r", "file", expires + 3_600, &signature), "a longer time");
        assert!(!allows("r", "file", i64::MAX, &signature));
        for wrong in ["", "zz", &signature[2..], &"0".repeat(64)] {
            assert!(!allows("r", "file", expires, wrong), "{wrong}");
        }
        clock.advance(LINK_LIFETIME);
        assert!(allows("r", "file", expires, &signature), "an hour at least");
        clock.advance(LINK_LIFETIME);
        assert!(!allows("r", "file", expires, &signature), "two hours at most");
    }

    #[test]
    fn messages_get_links_for_files_of_ours() {
        let clock = ManualClock::at(1_795_085_820_050);
        let (paths, public) = (links(&clock, None), links(&clock, Some("https://desk.example/api/")));
        let router = RouterId::parse("r").expect("an id");
        let message = |file: Value| json!({ "type": "image", "image": file });
        let mut shown = message(json!({ "id": "cmine" }));
        paths.show(&router, &mut shown);
        assert!(shown["image"]["link"].as_str().expect("a link").starts_with("/media/cmine/content?"));
        let header = json!({ "type": "document", "document": { "id": "cmine" } });
        let mut shown =
            json!({ "type": "interactive", "interactive": { "type": "button", "header": header } });
        public.show(&router, &mut shown);
        let link = &shown["interactive"]["header"]["document"]["link"];
        assert!(link.as_str().expect("a link").starts_with("https://desk.example/api/media/cmine/content?"));
        for other in [
            message(json!({ "id": "4711" })),
            message(json!({ "link": "https://x.example/a.png" })),
            json!({ "type": "text", "text": { "body": "image" } }),
            json!({ "type": "interactive", "interactive": { "type": "button" } }),
            json!(null),
        ] {
            let mut shown = other.clone();
            paths.show(&router, &mut shown);
            assert_eq!(shown, other);
        }
        let resolved = |links: &MediaLinks, file: Value| {
            let mut content: ContentMessage = serde_json::from_value(message(file)).expect("parses");
            links.resolve(&router, &mut content);
            serde_json::to_value(&content).expect("JSON")["image"].take()
        };
        let link = resolved(&paths, json!({ "id": "cmine", "caption": "a" }));
        assert!(link["link"].as_str().expect("a link").starts_with("http://127.0.0.1:8080/media/cmine/"));
        assert_eq!((&link["caption"], link.get("id")), (&json!("a"), None));
        assert_eq!(resolved(&public, json!({ "id": "4711" })), json!({ "id": "4711" }));
        let template = |file: Value| {
            json!({ "type": "template", "template": { "name": "aviso", "language": { "code": "pt_BR" }, "components": [
                { "type": "header", "parameters": [{ "type": "document", "document": file }] },
                { "type": "body", "parameters": [{ "type": "text", "text": "Ana" }] }] } })
        };
        let resolved = |file: Value| {
            let mut content: ContentMessage = serde_json::from_value(template(file)).expect("parses");
            public.resolve(&router, &mut content);
            let content = serde_json::to_value(&content).expect("JSON");
            assert_eq!(
                content["template"]["components"][1],
                template(json!({}))["template"]["components"][1]
            );
            content["template"]["components"][0]["parameters"][0]["document"].clone()
        };
        let file = resolved(json!({ "id": "cmine", "filename": "menu.pdf" }));
        let link = file["link"].as_str().expect("a link");
        assert!(link.starts_with("https://desk.example/api/media/cmine/content?"), "{link}");
        assert_eq!((file.get("id"), &file["filename"]), (None, &json!("menu.pdf")));
        for other in [json!({ "id": "4711" }), json!({ "link": "https://x.example/a.pdf" })] {
            assert_eq!(resolved(other.clone()), other);
        }
    }
}
