//! Vectors of texts.

use std::borrow::Cow;

use flowsdk_core::cell::{Cell, Kind, Value};
use flowsdk_core::fault::BoxError;

/// The dimensions of every vector (spec B 4.9).
pub const DIMENSIONS: usize = 1_536;

/// The vector of a text, of length 1. A text without meaning has one of zeros.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding(Vec<f32>);

impl Embedding {
    /// Returns a vector with the length 1, unless it is one of zeros; a number that is none counts as zero.
    pub fn normalised(mut vector: Vec<f32>) -> Self {
        vector.resize(DIMENSIONS, 0.0);
        for number in &mut vector {
            if !number.is_finite() {
                *number = 0.0;
            }
        }
        let length = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
        if length > 0.0 {
            #[allow(clippy::cast_possible_truncation, reason = "vectors are of this precision")]
            vector.iter_mut().for_each(|number| *number = (f64::from(*number) / length) as f32);
        }
        Self(vector)
    }

    /// Returns its numbers.
    pub fn numbers(&self) -> &[f32] {
        &self.0
    }

    /// Returns the cosine of the angle to another vector: 1 for the same direction, 0 for texts without anything in common.
    pub fn similarity(&self, other: &Self) -> f32 {
        // Sums beside each other, so that the processor adds several at once.
        let mut sums = [0.0_f32; 8];
        for (ours, theirs) in self.0.chunks_exact(sums.len()).zip(other.0.chunks_exact(sums.len())) {
            for ((sum, our), their) in sums.iter_mut().zip(ours).zip(theirs) {
                *sum += our * their;
            }
        }
        sums.iter().sum()
    }
}

/// Numbers of 32 bits, the lowest byte first.
impl Cell for Embedding {
    const KIND: Kind = Kind::Bytes;

    fn to_value(&self) -> Result<Value<'_>, BoxError> {
        Ok(Value::Bytes(Cow::Owned(self.0.iter().flat_map(|number| number.to_le_bytes()).collect())))
    }

    fn from_value(value: Value<'_>) -> Result<Self, BoxError> {
        let bytes = value.into_bytes()?;
        let (numbers, rest) = bytes.as_chunks::<4>();
        if numbers.len() != DIMENSIONS || !rest.is_empty() {
            return Err(format!("a vector of {} bytes", bytes.len()).into());
        }
        Ok(Self(numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_is_as_long_as_every_other() {
        let one = Embedding::normalised(vec![3.0, 4.0]);
        assert_eq!(one.0[..3], [0.6, 0.8, 0.0]);
        assert!((one.similarity(&one) - 1.0).abs() < 1e-6);
        assert!((one.similarity(&Embedding::normalised(vec![-3.0, -4.0])) + 1.0).abs() < 1e-6);
        let none = Embedding::normalised(vec![f32::NAN, f32::INFINITY]);
        assert_eq!(none.similarity(&one).to_bits(), 0.0_f32.to_bits());
    }

    #[test]
    fn a_vector_is_read_as_it_was_written() {
        let one = Embedding::normalised(vec![0.1, -0.2, 1e-20]);
        let written = one.to_value().expect("a value").into_bytes().expect("bytes").into_owned();
        assert_eq!(written.len(), 4 * DIMENSIONS);
        assert_eq!(Embedding::from_value(Value::Bytes(Cow::Borrowed(&written))).expect("a vector"), one);
        for odd in [&written[1..], &written[4..], &[]] {
            assert!(Embedding::from_value(Value::Bytes(Cow::Borrowed(odd))).is_err());
        }
    }
}
