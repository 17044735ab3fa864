//! Halves of characters that JSON can write and no text can hold.

/// Returns a body in which each escape of a lone surrogate, such as `\ud800`, is one of the replacement character; `None`
/// where there is none.
pub(in crate::phone) fn mended(body: &[u8]) -> Option<Vec<u8>> {
    let mut mended = None::<Vec<u8>>;
    let mut at = 0;
    while let Some(found) = body[at..].iter().position(|byte| *byte == b'\\') {
        let escape = at + found;
        let length = match unit(&body[escape..]) {
            // A backslash and what it escapes.
            None => 2,
            Some(0xd800..0xdc00) if is_low(unit(&body[(escape + UNIT).min(body.len())..])) => 2 * UNIT,
            Some(0xd800..0xe000) => {
                let mended = mended.get_or_insert_with(|| body.to_vec());
                mended[escape..escape + UNIT].copy_from_slice(REPLACEMENT);
                UNIT
            }
            Some(_) => UNIT,
        };
        at = (escape + length).min(body.len());
    }
    mended
}

/// Bytes of an escape such as `\u00e9`.
const UNIT: usize = 6;
const REPLACEMENT: &[u8; UNIT] = b"\\ufffd";

/// Returns the unit of UTF-16 whose escape `text` begins with.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.get(..UNIT)?.strip_prefix(b"\\u")?;
    // A sign is no digit of an escape.
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    u16::from_str_radix(digits, 16).ok()
}

fn is_low(unit: Option<u16>) -> bool {
    unit.is_some_and(|unit| (0xdc00..0xe000).contains(&unit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_nothing_else() {
        for (body, expected) in [
            (r#"{"a":"\ud800"}"#, Some(r#"{"a":"\ufffd"}"#)),
            (r#"{"a":"\uD83D\uDE00 \ude00"}"#, Some(r#"{"a":"\uD83D\uDE00 \ufffd"}"#)),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, Some(r#"{"a":"\ufffd\ud83d\ude00"}"#)),
            (r#"{"a":"\\ud800"}"#, None),
            (r#"{"a":"\u00e9\n"}"#, None),
            (r#"{"a":"\ud8"#, None),
            ("\\", None),
            ("", None),
        ] {
            assert_eq!(mended(body.as_bytes()).as_deref(), expected.map(str::as_bytes), "{body}");
        }
    }

    proptest! {
        #[test]
        fn any_units_of_a_text_can_be_read_then(units in prop::collection::vec(any::<u16>(), 0..8)) {
            let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
            let body = format!("\"{escaped}\"");
            let read = mended(body.as_bytes()).unwrap_or_else(|| body.clone().into_bytes());
            let text: String = serde_json::from_slice(&read).expect("JSON");
            prop_assert_eq!(text, String::from_utf16_lossy(&units));
        }
    }
}
