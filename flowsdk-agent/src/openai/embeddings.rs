//! Embeddings.

use flowsdk_core::event::TokenUsage;
use serde_json::{Value, json};

use super::lenient::count;
use crate::model::ModelError;

/// Returns the body of a request for the vectors of texts.
pub(super) fn body(model: &str, dimensions: u32, texts: &[String]) -> Value {
    json!({ "model": model, "input": texts, "dimensions": dimensions, "encoding_format": "float" })
}

/// Reads the vectors of `count` texts, in the order of the texts.
///
/// # Errors
/// [`ModelError::Unreadable`] when one is missing, or has not as many dimensions as were asked for.
pub(super) fn read(answer: &Value, count: usize, dimensions: u32) -> Result<Vec<Vec<f32>>, ModelError> {
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); count];
    for (place, one) in answer["data"].as_array().into_iter().flatten().enumerate() {
        let index = one["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or(place);
        if let (Some(vector), Some(numbers)) = (vectors.get_mut(index), one["embedding"].as_array()) {
            *vector = numbers.iter().filter_map(number).collect();
        }
    }
    let is_whole = |vector: &Vec<f32>| u32::try_from(vector.len()) == Ok(dimensions);
    if !vectors.iter().all(is_whole) {
        return Err(ModelError::Unreadable {
            reason: format!("a text without a vector of {dimensions} dimensions"),
        });
    }
    Ok(vectors)
}

/// Returns the tokens that vectors used.
pub(super) fn tokens(answer: &Value) -> TokenUsage {
    let usage = &answer["usage"];
    let input_tokens = count(&usage["prompt_tokens"]).max(count(&usage["total_tokens"]));
    TokenUsage { input_tokens, ..TokenUsage::default() }
}

#[allow(clippy::cast_possible_truncation, reason = "vectors are of this precision")]
fn number(value: &Value) -> Option<f32> {
    value.as_f64().map(|number| number as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_their_texts() {
        let answer =
            json!({ "data": [{ "index": 1, "embedding": [3, 4.5] }, { "index": 0, "embedding": [1, 2] }] });
        assert_eq!(read(&answer, 2, 2), Ok(vec![vec![1.0, 2.0], vec![3.0, 4.5]]));
        assert!(read(&answer, 3, 2).is_err(), "one is missing");
        assert!(read(&answer, 2, 3).is_err(), "they are shorter");
        let odd = json!({ "data": [{ "embedding": [1, "x"] }] });
        assert!(read(&odd, 1, 2).is_err(), "what is no number");
        assert!(read(&json!({}), 1, 2).is_err());
        assert_eq!(read(&json!({}), 0, 2), Ok(Vec::new()));
    }

    #[test]
    fn servers_may_say_what_vectors_used() {
        for (usage, expected) in [
            (json!({ "prompt_tokens": 7, "total_tokens": 7 }), 7),
            (json!({ "total_tokens": 7 }), 7),
            (json!({ "prompt_tokens": 7 }), 7),
            (json!({ "prompt_tokens": -7 }), 0),
            (json!(null), 0),
        ] {
            let found = tokens(&json!({ "usage": usage }));
            assert_eq!(found, TokenUsage { input_tokens: expected, ..TokenUsage::default() }, "{usage}");
        }
    }
}
