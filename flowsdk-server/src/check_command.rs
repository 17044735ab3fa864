//! `flowsdk-server check-config`: what stands in the way of a start, without one.

use flowsdk_core::fault::{BoxError, Chain};
use flowsdk_store::sql::{DatabaseUrl, SchemaState};

use crate::app::differing;
use crate::config::{Config, Environment};
use crate::printed::Printed;

/// Reads the configuration as `serve` does, and asks the database and Redis. It changes nothing.
pub async fn run(find: impl Fn(&str) -> Option<String> + Copy) -> Printed {
    let mut printed = Printed { text: String::new(), ok: true };
    let config = Config::read(Environment::new(find));
    match &config {
        Ok(config) => printed.line(Ok(format!("configuration: no problem; the roles are {}", config.roles))),
        Err(error) => printed.line(Err(error.to_string().trim_end().to_owned())),
    }
    let env = Environment::new(find);
    // Also when other settings are wrong: whoever puts them right wants to know of both.
    if let Some(Ok(url)) = env.text("DATABASE_URL").map(|text| text.parse::<DatabaseUrl>()) {
        printed.line(database(&url).await);
        if let (Ok(config), Ok(SchemaState::Current)) = (&config, url.schema().await) {
            printed.line(in_common(config).await);
        }
    }
    if let Some(url) = env.text("REDIS_URL") {
        printed.line(redis(&url).await.map_err(|error| format!("redis: {}", Chain(&*error))));
    }
    printed
}

impl Printed {
    pub(crate) fn line(&mut self, found: Result<String, String>) {
        self.ok &= found.is_ok();
        let (Ok(text) | Err(text)) = found;
        self.text += &text;
        self.text.push('\n');
    }
}

async fn database(url: &DatabaseUrl) -> Result<String, String> {
    let engine = url.engine();
    if let DatabaseUrl::SqliteFile { path, .. } = url
        && let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty())
        && !folder.is_dir()
    {
        return Err(format!("database: the folder {} is not there", folder.display()));
    }
    match url.schema().await {
        Err(error) => Err(format!("database: {engine} cannot be used: {}", Chain(&error))),
        Ok(SchemaState::Ahead) => {
            Err(format!("database: {engine} answers; a later version of this program has changed its schema"))
        }
        Ok(SchemaState::Current) => Ok(format!("database: {engine} answers; its schema is current")),
        Ok(SchemaState::Behind(count)) => {
            Ok(format!("database: {engine} answers; the next start runs {count} migration(s)"))
        }
        Ok(SchemaState::Missing) => {
            Ok(format!("database: {engine} can be used; the first start makes the schema"))
        }
    }
}

/// Compares the settings that all processes on the database have in common.
async fn in_common(config: &Config) -> Result<String, String> {
    match differing(config).await {
        Ok(names) if names.is_empty() => Ok("settings in common: those of the database".to_owned()),
        Ok(names) => Err(format!(
            "settings in common: {} differ from those of the processes which have worked on this database; see \
             \"Settings in common\" in docs/configuration.md",
            names.join(", ")
        )),
        Err(error) => Err(format!("settings in common: {}", Chain(&*error))),
    }
}

async fn redis(url: &str) -> Result<String, BoxError> {
    flowsdk_store::redis::connect(url).await?;
    Ok("redis: answers".to_owned())
}
