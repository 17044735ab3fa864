//! Deliveries of the phone provider: whatever comes is read without a panic, and a message that is read is stored as it
//! came. The corpus is `flowsdk-channels/tests/fixtures/phone/webhooks`.
#![no_main]

use flowsdk_channels::phone::webhook::{AccountNews, Delivery, DeliveryHead, News};
use flowsdk_core::message::IncomingMessage;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    // It refuses more: an entry that is no object is read over in a delivery.
    let (Ok(_), Ok(delivery)) = (DeliveryHead::read(body), Delivery::read(body)) else { return };
    for told in delivery.told {
        if let News::Account { field, value } = &told.news {
            AccountNews::read(field, value);
        }
        let News::Message(message) = told.news else { continue };
        let message = message.message;
        let (_, _) = (message.content.as_text(), message.content.is_said());
        let written = serde_json::to_string(&message).expect("a message is JSON");
        let read: IncomingMessage = serde_json::from_str(&written).expect("what is appended is read again");
        assert_eq!(read.as_stored(), message.as_stored());
    }
});
