//! Requests to a server, with a login that renews itself.

use std::time::Duration;

use reqwest::header::ACCEPT_LANGUAGE;
use reqwest::{Method, Response, StatusCode};
use secrecy::{ExposeSecret as _, SecretString};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::revisions::Revisions;
use super::{Refusal, RemoteError, Session, SessionFile};
use crate::http_client::client;

/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// The body of a request that has none.
const NOTHING: Option<&()> = None;

/// A user's client of a server.
#[derive(Debug)]
pub struct Client {
    http: reqwest::Client,
    /// Where the login is kept, for other commands too.
    file: Option<SessionFile>,
    session: Session,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    access_token: SecretString,
    refresh_token: SecretString,
}

impl Client {
    /// Logs a user in at the server with the address `url`, and keeps the login in `file`.
    ///
    /// # Errors
    /// [`RemoteError::Address`], [`RemoteError::Refused`], or the server cannot be reached.
    pub async fn login(
        file: SessionFile,
        url: &str,
        email: &str,
        password: &SecretString,
    ) -> Result<Self, RemoteError> {
        let mut client = Self::login_once(url, email, password).await?;
        file.save(&client.session)?;
        client.file = Some(file);
        Ok(client)
    }

    /// The same for this process alone: the login is kept nowhere.
    ///
    /// # Errors
    /// As [`Self::login`].
    pub async fn login_once(url: &str, email: &str, password: &SecretString) -> Result<Self, RemoteError> {
        let url = address(url)?;
        let http = http(&url)?;
        let body = json!({ "email": email, "password": password.expose_secret() });
        let request = http.post(format!("{url}/api/auth/login")).json(&body);
        let tokens: Tokens = read(&url, answer(&url, request).await?).await?;
        let session = Session {
            url,
            email: email.to_owned(),
            access_token: tokens.access_token,
            refresh_token: tokens.refresh_token,
        };
        Ok(Self { http, file: None, session })
    }

    /// Takes up the login that is kept in `file`.
    ///
    /// # Errors
    /// [`RemoteError::NotLoggedIn`].
    pub fn open(file: SessionFile) -> Result<Self, RemoteError> {
        let session = file.load()?.ok_or(RemoteError::NotLoggedIn)?;
        Ok(Self { http: http(&session.url)?, file: Some(file), session })
    }

    /// Returns which revisions the files of the user have.
    ///
    /// # Errors
    /// The login is kept nowhere.
    pub(super) fn revisions(&self) -> Result<Revisions, RemoteError> {
        self.file.as_ref().map(Revisions::beside).ok_or(RemoteError::NotLoggedIn)
    }

    /// The login.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The client of requests that are none of the API.
    pub(crate) fn http(&self) -> &reqwest::Client {
        &self.http
    }

    /// Reads what stands at `path`.
    pub(crate) async fn get<T: DeserializeOwned>(
        &mut self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<T, RemoteError> {
        self.ask(Method::GET, path, query, NOTHING).await
    }

    /// Creates something.
    pub(super) async fn post<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, RemoteError> {
        self.ask(Method::POST, path, &[], Some(body)).await
    }

    /// Does something, for which the path says it all.
    pub(super) async fn act<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, RemoteError> {
        self.ask(Method::POST, path, &[], NOTHING).await
    }

    /// Changes what stands at `path`.
    pub(super) async fn patch<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, RemoteError> {
        self.ask(Method::PATCH, path, &[], Some(body)).await
    }

    /// Voids every token of the user at the server, and forgets the login here.
    ///
    /// # Errors
    /// The server cannot be reached. The login is forgotten all the same.
    pub async fn log_out(mut self) -> Result<(), RemoteError> {
        let told = self.send(Method::POST, "/auth/logout", &[], NOTHING).await;
        if let Some(file) = &self.file {
            file.remove()?;
        }
        told.map(|_answer| ())
    }

    async fn ask<T: DeserializeOwned>(
        &mut self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&impl Serialize>,
    ) -> Result<T, RemoteError> {
        let answer = self.send(method, path, query, body).await?;
        read(&self.session.url, answer).await
    }

    /// Sends a request; one that is refused for the age of its token once more with a new one.
    async fn send(
        &mut self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&impl Serialize>,
    ) -> Result<Response, RemoteError> {
        let mut answer = self.try_send(&method, path, query, body).await?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            self.renew().await?;
            answer = self.try_send(&method, path, query, body).await?;
        }
        let url = &self.session.url;
        if answer.status() == StatusCode::UNAUTHORIZED {
            return Err(RemoteError::LoggedOut { url: url.clone() });
        }
        accepted(url, answer).await
    }

