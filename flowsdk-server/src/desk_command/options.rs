//! Where the desk is, and who sits at it.

use std::io::IsTerminal as _;
use std::path::PathBuf;

use flowsdk_core::fault::BoxError;
use secrecy::SecretString;

use crate::demo::DeskLogin;
use crate::remote::Client;
use crate::remote::login::{asked, line};

/// Where a server listens that nobody named.
const NEAR: &str = "http://127.0.0.1:8080";

/// Where the desk is, and who sits at it.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Options {
    /// The address of the server. By default that of the demonstration of `--data`, otherwise <http://127.0.0.1:8080>.
    #[arg(long)]
    pub url: Option<String>,
    /// The e-mail address of the user. By default the first agent of `--data`, otherwise it is asked for.
    #[arg(long)]
    pub email: Option<String>,
    /// The data folder of `demo`, which has the password of its agents.
    #[arg(long)]
    pub data: Option<PathBuf>,
    /// Take the password from the first line of standard input; commands follow.
    #[arg(long)]
    pub password_stdin: bool,
    /// Print every news item and every answer as one line of JSON, for scripts.
    #[arg(long)]
    pub json: bool,
}

impl Options {
    /// Logs the user in.
    ///
    /// # Errors
    /// The server refuses or cannot be reached, or there is no password.
    pub(super) async fn log_in(&self) -> Result<Client, BoxError> {
        let known = self.data.as_deref().map(DeskLogin::read).transpose()?;
        let url = self.url.as_deref().or(known.as_ref().map(|known| known.url.as_str())).unwrap_or(NEAR);
        let first = known.as_ref().and_then(|known| known.emails.first());
        let email = match self.email.as_ref().or(first) {
            Some(email) => email.clone(),
            None if is_asked() => asked("E-mail: ")?,
            None => {
                return Err(
                    "there is no e-mail address: give --email, or the --data of a demonstration".into()
                );
            }
        };
        let of_demo = known.as_ref().and_then(|known| known.password_of(&email));
        let password = match of_demo {
            Some(password) if !self.password_stdin => password,
            _ => self.password()?,
        };
        Ok(Client::login_once(url, &email, &password).await?)
    }

    /// Returns the password of standard input, of the environment, or of the terminal without showing it.
    fn password(&self) -> Result<SecretString, BoxError> {
        if self.password_stdin {
            return line().map(SecretString::from);
        }
        if let Ok(password) = std::env::var("FLOWSDK_PASSWORD") {
            return Ok(password.into());
        }
        if is_asked() {
            return Ok(rpassword::prompt_password("Password: ")?.into());
        }
        Err("there is no password: set FLOWSDK_PASSWORD, or give --password-stdin, or the --data of a demonstration"
            .into())
    }
}

/// Returns whether somebody can be asked. Other input is commands.
fn is_asked() -> bool {
    std::io::stdin().is_terminal()
}
