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
    /// A weak tag: it names what the file says, in whatever encoding it travels.
    tag: String,
    /// Made when the first browser asks, and shared like the contents: a compressor for each connection would take
    /// 256 KiB for as long as its client reads nothing.
    compressed: OnceLock<Bytes>,
}

impl StaticFile {
    fn of<Folder: RustEmbed>(name: &str) -> Option<Self> {
        let file = Folder::get(name)?;
        Some(Self {
            tag: format!("W/\"{}\"", hex::encode(&file.metadata.sha256_hash()[..8])),
            kind: kind_of(name),
            contents: shared(file.data),
            compressed: OnceLock::new(),
        })
    }

    /// Answers a request for the file: 304 to those who have it, compressed to those who can read it so.
    pub(crate) fn answer(&self, request: &HeaderMap, caching: &'static str) -> Response {
        let common = [
            (header::ETAG, self.tag.as_str()),
            (header::CACHE_CONTROL, caching),
            (header::VARY, "accept-encoding"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        if self.is_known(request) {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        let kind = [(header::CONTENT_TYPE, self.kind)];
        if takes_gzip(request) {
            let encoding = [(header::CONTENT_ENCODING, "gzip")];
            return (common, kind, encoding, self.compressed()).into_response();
        }
        (common, kind, self.contents.clone()).into_response()
    }

    fn is_known(&self, request: &HeaderMap) -> bool {
        let opaque = self.tag.trim_start_matches("W/");
        values(request, &header::IF_NONE_MATCH).any(|tag| tag.trim_start_matches("W/") == opaque)
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

/// Whether the client reads gzip (RFC 9110, 12.5.3): it lists it, and not with a weight of zero.
fn takes_gzip(request: &HeaderMap) -> bool {
    values(request, &header::ACCEPT_ENCODING).any(|part| {
        let (coding, weight) = part.split_once(';').unwrap_or((part, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        coding.trim().eq_ignore_ascii_case("gzip") && weight != Some(0.0)
    })
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
        let files = StaticFiles::of::<Assets>();
        let file = files.get("chat.js").expect("a script");
        let tag = file.tag.clone();
        for (given, known) in [
            (tag.clone(), true),
            (tag.trim_start_matches("W/").to_owned(), true),
            (format!("\"other\", {tag}"), true),
            ("\"other\"".to_owned(), false),
            (String::new(), false),
        ] {
            let value = HeaderValue::from_str(&given).expect("a header");
            let request = HeaderMap::from_iter([(header::IF_NONE_MATCH, value)]);
            assert_eq!(file.is_known(&request), known, "{given}");
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