    async fn try_send(
        &self,
        method: &Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&impl Serialize>,
    ) -> Result<Response, RemoteError> {
        let url = &self.session.url;
        let mut request = self.http.request(method.clone(), format!("{url}/api{path}")).query(query);
        request = request.bearer_auth(self.session.access_token.expose_secret());
        if let Some(body) = body {
            request = request.json(body);
        }
        sent(url, request).await
    }

    /// Has new tokens for the refresh token, unless another command did so meanwhile.
    ///
    /// # Errors
    /// [`RemoteError::LoggedOut`], or the server cannot be reached.
    pub(crate) async fn renew(&mut self) -> Result<(), RemoteError> {
        let ended = || RemoteError::LoggedOut { url: self.session.url.clone() };
        if let Some(file) = &self.file {
            let kept = file.load()?.filter(|kept| kept.url == self.session.url).ok_or_else(ended)?;
            if kept.access_token.expose_secret() != self.session.access_token.expose_secret() {
                self.session = kept;
                return Ok(());
            }
            self.session.refresh_token = kept.refresh_token;
        }
        let url = &self.session.url;
        let request = self.http.get(format!("{url}/api/auth/refresh"));
        let request = request.bearer_auth(self.session.refresh_token.expose_secret());
        let answer = sent(url, request).await?;
        if answer.status() == StatusCode::UNAUTHORIZED {
            return Err(ended());
        }
        let tokens: Tokens = read(url, accepted(url, answer).await?).await?;
        self.session.access_token = tokens.access_token;
        self.session.refresh_token = tokens.refresh_token;
        match &self.file {
            Some(file) => file.save(&self.session),
            None => Ok(()),
        }
    }
}

/// Returns an address as requests begin with it.
pub(super) fn address(url: &str) -> Result<String, RemoteError> {
    let parsed = reqwest::Url::parse(url).ok().filter(|parsed| parsed.has_host());
    let web = parsed.filter(|parsed| ["http", "https"].contains(&parsed.scheme()));
    let plain = web.filter(|parsed| parsed.query().is_none() && parsed.fragment().is_none());
    let parsed = plain.ok_or_else(|| RemoteError::Address(url.to_owned()))?;
    let text = parsed.as_str().trim_end_matches('/');
    Ok(text.strip_suffix("/api").unwrap_or(text).to_owned())
}

fn http(url: &str) -> Result<reqwest::Client, RemoteError> {
    client(TIMEOUT).map_err(|error| RemoteError::Unreachable { url: url.to_owned(), error })
}

/// Sends a request, and returns its answer whatever it is.
async fn sent(url: &str, request: reqwest::RequestBuilder) -> Result<Response, RemoteError> {
    let answer = request.header(ACCEPT_LANGUAGE, "en").send().await;
    answer.map_err(|error| RemoteError::Unreachable { url: url.to_owned(), error: error.without_url() })
}

/// Sends a request, and returns its answer if it was accepted.
async fn answer(url: &str, request: reqwest::RequestBuilder) -> Result<Response, RemoteError> {
    accepted(url, sent(url, request).await?).await
}

async fn accepted(url: &str, answer: Response) -> Result<Response, RemoteError> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    match answer.json::<Refusal>().await {
        Ok(refusal) => Err(RemoteError::Refused(refusal)),
        Err(_) => Err(RemoteError::Foreign { url: url.to_owned(), status: status.as_u16() }),
    }
}

async fn read<T: DeserializeOwned>(url: &str, answer: Response) -> Result<T, RemoteError> {
    let status = answer.status().as_u16();
    answer.json().await.map_err(|_| RemoteError::Foreign { url: url.to_owned(), status })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_as_people_write_them() {
        for (text, expected) in [
            ("http://127.0.0.1:8080", Some("http://127.0.0.1:8080")),
            ("https://chat.example.com/", Some("https://chat.example.com")),
            ("https://chat.example.com/api/", Some("https://chat.example.com")),
            ("https://example.com/chat", Some("https://example.com/chat")),
            ("chat.example.com", None),
            ("localhost:8080", None),
            ("ftp://example.com", None),
            ("https://example.com/?a=1", None),
            ("", None),
        ] {
            assert_eq!(address(text).ok().as_deref(), expected, "{text}");
        }
    }
}
