//! Definitions of flows: whatever is sent is checked without a panic, and a definition without errors can be run.
#![no_main]

use flowsdk::Flow;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|json: &str| {
    if let Ok(flow) = Flow::from_json(json) {
        let mut conversation = flow.conversation();
        for text in ["oi", "1", ""] {
            conversation.say(text);
        }
    }
});
