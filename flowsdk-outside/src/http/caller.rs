//! One request, with its redirects.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use flowsdk_core::flow::definition::HttpMethod;
use flowsdk_core::flow::{HttpAnswer, HttpCaller, HttpRequest, MAX_ANSWER, OutsideFailure};
use http::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION};
use http::{Method, StatusCode};
use reqwest::{Client, ClientBuilder, Response, Url, redirect};
use secrecy::ExposeSecret as _;

use super::resolver::{GuardedResolver, NotPublic};
use super::{AllowedHosts, build_trusting};

/// Most redirects that are followed.
pub(super) const MAX_REDIRECTS: usize = 5;
/// How long a connection may take to come about.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Makes requests to public servers, and to those that are allowed by name.
#[derive(Debug, Clone)]
pub struct GuardedHttp {
    pub(super) client: Client,
    allowed: AllowedHosts,
}

/// Returns a client for callers of their own, whose requests take at most `timeout`. It resolves names to public addresses
/// only, and to those that are allowed. An address that is written out is for the caller to check
/// ([`AllowedHosts::permits`]).
///
/// # Errors
/// When TLS cannot be set up.
pub fn guarded_client(allowed: &AllowedHosts, timeout: Duration) -> Result<Client, reqwest::Error> {
    build_trusting(|| guarded(allowed).timeout(timeout))
}

fn guarded(allowed: &AllowedHosts) -> ClientBuilder {
    Client::builder()
        .dns_resolver(Arc::new(GuardedResolver { allowed: allowed.clone() }))
        .redirect(redirect::Policy::none())
        // A proxy of the environment would connect for us, to addresses that nobody checks.
        .no_proxy()
        .connect_timeout(CONNECT_TIMEOUT)
        .user_agent(concat!("FlowSDK/", env!("CARGO_PKG_VERSION")))
}

impl GuardedHttp {
    /// Creates a caller.
    ///
    /// # Errors
    /// When TLS cannot be set up.
    pub fn new(allowed: AllowedHosts) -> Result<Self, reqwest::Error> {
        Ok(Self { client: build_trusting(|| guarded(&allowed))?, allowed })
    }

    async fn follow(&self, request: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        let mut url = Url::parse(request.url.expose_secret()).map_err(|_| bad_request("not an address"))?;
        let mut method = method(request.method);
        let mut headers = headers(request)?;
        let mut body = request.body.as_ref().map(|body| body.expose_secret().to_owned());
        for _ in 0..=MAX_REDIRECTS {
            self.check(&url)?;
            let mut call = self.client.request(method.clone(), url.clone()).headers(headers.clone());
            if let Some(body) = &body {
                call = call.body(body.clone());
            }
            let response = call.send().await.map_err(|error| failure(&error))?;
            let next = next_address(&url, &response).filter(|_| request.follows_redirects);
            let Some(next) = next else {
                return read(response).await;
            };
            let next = next?;
            // A request to one server is not for another.
            if (next.scheme(), next.host_str(), next.port_or_known_default())
                != (url.scheme(), url.host_str(), url.port_or_known_default())
            {
                headers.clear();
                if body.is_some() {
                    return Err(forbidden("a redirect to another server of a request with a body"));
                }
            }
            let becomes_get = match response.status() {
                StatusCode::SEE_OTHER => true,
                StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND => method == Method::POST,
                _ => false,
            };
            if becomes_get {
                method = Method::GET;
                body = None;
                headers.remove(CONTENT_TYPE);
            }
            url = next;
        }
        Err(forbidden(format!("more than {MAX_REDIRECTS} redirects")))
    }

    /// Refuses other schemes than HTTP, and addresses that are written out and not public: the resolver is not
    /// asked for those.
    pub(super) fn check(&self, url: &Url) -> Result<(), OutsideFailure> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(forbidden("only http and https"));
        }
        let host = url.host_str().ok_or_else(|| bad_request("an address without a server"))?;
        if self.allowed.permits(host) {
            return Ok(());
        }
        tracing::warn!(
            host,
            "an address that is not public: refused (the server allows those in FLOW_HTTP_ALLOWED_HOSTS)"
        );
        Err(forbidden("the server's address is not public"))
    }
}

#[async_trait]
impl HttpCaller for GuardedHttp {
    async fn call(&self, request: &HttpRequest) -> Result<HttpAnswer, OutsideFailure> {
        match tokio::time::timeout(request.timeout, self.follow(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(OutsideFailure::new("http_timeout", "no whole answer in time")),
        }
    }
}

fn method(method: HttpMethod) -> Method {
    match method {
        HttpMethod::Get => Method::GET,
        HttpMethod::Post => Method::POST,
        HttpMethod::Put => Method::PUT,
        HttpMethod::Patch => Method::PATCH,
        HttpMethod::Delete => Method::DELETE,
    }
}

fn headers(request: &HttpRequest) -> Result<HeaderMap, OutsideFailure> {
    let mut headers = HeaderMap::new();
    if request.is_json {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    for (name, value) in &request.headers {
        let name: HeaderName = name.parse().map_err(|_| bad_request("not the name of a header"))?;
        let mut value: HeaderValue =
            value.expose_secret().parse().map_err(|_| bad_request("not the value of a header"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Where a redirect leads, if the answer is one.
pub(super) fn next_address(url: &Url, response: &Response) -> Option<Result<Url, OutsideFailure>> {
    if !response.status().is_redirection() {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    let next = location.to_str().ok().and_then(|location| url.join(location).ok());
    Some(next.ok_or_else(|| bad_request("a redirect to what is no address")))
}

async fn read(mut response: Response) -> Result<HttpAnswer, OutsideFailure> {
    let status = response.status().as_u16();
    let too_large = || OutsideFailure::new("http_too_large", format!("more than {MAX_ANSWER} bytes"));
    let content_type = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let content_type = content_type.map(str::to_owned);
    let announced = response.content_length().unwrap_or(0);
    if announced > MAX_ANSWER as u64 {
        return Err(too_large());
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failure(&error))? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(too_large());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(HttpAnswer { status, content_type, body })
}

/// Without the address, which may hold secrets.
pub(super) fn failure(error: &reqwest::Error) -> OutsideFailure {
    let mut source: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(cause) = source {
        if cause.is::<NotPublic>() {
            // As a name that does not exist: a caller must not learn the names of the network around this server.
            return OutsideFailure::new("http_unreachable", "no connection");
        }
        source = cause.source();
    }
    if error.is_timeout() {
        return OutsideFailure::new("http_timeout", "no connection in time");
    }
    let what = if error.is_connect() { "no connection" } else { "the connection broke" };
    OutsideFailure::new("http_unreachable", what)
}

pub(super) fn forbidden(message: impl Into<String>) -> OutsideFailure {
    OutsideFailure::new("http_forbidden", message)
}

pub(super) fn bad_request(message: &str) -> OutsideFailure {
    OutsideFailure::new("http_bad_request", message)
}
