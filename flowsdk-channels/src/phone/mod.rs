//! The phone channel: WhatsApp Business numbers.

pub mod webhook;
