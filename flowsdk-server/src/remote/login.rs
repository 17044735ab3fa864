//! `login` and `logout`.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use flowsdk_core::fault::BoxError;
use secrecy::SecretString;

use super::client::address;
use super::{Client, SessionFile};

/// How a user logs in.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct Login {
    /// The address of the server, such as <https://chat.example.com>.
    pub url: String,
    /// The e-mail address of the user; without it, it is asked for.
    #[arg(long)]
    pub email: Option<String>,
}

/// Logs a user in, and keeps the login. The password is that of `FLOWSDK_PASSWORD`, or else asked for at the terminal, or
/// else the first line of standard input.
///
/// # Errors
/// The server refuses or cannot be reached, or there is nothing to ask.
pub async fn login(login: &Login, file: SessionFile) -> Result<String, BoxError> {
    let url = address(&login.url)?;
    let email = match &login.email {
        Some(email) => email.clone(),
        None => asked("E-mail: ")?,
    };
    let client = Client::login(file, &url, &email, &password("Password: ")?).await?;
    Ok(format!("logged in at {} as {email}", client.session().url))
}

/// Ends every login of the user, and forgets the one that is kept.
///
/// # Errors
/// Nobody is logged in, or the server cannot be told.
pub async fn logout(file: SessionFile) -> Result<String, BoxError> {
    let client = Client::open(file)?;
    let text = format!("logged out at {}: every login of this user has ended", client.session().url);
    client.log_out().await?;
    Ok(text)
}

/// Returns the password of the environment, of the terminal without showing it, or of standard input.
fn password(prompt: &str) -> Result<SecretString, BoxError> {
    if let Ok(password) = std::env::var("FLOWSDK_PASSWORD") {
        return Ok(password.into());
    }
    if io::stdin().is_terminal() {
        return Ok(rpassword::prompt_password(prompt)?.into());
    }
    let too_few = "standard input has too few lines: the e-mail, unless --email names it, then the password";
    line().map(SecretString::from).map_err(|_| too_few.into())
}

/// Returns a line of standard input; at a terminal it is asked for.
pub(crate) fn asked(prompt: &str) -> Result<String, BoxError> {
    if io::stdin().is_terminal() {
        let mut err = io::stderr().lock();
        write!(err, "{prompt}")?;
        err.flush()?;
    }
    line()
}

/// Returns the first line of standard input that was not read yet.
pub(crate) fn line() -> Result<String, BoxError> {
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    let line = line.trim_end_matches(['\r', '\n']).to_owned();
    if line.is_empty() { Err("standard input ends before what was asked for".into()) } else { Ok(line) }
}
