//! The header `Idempotency-Key` (rulings H13).

use std::fmt;

use axum::extract::{FromRequest, Request};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use flowsdk_core::idempotency::{IdempotencyKey, IdempotentRequest, StoredAnswer};
use flowsdk_core::text::Text;
use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sha2::Sha256;
use utoipa::{IntoParams, ToSchema};

use super::body::{self, BodyText, LIMIT, Place};
use super::error::{ApiError, Problems};
use super::guard::Caller;
use super::reply;
use super::state::ApiState;

/// The caller's name for a request.
pub(super) const KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// Says that an answer was given before.
pub(super) const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// Makes the digests that tell requests apart. Keyed, because a body may hold a password: a plain hash of it would
/// let whoever reads the database try passwords much faster than their bcrypt.
#[derive(Clone)]
pub struct Digests(Hmac<Sha256>);

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Digests")
    }
}

impl Digests {
    /// Digests under a key of their own, made of a secret that every process has.
    #[allow(clippy::expect_used, reason = "HMAC takes a key of any length")]
    pub fn new(secret: &SecretString) -> Self {
        let mut key = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()).expect("any length");
        key.update(b"flowsdk idempotency digest");
        let key = key.finalize().into_bytes();
        Self(Hmac::new_from_slice(&key).expect("any length"))
    }

    /// The digest of a request; a route has one, whichever of its two paths is used. `target` is its path, with
    /// the query where that decides the use of the body.
    fn digest(&self, method: &str, target: &str, body: &[u8]) -> String {
        let mut mac = self.0.clone();
        let target = target.strip_prefix("/api").unwrap_or(target);
        for part in [method.as_bytes(), b"\0", target.as_bytes(), b"\0", body] {
            mac.update(part);
        }
        hex::encode(mac.finalize().into_bytes())
    }
}

/// The key of a request and the digest that tells it apart from others; nothing without a key.
pub(super) type Keyed = Option<(IdempotencyKey, String)>;

/// The parts of a request's head that are needed when its body is there.
#[derive(Debug)]
pub(super) struct Head {
    key: Option<IdempotencyKey>,
    method: String,
    target: String,
    /// Of a body that is not JSON: the same bytes are another table in another character set.
    kind: String,
}

impl Head {
    /// The head of a request, whose query counts or not.
    ///
    /// # Errors
    /// 400 for a key that is none.
    pub(super) fn of(request: &Request, query_counts: bool) -> Result<Self, ApiError> {
        let mut target = request.uri().path().to_owned();
        if let Some(query) = request.uri().query().filter(|_| query_counts) {
            target.push('?');
            target.push_str(query);
        }
        let kind = request.headers().get(header::CONTENT_TYPE).filter(|_| !body::is_json(request.headers()));
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
        let key = key(request.headers())?;
        Ok(Self { key, method: request.method().to_string(), target, kind })
    }

    /// With the digest of the body; that of a large one is made where nobody waits for it.
    pub(super) async fn with(self, bytes: &Bytes, state: &ApiState) -> Result<Keyed, ApiError> {
        let Some(key) = self.key else {
            return Ok(None);
        };
        let (digests, bytes) = (state.digests().clone(), bytes.clone());
        let target = self.target + &self.kind;
        let size = bytes.len();
        let digest = body::aside(size, move || digests.digest(&self.method, &target, &bytes)).await?;
        Ok(Some((key, digest)))
    }
}

/// A request whose effect is to be had once, if it has a key. Keys of different callers are different.
pub(super) fn of_caller(keyed: Keyed, caller: &Caller) -> Option<IdempotentRequest> {
    let principal_id = || caller.principal().id().to_owned();
    keyed.map(|(key, digest)| IdempotentRequest { principal_id: principal_id(), key, digest })
}

/// A JSON body whose request takes effect once, if it has a key. With `QUERY`, the query is
/// compared too: it decides the treatment of the body.
#[derive(Debug)]
pub struct Idempotent<T, const MAX: usize = LIMIT, const QUERY: bool = false> {
    body: T,
    text: BodyText,
    keyed: Keyed,
    place: Option<Place>,
}

impl<T, const MAX: usize, const QUERY: bool> Idempotent<T, MAX, QUERY> {
    /// The place of a large body, to be held until the work on it is done.
    pub fn place(&mut self) -> Option<Place> {
        self.place.take()
    }

    /// Returns the text of the body.
    pub fn text(&self) -> BodyText {
        self.text.clone()
    }

