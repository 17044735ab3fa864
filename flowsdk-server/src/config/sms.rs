//! `SMS_*` and `TWILIO_*`: how text messages leave the house.

use reqwest::Url;
use secrecy::SecretString;

use super::Environment;
use crate::sms::{SmsWebhook, TwilioAccount, TwilioOrigin};

/// Twilio's address, unless the settings name another.
const TWILIO: &str = "https://api.twilio.com";

/// `SMS_DRIVER`, with the settings of the driver.
#[derive(Debug, Clone)]
pub enum SmsSettings {
    /// `log`, the default: the text is written into the log.
    Log,
    /// `none`: nothing is sent.
    None,
    /// `webhook`: posts to the operator.
    Webhook(SmsWebhook),
    /// `twilio`: sends through Twilio's API.
    Twilio(TwilioAccount),
}

/// Reads the section; values of drivers that were not chosen are not looked at.
pub(super) fn sms(env: &mut Environment<'_>) -> SmsSettings {
    let read = match env.text("SMS_DRIVER").as_deref() {
        None | Some("log") => Some(SmsSettings::Log),
        Some("none") => Some(SmsSettings::None),
        Some("webhook") => webhook(env).map(SmsSettings::Webhook),
        Some("twilio") => twilio(env).map(SmsSettings::Twilio),
        Some(_) => {
            env.problem("SMS_DRIVER", "must be log, webhook, twilio or none");
            None
        }
    };
    // Stands in while the problems are gathered; the missing setting has been noted.
    read.unwrap_or(SmsSettings::None)
}

fn webhook(env: &mut Environment<'_>) -> Option<SmsWebhook> {
    let url = address(env, "SMS_WEBHOOK_URL", None);
    let secret = env.secret("SMS_WEBHOOK_SECRET");
    Some(SmsWebhook { url: String::from(url?).into(), secret })
}

fn twilio(env: &mut Environment<'_>) -> Option<TwilioAccount> {
    let account_sid = env.text("TWILIO_ACCOUNT_SID");
    if account_sid.is_none() {
        env.problem("TWILIO_ACCOUNT_SID", "is missing");
    }
    let auth_token: SecretString = env.secret("TWILIO_AUTH_TOKEN");
    let origin = match (env.text("TWILIO_FROM"), env.text("TWILIO_MESSAGING_SERVICE_SID")) {
        (Some(number), None) => Some(TwilioOrigin::From(number)),
        (None, Some(sid)) => Some(TwilioOrigin::MessagingService(sid)),
        (None, None) => {
            env.problem("TWILIO_FROM", "or TWILIO_MESSAGING_SERVICE_SID is missing");
            None
        }
        (Some(_), Some(_)) => {
            env.problem("TWILIO_FROM", "and TWILIO_MESSAGING_SERVICE_SID must not both be set");
            None
        }
    };
    let base_url = address(env, "TWILIO_BASE_URL", Some(TWILIO));
    // `Debug` shows the address; only the account authenticates.
    if base_url.as_ref().is_some_and(|url| !url.username().is_empty() || url.password().is_some()) {
        env.problem("TWILIO_BASE_URL", "must hold no user and no password");
    }
    Some(TwilioAccount { account_sid: account_sid?, auth_token, origin: origin?, base_url: base_url? })
}

/// Reads an http(s) address. Its problems are noted without the address, which may hold a token.
fn address(env: &mut Environment<'_>, name: &str, default: Option<&str>) -> Option<Url> {
    let Some(text) = env.text(name).or_else(|| default.map(str::to_owned)) else {
        env.problem(name, "is missing");
        return None;
    };
    let url = Url::parse(&text).ok().filter(|url| ["http", "https"].contains(&url.scheme()));
    if url.is_none() {
        env.problem(name, "must be an address that begins with http:// or https://");
    }
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: &[(&str, &str)]) -> Result<SmsSettings, Vec<String>> {
        let find = |name: &str| {
            values.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        };
        let mut env = Environment::new(find);
        let settings = sms(&mut env);
        env.finish().map_err(|error| error.problems)?;
        Ok(settings)
    }

    #[test]
    fn the_log_is_the_default() {
        assert!(matches!(read(&[]), Ok(SmsSettings::Log)));
        assert!(matches!(read(&[("SMS_DRIVER", "none")]), Ok(SmsSettings::None)));
        assert_eq!(
            read(&[("SMS_DRIVER", "pigeon")]).expect_err("no driver"),
            ["SMS_DRIVER must be log, webhook, twilio or none"]
        );
    }

    #[test]
    fn everything_that_a_driver_misses_is_said_at_once() {
        let missing = |driver| read(&[("SMS_DRIVER", driver)]).expect_err("incomplete");
        assert_eq!(missing("webhook"), ["SMS_WEBHOOK_URL is missing", "SMS_WEBHOOK_SECRET is missing"]);
        assert_eq!(
            missing("twilio"),
            [
                "TWILIO_ACCOUNT_SID is missing",
                "TWILIO_AUTH_TOKEN is missing",
                "TWILIO_FROM or TWILIO_MESSAGING_SERVICE_SID is missing",
            ]
        );
    }

    #[test]
    fn secrets_are_shown_by_nobody() {
        let values = [
            ("SMS_DRIVER", "webhook"),
            ("SMS_WEBHOOK_URL", "https://sms.example/hook?token=abc123"),
            ("SMS_WEBHOOK_SECRET", "s3cr3t"),
        ];
        let shown = format!("{:?}", read(&values).expect("complete"));
        assert!(!shown.contains("abc123") && !shown.contains("s3cr3t"), "{shown}");
        let mut wrong = values;
        wrong[1].1 = "sms.example/hook?token=abc123";
        let problems = read(&wrong).expect_err("no scheme").join("\n");
        assert!(problems.contains("SMS_WEBHOOK_URL") && !problems.contains("abc123"), "{problems}");
    }

    #[test]
    fn twilio_has_one_origin_and_its_own_host() {
        let mut values = vec![
            ("SMS_DRIVER", "twilio"),
            ("TWILIO_ACCOUNT_SID", "AC1"),
            ("TWILIO_AUTH_TOKEN", "t0k3n"),
            ("TWILIO_MESSAGING_SERVICE_SID", "MG1"),
        ];
        let settings = read(&values).expect("complete");
        assert!(!format!("{settings:?}").contains("t0k3n"));
        let SmsSettings::Twilio(account) = settings else { panic!("another driver") };
        assert_eq!(account.base_url.as_str(), "https://api.twilio.com/");
        assert_eq!(account.origin, TwilioOrigin::MessagingService("MG1".to_owned()));
        values.push(("TWILIO_FROM", "+15005550006"));
        assert!(read(&values).is_err());
    }
}
