//! Amounts of money.

use std::fmt;

use flowsdk_core::cell::{Cell, Kind, Value};
use flowsdk_core::fault::BoxError;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Millionths in a unit.
const MICROS: i64 = 1_000_000;

/// An amount of money in millionths of a unit, never less than nothing. In JSON it is a number with at most six decimals.
///
/// Of which currency the unit is, the router decides by the prices that it writes down: nothing is converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Money(i64);

/// A number that is no amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an amount of money is from 0 to 1000000000 and has at most six decimals")]
pub struct InvalidMoney;

impl Money {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// The largest amount that is read: a thousand million units. Sums may be larger.
    pub const MAX: Self = Self(1_000_000_000 * MICROS);

    /// Returns an amount of so many millionths; nothing if they are less than nothing.
    pub const fn from_micros(micros: i64) -> Self {
        Self(if micros < 0 { 0 } else { micros })
    }

    /// Returns the millionths.
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// Returns the number of units, for figures.
    pub fn as_units(self) -> f64 {
        self.0 as f64 / MICROS as f64
    }

    /// Returns both amounts together.
    pub const fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// Reads a number of units.
    ///
    /// # Errors
    /// [`InvalidMoney`].
    pub fn parse(units: f64) -> Result<Self, InvalidMoney> {
        let micros = (units * MICROS as f64).round();
        // Both are exact below 2^53, so a number with more decimals differs.
        let is_whole = micros / MICROS as f64 == units;
        if is_whole && (0.0..=Self::MAX.0 as f64).contains(&micros) {
            Ok(Self(micros as i64))
        } else {
            Err(InvalidMoney)
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.as_units())
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0 % MICROS == 0 {
            serializer.serialize_i64(self.0 / MICROS)
        } else {
            serializer.serialize_f64(self.as_units())
        }
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Units;

        impl Visitor<'_> for Units {
            type Value = Money;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an amount of money")
            }

            fn visit_f64<E: Error>(self, units: f64) -> Result<Money, E> {
                Money::parse(units).map_err(E::custom)
            }

            fn visit_u64<E: Error>(self, units: u64) -> Result<Money, E> {
                self.visit_f64(units as f64)
            }

            fn visit_i64<E: Error>(self, units: i64) -> Result<Money, E> {
                self.visit_f64(units as f64)
            }
        }

        deserializer.deserialize_f64(Units)
    }
}

/// The millionths.
impl Cell for Money {
    const KIND: Kind = Kind::Integer;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Integer(self.0))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        match value.into_integer()? {
            micros @ 0.. => Ok(Self(micros)),
            less => Err(format!("{less} is no amount of money").into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn an_amount_is_a_number_with_at_most_six_decimals() {
        for (text, micros) in [
            ("0", 0),
            ("2", 2_000_000),
            ("0.25", 250_000),
            ("0.000001", 1),
            ("1e-6", 1),
            ("12.345678", 12_345_678),
            ("999999999.999999", 999_999_999_999_999),
            ("1000000000", 1_000_000_000_000_000),
        ] {
            assert_eq!(serde_json::from_str::<Money>(text).ok(), Some(Money(micros)), "{text}");
        }
        for text in ["-1", "-0.5", "0.0000001", "1.2345678", "1000000000.1", "1e300", "\"1\"", "null"] {
            assert!(serde_json::from_str::<Money>(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn an_amount_is_read_as_it_is_written(micros in 0..=Money::MAX.0) {
            let text = serde_json::to_string(&Money(micros)).expect("JSON");
            prop_assert_eq!(serde_json::from_str::<Money>(&text).ok(), Some(Money(micros)), "{}", text);
            let value = serde_json::to_value(Money(micros)).expect("JSON");
            prop_assert_eq!(serde_json::from_value::<Money>(value).ok(), Some(Money(micros)));
        }
    }
}
