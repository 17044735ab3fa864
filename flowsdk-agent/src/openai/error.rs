//! How refusals are read.

use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

use crate::model::ModelError;

/// Most characters of a provider's code and of its message that are kept.
const LONGEST_CODE: usize = 100;
const LONGEST_REASON: usize = 300;

/// Returns why a request was refused. `wait` is how long the provider wants to be left alone.
///
/// A message about the account may repeat its key, so only the code of that is kept.
pub(super) fn read_refusal(status: StatusCode, wait: Option<Duration>, body: &[u8]) -> ModelError {
    let body: Value = serde_json::from_slice(body).unwrap_or_default();
    of_error(Some(status), wait, &body["error"])
}

/// Returns why a response failed that came with a status of success.
pub(super) fn of_failed_response(error: &Value) -> ModelError {
    of_error(None, None, error)
}

fn of_error(status: Option<StatusCode>, retry_after: Option<Duration>, error: &Value) -> ModelError {
    let text = |field: &str| error[field].as_str().unwrap_or_default();
    let code = if text("code").is_empty() { text("type") } else { text("code") };
    let code: &str = &code.chars().take(LONGEST_CODE).collect::<String>();
    let short = match status {
        Some(status) => format!("{} {code}", status.as_u16()).trim_end().to_owned(),
        None => code.to_owned(),
    };
    match code {
        "previous_response_not_found" => return ModelError::PreviousLost,
        "context_length_exceeded" | "string_above_max_length" => return ModelError::TooLong,
        "insufficient_quota" | "billing_hard_limit_reached" | "account_deactivated" | "invalid_api_key" => {
            return ModelError::Account { reason: short };
        }
        "rate_limit_exceeded"
        | "server_error"
        | "server_is_overloaded"
        | "slow_down"
        | "overloaded_error" => {
            return ModelError::Unavailable { reason: short, retry_after };
        }
        _ => {}
    }
    match status.map(|status| status.as_u16()) {
        Some(401..=403) => ModelError::Account { reason: short },
        Some(408 | 409 | 425 | 429 | 500..) => ModelError::Unavailable { reason: short, retry_after },
        _ => {
            let message: String = text("message").chars().take(LONGEST_REASON).collect();
            ModelError::Refused { reason: format!("{short}: {message}") }
        }
    }
}

/// Returns how long the provider wants to be left alone: in milliseconds, in seconds, or until a time by its own clock.
pub(super) fn wait_of(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()) {
        return Duration::try_from_secs_f64(millis / 1_000.0).ok();
    }
    let asked = text(RETRY_AFTER.as_str())?;
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let time = |text| httpdate::parse_http_date(text).ok();
    Some(time(asked)?.duration_since(time(text(DATE.as_str())?)?).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_refusal_says_whether_time_or_an_administrator_mends_it() {
        let key = "Incorrect API key provided: sk-secret";
        for (status, error, expected) in [
            (429, json!({ "code": "rate_limit_exceeded" }), "Unavailable"),
            (429, json!({ "type": "insufficient_quota", "code": null, "message": "no money" }), "Account"),
            (401, json!({ "code": "invalid_api_key", "message": key }), "Account"),
            (403, json!({ "message": key }), "Account"),
            (500, json!(null), "Unavailable"),
            (503, json!({ "message": "overloaded" }), "Unavailable"),
            (529, json!({}), "Unavailable"),
            (408, json!({}), "Unavailable"),
            (400, json!({ "code": "previous_response_not_found" }), "PreviousLost"),
            (400, json!({ "code": "context_length_exceeded" }), "TooLong"),
            (400, json!({ "code": "unsupported_parameter", "message": "temperature" }), "Refused"),
            (404, json!({ "code": "model_not_found", "message": "no such model" }), "Refused"),
            (302, json!("text"), "Refused"),
        ] {
            let status = StatusCode::from_u16(status).expect("a status");
            let body = json!({ "error": error }).to_string();
            let read = read_refusal(status, None, body.as_bytes());
            assert!(format!("{read:?}").starts_with(expected), "{status} {error}: {read:?}");
            assert!(!read.to_string().contains("sk-secret"), "{read}");
        }
        let html = read_refusal(StatusCode::BAD_GATEWAY, None, b"<html>");
        assert_eq!(html, ModelError::unavailable("502"));
    }

    #[test]
    fn a_provider_says_how_long_it_wants_to_be_left_alone() {
        let wait = |pairs: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| {
                (name.parse::<HeaderName>().expect("a name"), value.parse().expect("a value"))
            };
            wait_of(&pairs.iter().map(pair).collect::<HeaderMap>())
        };
        let noon = ("date", "Fri, 27 Nov 2026 12:00:00 GMT");
        assert_eq!(wait(&[("retry-after-ms", "1500")]), Some(Duration::from_millis(1_500)));
        assert_eq!(wait(&[("retry-after-ms", "20"), ("retry-after", "9")]), Some(Duration::from_millis(20)));
        assert_eq!(wait(&[("retry-after", "9")]), Some(Duration::from_secs(9)));
        assert_eq!(wait(&[("retry-after", "0.5")]), Some(Duration::from_millis(500)));
        assert_eq!(
            wait(&[noon, ("retry-after", "Fri, 27 Nov 2026 12:00:07 GMT")]),
            Some(Duration::from_secs(7))
        );
        assert_eq!(wait(&[noon, ("retry-after", "Fri, 27 Nov 2026 11:00:00 GMT")]), Some(Duration::ZERO));
        for odd in ["", "soon", "-3", "1e400", "NaN"] {
            assert_eq!(wait(&[("retry-after", odd)]), None, "{odd}");
        }
        assert_eq!(wait(&[]), None);
    }
}
