//! Deliveries of the phone provider: whatever comes is read without a panic, and a message that is read is stored as it
//! came. The corpus is `flowsdk-channels/tests/fixtures/phone/webhooks`.
#![no_main]

use flowsdk_channels::phone::webhook::{Delivery, DeliveryHead, News};
use flowsdk_core::message::IncomingMessage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    let head = DeliveryHead::read(body);
    let Ok(delivery) = Delivery::read(body) else { return };
    assert!(head.is_ok(), "what is a delivery has a head");
    for told in delivery.told {
        let News::Message(message) = told.news else { continue };
        let message = message.message;
        let (_, _) = (message.content.as_text(), message.content.is_said());
        let written = serde_json::to_string(&message).expect("a message is JSON");
        let read: IncomingMessage = serde_json::from_str(&written).expect("what is appended is read again");
        assert_eq!(read.as_stored(), message.as_stored());
    }
});
