//! Files that are part of the binary, as browsers get them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::OnceLock;

use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, StatusCode, header};
use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

/// Returns the contents as the body of an answer. All readers share those of the binary: a connection whose client reads
/// nothing keeps its answer for as long as [`ServeConfig::write_timeout`](crate::serve::ServeConfig::write_timeout).
pub(crate) fn shared(contents: Cow<'static, [u8]>) -> Bytes {
    match contents {
        Cow::Borrowed(contents) => Bytes::from_static(contents),
        Cow::Owned(contents) => Bytes::from(contents),
    }
}

/// Asked for anew at each use, because the name stays the same in the next version.
pub(crate) const REVALIDATED: &str = "no-cache";

/// Kept for good, because an address with another version has other contents.
pub(crate) const KEPT: &str = "public, max-age=31536000, immutable";

/// The files of a folder of the binary, by name.
pub(crate) struct StaticFiles(BTreeMap<Cow<'static, str>, StaticFile>);

impl StaticFiles {
    /// Returns the files of a folder.
    pub(crate) fn of<Folder: RustEmbed>() -> Self {
        Self(
            Folder::iter()
                .filter_map(|name| Some((name.clone(), StaticFile::of::<Folder>(&name)?)))
                .collect(),
        )
    }

    /// Returns a file, if the folder has one of this name.
    pub(crate) fn get(&self, name: &str) -> Option<&StaticFile> {
        self.0.get(name)
    }
}

/// A file of the binary.
pub(crate) struct StaticFile {
    contents: Bytes,
    kind: &'static str,
    /// The beginning of the SHA-256 of the contents, in hex. Pages name it in the addresses of their files.
    version: String,
    /// Made when the first browser asks, and shared like the contents: a compressor for each connection would take
    /// 256 KiB for as long as its client reads nothing.
    compressed: OnceLock<Bytes>,
}

impl StaticFile {
    fn of<Folder: RustEmbed>(name: &str) -> Option<Self> {
        let file = Folder::get(name)?;
        Some(Self {
            version: version_of(&file.metadata.sha256_hash()),
            kind: kind_of(name),
            contents: shared(file.data),
            compressed: OnceLock::new(),
        })
    }

    /// Returns the file behind another text, as a file of its own.
    pub(crate) fn after(&self, text: &str) -> Self {
        let contents = Bytes::from([text.as_bytes(), &self.contents].concat());
        Self {
            version: version_of(&Sha256::digest(&contents)),
            kind: self.kind,
            contents,
            compressed: OnceLock::new(),
        }
    }

    /// Returns how long browsers keep the answer to an address with this query: for good where `v` names the contents.
    pub(crate) fn caching(&self, query: Option<&str>) -> &'static str {
        let version = query.and_then(|query| query.strip_prefix("v="));
        if version == Some(self.version.as_str()) { KEPT } else { REVALIDATED }
    }

    /// Answers a request for the file: 304 to those who have it, compressed to those who can read it so.
    pub(crate) fn answer(&self, request: &HeaderMap, caching: &'static str) -> Response {
        let tag = self.tag();
        let common = [
            (header::ETAG, tag.as_str()),
            (header::CACHE_CONTROL, caching),
            (header::VARY, "accept-encoding"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        if is_known(&tag, request) {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        let kind = [(header::CONTENT_TYPE, self.kind)];
        if takes_gzip(request) {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            return (common, kind, encoding, self.compressed()).into_response();
        }
        (common, kind, self.contents.clone()).into_response()
    }

    /// A weak tag: it names what the file says, in whatever encoding it travels.
    fn tag(&self) -> String {
        format!("W/\"{}\"", self.version)
    }

    fn compressed(&self) -> Bytes {
        let compress = || {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&self.contents).and_then(|()| encoder.finish()).map(Bytes::from)
        };
        // Writing into memory does not fail; if it did, nothing would be known of the encoding.
        self.compressed.get_or_init(|| compress().unwrap_or_default()).clone()
    }
}

/// The parts of a header that is a list, without their blanks.
fn values<'a>(headers: &'a HeaderMap, name: &http::HeaderName) -> impl Iterator<Item = &'a str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// Whether the client has what the tag names.
fn is_known(tag: &str, request: &HeaderMap) -> bool {
    let opaque = tag.trim_start_matches("W/");
    values(request, &header::IF_NONE_MATCH).any(|known| known.trim_start_matches("W/") == opaque)
}

/// Whether the client reads gzip (RFC 9110, 12.5.3): it lists it, and not with a weight of zero.
fn takes_gzip(request: &HeaderMap) -> bool {
    values(request, &header::ACCEPT_ENCODING).any(|part| {
        let (coding, weight) = part.split_once(';').unwrap_or((part, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        coding.trim().eq_ignore_ascii_case("gzip") && weight != Some(0.0)
    })
}

/// The version of contents with this SHA-256.
fn version_of(hash: &[u8]) -> String {
    hex::encode(&hash[..8])
}

fn kind_of(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, extension)| extension) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http_body_util::BodyExt as _;

    use super::*;

    #[derive(RustEmbed)]
    #[folder = "assets/chat/"]
    struct Assets;

    fn asking(name: http::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[tokio::test]
    async fn readers_of_a_file_share_one_copy_of_it() {
        let files = StaticFiles::of::<Assets>();
        let file = files.get("chat.js").expect("a script");
        let read = async |request: HeaderMap| {
            let answer = file.answer(&request, REVALIDATED);
            assert_eq!(answer.status(), StatusCode::OK);
            answer.into_body().collect().await.expect("a body").to_bytes()
        };
        let gzip = || asking(header::ACCEPT_ENCODING, "gzip");
        let (first, second) = (read(HeaderMap::new()).await, read(HeaderMap::new()).await);
        assert!(first.len() > 50_000);
        assert_eq!(first.as_ptr(), second.as_ptr());
        let (small, again) = (read(gzip()).await, read(gzip()).await);
        assert!(small.len() < first.len() / 2 && small.starts_with(&[0x1f, 0x8b]), "{}", small.len());
        assert_eq!(small.as_ptr(), again.as_ptr());
    }

    #[test]
    fn those_who_have_the_file_are_not_sent_it_again() {
        for (given, known) in
            [("W/\"a\"", true), ("\"a\"", true), ("\"b\", W/\"a\"", true), ("\"b\"", false), ("", false)]
        {
            assert_eq!(is_known("W/\"a\"", &asking(header::IF_NONE_MATCH, given)), known, "{given}");
        }
    }

    #[test]
    fn an_address_with_the_version_is_kept() {
        let files = StaticFiles::of::<Assets>();
        let file = files.get("chat.js").expect("a script");
        let named = format!("v={}", file.version);
        for (query, caching) in
            [(Some(named.as_str()), KEPT), (Some("v=0123456789abcdef"), REVALIDATED), (None, REVALIDATED)]
        {
            assert_eq!(file.caching(query), caching, "{query:?}");
        }
        // The page names the versions that it was built with.
        let page = files.get("index.html").expect("a page");
        for name in ["chat.js", "chat.css"] {
            let file = files.get(name).expect("a file");
            let address = format!("assets/{name}?v={}", file.version);
            assert!(String::from_utf8_lossy(&page.contents).contains(&address), "{address}");
        }
    }

    #[test]
    fn gzip_is_for_those_who_ask_for_it() {
        for (accepted, takes) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip; q=1", true),
            ("gzip;q=0", false),
            ("gzip;q=0.000", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(takes_gzip(&asking(header::ACCEPT_ENCODING, accepted)), takes, "{accepted}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }
}
