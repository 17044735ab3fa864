//! `MEDIA_*` and `PUBLIC_URL`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use flowsdk_store::sql::DatabaseUrl;
use reqwest::Url;

use super::Environment;

const DAY: Duration = Duration::from_hours(24);
/// Most mebibytes that can be kept free.
const MOST_FREE: u32 = 1 << 30;
/// Where contents are beside a Postgres database, which is nowhere on this machine.
const FOLDER: &str = "media";

/// Where the contents of files are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MediaStore {
    /// In this process.
    Memory,
    /// In a folder.
    Folder {
        /// Its path.
        path: PathBuf,
        /// `MEDIA_KEEP_FREE_MIB`, in bytes: no content is taken while its disk has less than this.
        keep_free: u64,
    },
    /// In a bucket of S3, below a prefix.
    S3 {
        /// The bucket.
        bucket: String,
        /// What the names of the objects begin with.
        prefix: String,
    },
}

/// Settings of files.
#[derive(Debug, Clone)]
pub struct MediaSettings {
    /// `MEDIA_STORE`.
    pub store: MediaStore,
    /// `MEDIA_RETENTION_DAYS`: how long files of contacts are kept. Without it they are kept as long as their messages.
    pub retention: Option<Duration>,
    /// `PUBLIC_URL`: the address at which clients and providers reach this server.
    pub public_url: Option<Url>,
}

/// Reads the settings. Contents are beside the database by default.
pub(super) fn media(env: &mut Environment<'_>, database: &DatabaseUrl) -> MediaSettings {
    let keep_free = u64::from(env.number("MEDIA_KEEP_FREE_MIB", 1_024, 0..=MOST_FREE)) << 20;
    let store = match env.text("MEDIA_STORE") {
        None => beside(database, keep_free),
        Some(text) => match text.strip_prefix("s3://") {
            Some(place) => bucket(env, place),
            None => MediaStore::Folder { path: text.into(), keep_free },
        },
    };
    let days = env.number("MEDIA_RETENTION_DAYS", 0, 0..=36_500);
    let public_url = env.text("PUBLIC_URL").and_then(|text| {
        let is_plain = |url: &Url| {
            matches!(url.scheme(), "https" | "http") && url.query().is_none() && url.fragment().is_none()
        };
        let url = Url::parse(&text).ok().filter(is_plain);
        if url.is_none() {
            env.problem("PUBLIC_URL", "must be an http or https URL without a query");
        }
        url
    });
    MediaSettings { store, retention: (days > 0).then(|| DAY * days), public_url }
}

fn beside(database: &DatabaseUrl, keep_free: u64) -> MediaStore {
    let path = match database {
        DatabaseUrl::SqliteMemory => return MediaStore::Memory,
        DatabaseUrl::SqliteFile { path, .. } => media_beside(path),
        DatabaseUrl::Postgres(_) => FOLDER.into(),
    };
    MediaStore::Folder { path, keep_free }
}

/// Returns the folder of contents beside a database in a file.
pub(crate) fn media_beside(database: &Path) -> PathBuf {
    database.with_extension("media")
}

fn bucket(env: &mut Environment<'_>, place: &str) -> MediaStore {
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    if bucket.is_empty() {
        env.problem("MEDIA_STORE", "must name a bucket, such as s3://bucket/prefix");
    }
    if cfg!(not(feature = "s3")) {
        env.problem("MEDIA_STORE", "needs a server that is built with `--features s3`");
    }
    MediaStore::S3 { bucket: bucket.to_owned(), prefix: prefix.trim_matches('/').to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)], database: &str) -> (MediaSettings, bool) {
        let mut env = Environment::new(|name| {
            let found = values.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        });
        let settings = media(&mut env, &database.parse().expect("a database"));
        (settings, env.finish().is_ok())
    }

    fn folder(path: &str, free_mib: u64) -> MediaStore {
        MediaStore::Folder { path: path.into(), keep_free: free_mib << 20 }
    }

    #[test]
    fn contents_are_beside_the_database() {
        for (database, store) in [
            ("sqlite::memory:", MediaStore::Memory),
            ("sqlite:/data/flowsdk.db", folder("/data/flowsdk.media", 1_024)),
            ("postgres://a@127.0.0.1/b", folder("media", 1_024)),
        ] {
            let (settings, is_ok) = read(&[], database);
            assert!(is_ok && settings.store == store, "{settings:?}");
            assert!(settings.retention.is_none() && settings.public_url.is_none());
        }
        let values =
            [("MEDIA_STORE", "/srv/media"), ("MEDIA_RETENTION_DAYS", "30"), ("MEDIA_KEEP_FREE_MIB", "0")];
        let (settings, is_ok) = read(&values, "sqlite::memory:");
        assert_eq!((settings.store, settings.retention), (folder("/srv/media", 0), Some(DAY * 30)));
        assert!(is_ok);
    }

    #[test]
    fn buckets_and_addresses_are_read() {
        let (settings, is_ok) = read(&[("MEDIA_STORE", "s3://files/shop/")], "sqlite::memory:");
        assert_eq!(settings.store, MediaStore::S3 { bucket: "files".to_owned(), prefix: "shop".to_owned() });
        assert_eq!(is_ok, cfg!(feature = "s3"));
        assert!(!read(&[("MEDIA_STORE", "s3:///shop")], "sqlite::memory:").1);
        for (url, is_good) in [
            ("https://chat.example.com", true),
            ("http://127.0.0.1:8080/api", true),
            ("chat.example.com", false),
            ("ftp://chat.example.com", false),
            ("https://chat.example.com/?a", false),
        ] {
            assert_eq!(read(&[("PUBLIC_URL", url)], "sqlite::memory:").1, is_good, "{url}");
        }
    }
}
