//! Who calls, from the head of a request.

use flowsdk_channels::webchat::Caller;
use http::{Extensions, HeaderMap, header};

/// Address and origin of the caller.
pub(super) fn of<'a>(headers: &'a HeaderMap, extensions: &Extensions, trusted_proxies: u32) -> Caller<'a> {
    Caller {
        address: crate::caller::address(headers, extensions, trusted_proxies),
        origin: headers.get(header::ORIGIN).and_then(|origin| origin.to_str().ok()),
    }
}
