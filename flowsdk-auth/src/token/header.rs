//! The `Authorization` header.

/// Returns the token of a `Bearer` header (spec A 5.2 rule 1). The scheme's case does not matter (RFC 9110 11.1);
/// another scheme, and nothing after it, is as good as no header.
pub(crate) fn bearer(authorization: Option<&str>) -> Option<&str> {
    let (scheme, token) = authorization?.trim().split_once(' ')?;
    let token = token.trim_start();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bearer_header_has_a_token() {
        for (header, token) in [
            (None, None),
            (Some(""), None),
            (Some("Bearer"), None),
            (Some("Bearer "), None),
            (Some("Bearer   "), None),
            (Some("abc"), None),
            (Some("Basic dXNlcjpwYXNz"), None),
            (Some("Bearerabc"), None),
            (Some("Bearer abc"), Some("abc")),
            (Some("bearer abc"), Some("abc")),
            (Some("BEARER  abc "), Some("abc")),
            // Blanks are in no token: the rest is one that nobody accepts.
            (Some("Bearer abc def"), Some("abc def")),
            (Some("Bearer\tabc"), None),
        ] {
            assert_eq!(bearer(header), token, "{header:?}");
        }
    }
}
