//! Files that are part of the binary.

use std::borrow::Cow;

use bytes::Bytes;

/// Returns the contents as the body of an answer. All readers share those of the binary: a connection whose client reads
/// nothing keeps its answer for as long as [`ServeConfig::write_timeout`](crate::serve::ServeConfig::write_timeout).
pub(crate) fn shared(contents: Cow<'static, [u8]>) -> Bytes {
    match contents {
        Cow::Borrowed(contents) => Bytes::from_static(contents),
        Cow::Owned(contents) => Bytes::from(contents),
    }
}
