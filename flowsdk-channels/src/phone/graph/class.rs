//! The codes of the provider (WhatsApp Business Platform, "Error codes").

use flowsdk_core::channel::RefusalClass;

/// Returns what a code means. The HTTP status says nothing: the provider uses several for the same code (rulings C7).
/// A code that this version does not know is permanent, unless the provider calls it transient: a message that is sent twice
/// is worse than one that failed.
pub fn class_of(code: i64, is_transient: bool) -> RefusalClass {
    match code {
        // Overload and downtime of the provider.
        1 | 2 | 131_000 | 131_016 | 131_057 | 133_004 => RefusalClass::Retry,
        // The app, the account or the number has sent too much.
        4 | 80_007 | 130_429 | 131_048 | 131_064 | 132_069 | 133_016 => RefusalClass::Throttled,
        131_056 => RefusalClass::PairThrottled,
        // Tokens, permissions, bills, locks and registrations.
        0
        | 3
        | 10
        | 33
        | 190
        | 200..=299
        | 368
        | 131_005
        | 131_031
        | 131_037
        | 131_042
        | 131_044
        | 131_045
        | 131_063
        | 133_010
        | 134_011
        | 139_000..=139_004 => RefusalClass::Account,
        _ if is_transient => RefusalClass::Retry,
        _ => RefusalClass::Permanent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_codes_of_each_class() {
        use RefusalClass::{Account, PairThrottled, Permanent, Retry, Throttled};
        for (class, codes) in [
            (Retry, &[1, 2, 131_000, 131_016, 131_057][..]),
            (Throttled, &[4, 80_007, 130_429, 131_048, 131_064, 132_069, 133_016]),
            (PairThrottled, &[131_056]),
            (
                Account,
                &[
                    0, 3, 10, 33, 190, 200, 299, 368, 131_005, 131_031, 131_042, 131_045, 133_010, 139_000,
                    139_004,
                ],
            ),
            (
                Permanent,
                &[100, 130_472, 131_026, 131_047, 131_049, 131_050, 131_051, 132_000, 132_001, 300, 999_999],
            ),
        ] {
            for code in codes {
                assert_eq!(class_of(*code, false), class, "{code}");
            }
        }
        assert_eq!(class_of(999_999, true), Retry);
        assert_eq!(class_of(190, true), Account);
    }
}
