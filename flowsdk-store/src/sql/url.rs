//! The address of a database.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

/// The point that a commit to a SQLite file waits for. Either way nothing is lost when the process dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// For the disk: answered work outlives a loss of power.
    #[default]
    Full,
    /// For nothing; checkpoints wait for the disk. When the machine stops, the last moments may be lost, as a whole.
    Normal,
}

/// Where the data is: `sqlite:PATH`, `sqlite:PATH?synchronous=normal`, `sqlite::memory:` or `postgres://...`.
#[derive(Clone)]
pub enum DatabaseUrl {
    /// A SQLite database in a file.
    SqliteFile {
        /// The path of the file.
        path: PathBuf,
        /// The point that a commit waits for.
        synchronous: Synchronous,
    },
    /// A database of this process alone.
    SqliteMemory,
    /// A Postgres server and its database.
    Postgres(Box<PgConnectOptions>),
}

impl DatabaseUrl {
    /// Returns the name of the engine, for people: `SQLite`, `SQLite in memory` or `PostgreSQL`.
    pub fn engine(&self) -> &'static str {
        match self {
            Self::SqliteFile { .. } => "SQLite",
            Self::SqliteMemory => "SQLite in memory",
            Self::Postgres(_) => "PostgreSQL",
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SqliteFile { path, .. } => write!(f, "sqlite:{}", path.display()),
            Self::SqliteMemory => f.write_str("sqlite::memory:"),
            Self::Postgres(options) => {
                write!(f, "postgres://{}:{}/..", options.get_host(), options.get_port())
            }
        }
    }
}

/// The error for a text that is not a database address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be sqlite:PATH, sqlite:PATH?synchronous=normal (or full), sqlite::memory: or postgres://USER:PASSWORD@HOST:PORT/DATABASE"
)]
pub struct InvalidDatabaseUrl;

impl FromStr for DatabaseUrl {
    type Err = InvalidDatabaseUrl;

    fn from_str(text: &str) -> Result<Self, InvalidDatabaseUrl> {
        match text.split_once(':') {
            Some(("sqlite", ":memory:")) => Ok(Self::SqliteMemory),
            Some(("sqlite", path)) => {
                let path = path.strip_prefix("//").unwrap_or(path);
                let (path, synchronous) = match path.split_once('?') {
                    None => (path, Synchronous::Full),
                    Some((path, "synchronous=full")) => (path, Synchronous::Full),
                    Some((path, "synchronous=normal")) => (path, Synchronous::Normal),
                    Some(_) => return Err(InvalidDatabaseUrl),
                };
                if path.is_empty() || path == ":memory:" {
                    return Err(InvalidDatabaseUrl);
                }
                Ok(Self::SqliteFile { path: path.into(), synchronous })
            }
            Some(("postgres" | "postgresql", _)) => {
                text.parse().map(|options| Self::Postgres(Box::new(options))).map_err(|_| InvalidDatabaseUrl)
            }
            _ => Err(InvalidDatabaseUrl),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_what_their_commits_wait_for() {
        for (text, file, waits) in [
            ("sqlite:a/b.db", "a/b.db", Synchronous::Full),
            ("sqlite:///a/b.db", "/a/b.db", Synchronous::Full),
            ("sqlite:b.db?synchronous=full", "b.db", Synchronous::Full),
            ("sqlite:b.db?synchronous=normal", "b.db", Synchronous::Normal),
        ] {
            let Ok(DatabaseUrl::SqliteFile { path, synchronous }) = text.parse() else { panic!("{text}") };
            assert_eq!((path, synchronous), (file.into(), waits), "{text}");
        }
        assert!(matches!("sqlite::memory:".parse(), Ok(DatabaseUrl::SqliteMemory)));
        for text in [
            "",
            "b.db",
            "sqlite:",
            "sqlite:?synchronous=normal",
            "sqlite:b.db?synchronous=off",
            "sqlite:b.db?x=1",
            "sqlite::memory:?synchronous=normal",
        ] {
            assert!(text.parse::<DatabaseUrl>().is_err(), "{text}");
        }
    }
}