    /// The body, and the request as far as its effect is to be had once. Keys of different callers are different.
    pub fn of(self, caller: &Caller) -> (T, Option<IdempotentRequest>) {
        (self.body, of_caller(self.keyed, caller))
    }
}

impl<T, const MAX: usize, const QUERY: bool> FromRequest<ApiState> for Idempotent<T, MAX, QUERY>
where
    T: ToSchema + DeserializeOwned + Send + 'static,
{
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &ApiState) -> Result<Self, ApiError> {
        let head = Head::of(&request, QUERY)?;
        let (place, request) = state.large_bodies().admit(request, MAX).await?;
        let bytes = body::bytes(request, MAX).await?;
        let keyed = head.with(&bytes, state).await?;
        Ok(Self { body: body::decoded(bytes.clone()).await?, text: BodyText::of(bytes), keyed, place })
    }
}

fn key(headers: &HeaderMap) -> Result<Option<IdempotencyKey>, ApiError> {
    let Some(value) = headers.get(KEY) else {
        return Ok(None);
    };
    let key = value.to_str().ok().and_then(|text| IdempotencyKey::parse(text).ok());
    key.map(Some).ok_or_else(|| {
        let must = Text::new(
            "Deve ter de 1 a 255 caracteres ASCII visíveis",
            "Must have 1 to 255 visible characters of ASCII",
        );
        ApiError::invalid(Problems::one("Idempotency-Key", must))
    })
}

/// The header in the document.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Header)]
#[allow(dead_code, reason = "the document is made of it")]
pub struct IdempotencyParams {
    /// The caller's name for this request: within 24 hours the same name and body get the first answer again, with
    /// `idempotency-replayed: true`; the same name and another body a 409.
    #[param(rename = "Idempotency-Key", value_type = String, required = false, min_length = 1, max_length = 255, example = "8f14e45f-ea3b")]
    idempotency_key: Option<String>,
}

/// The answer to a create, as it is kept for repetitions.
pub(super) fn stored(record: &impl Serialize) -> StoredAnswer {
    stored_as(StatusCode::CREATED, record)
}

/// The same with another status.
pub(super) fn stored_as(status: StatusCode, record: &impl Serialize) -> StoredAnswer {
    // Of our own records, which have text keys and finite numbers: nothing can go wrong.
    let body = serde_json::to_string(record).unwrap_or_default();
    StoredAnswer { status: status.as_u16(), body }
}

/// An answer that was given before.
#[derive(Debug)]
pub struct Replayed<C = &'static str> {
    /// The answer.
    pub answer: StoredAnswer,
    /// The collection of the record that it shows, such as `/users`.
    pub collection: C,
}

impl<C: AsRef<str>> IntoResponse for Replayed<C> {
    fn into_response(self) -> Response {
        let record: Option<Value> = serde_json::from_str(&self.answer.body).ok();
        let status = StatusCode::from_u16(self.answer.status).unwrap_or(StatusCode::OK);
        let mut response = reply::json_bytes(status, self.answer.body);
        // The resource of an import is the router of its report.
        let id = |record| ["id", "routerId"].iter().find_map(|field| Value::get(record, field)?.as_str());
        if status == StatusCode::CREATED
            && let Some(id) = record.as_ref().and_then(id)
        {
            response = reply::with_location(response, self.collection.as_ref(), id);
        }
        response.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_of_method_path_and_body_and_of_the_secret() {
        let digests = Digests::new(&SecretString::from("a secret"));
        let first = digests.digest("POST", "/users", b"{}");
        assert_eq!(first, digests.digest("POST", "/api/users", b"{}"));
        for other in [
            digests.digest("PUT", "/users", b"{}"),
            digests.digest("POST", "/groups", b"{}"),
            digests.digest("POST", "/users?a=b", b"{}"),
            digests.digest("POST", "/users", b"{ }"),
            Digests::new(&SecretString::from("another")).digest("POST", "/users", b"{}"),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn a_key_is_visible_ascii() {
        let with = |value: &'static [u8]| {
            let mut headers = HeaderMap::new();
            headers.insert(KEY, HeaderValue::from_bytes(value).expect("a value"));
            key(&headers)
        };
        assert!(key(&HeaderMap::new()).is_ok_and(|key| key.is_none()));
        assert!(with(b"order-1").is_ok_and(|key| key.is_some()));
        for bad in [&b""[..], b"a b", b"\xff"] {
            assert_eq!(with(bad).expect_err("refused").details()[0].field(), "Idempotency-Key");
        }
    }
}
