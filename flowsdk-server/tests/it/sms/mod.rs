//! The SMS adapters, on the wire.

mod log;
mod twilio;
mod webhook;

use std::time::Duration;

use flowsdk_auth::sms::{Sms, SmsError, SmsPurpose};
use flowsdk_core::fault::Chain;

/// Never reached in a test that is not about it.
const PATIENCE: Duration = Duration::from_secs(5);
/// What no error and no `Debug` may show.
const CODE: &str = "493817";

fn sms() -> Sms {
    Sms {
        to: "5511999990000".to_owned(),
        text: format!("Seu código: {CODE} & mais").into(),
        purpose: SmsPurpose::PasswordRecovery,
        message_id: "cm0000000000000000000001".to_owned(),
    }
}

/// The code of a refusal.
fn refused(sent: Result<(), SmsError>) -> String {
    match sent {
        Err(SmsError::Refused { code }) => code,
        other => panic!("not refused: {other:?}"),
    }
}

/// The whole text of a failure that may pass.
fn unavailable(sent: Result<(), SmsError>) -> String {
    match sent {
        Err(error @ SmsError::Unavailable(_)) => format!("{} / {error:?}", Chain(&error)),
        other => panic!("not unavailable: {other:?}"),
    }
}
