//! Deliveries of the phone provider: whatever comes is read without a panic, and a message that is read is stored as it
//! came. The corpus is `flowsdk-channels/tests/fixtures/phone/webhooks`.
#![no_main]

use flowsdk_channels::phone::webhook::{AccountNews, Delivery, News};
use flowsdk_core::message::IncomingMessage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let Ok(delivery) = Delivery::read(body) else { return };
    let (_, _) = (delivery.signer(), delivery.accounts());
    let Ok(told) = delivery.told() else { return };
    for news in told.into_iter().flat_map(|told| told.news) {
        if let News::Account { field, value } = &news {
            AccountNews::read(field, value);
        }
        let News::Message(message) = news else { continue };
        let message = message.message;
        let (_, _) = (message.content.as_text(), message.content.is_said());
        let written = serde_json::to_string(&message).expect("a message is JSON");
        let read: IncomingMessage = serde_json::from_str(&written).expect("what is appended is read again");
        assert_eq!(read.as_stored(), message.as_stored());
    }
});
