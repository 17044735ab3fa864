//! Vectors without a model: of words and of the letters in them, for routers without a credential and for tests.

use async_trait::async_trait;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;

use super::embedding::DIMENSIONS;
use crate::model::{Embedded, Embedder, ModelError};

/// The name of its vectors.
pub const HASHING: &str = "hashing-1536";

/// Turns texts into vectors by what words they have. It knows no language: texts are near each other that share words, or
/// words with the same beginnings and endings. The same text has the same vector everywhere and always.
#[derive(Debug, Clone, Copy, Default)]
pub struct HashingEmbedder;

#[async_trait]
impl Embedder for HashingEmbedder {
    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        Ok(Embedded { vectors: texts.iter().map(|text| vector(text)).collect(), used: None })
    }
}

/// How much a word of so many letters says. Short ones are mostly articles and prepositions.
fn weight(letters: usize) -> f32 {
    match letters {
        0..=2 => 0.1,
        3 => 0.7,
        _ => 1.0,
    }
}

/// How much three letters of a word say beside the whole of it.
const TRIGRAM: f32 = 0.25;

fn vector(text: &str) -> Vec<f32> {
    let mut counts = vec![0.0; DIMENSIONS];
    let folded: String =
        text.nfkd().filter(|letter| !is_combining_mark(*letter)).flat_map(char::to_lowercase).collect();
    for word in folded.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let letters: Vec<char> = format!("^{word}$").chars().collect();
        let weight = weight(letters.len() - 2);
        add(&mut counts, word.chars(), weight);
        for three in letters.windows(3) {
            add(&mut counts, three.iter().copied(), weight * TRIGRAM);
        }
    }
    // A word that is said ten times does not say ten times as much.
    counts.iter_mut().for_each(|count: &mut f32| *count = count.signum() * count.abs().ln_1p());
    let length = counts.iter().map(|count| count * count).sum::<f32>().sqrt();
    if length > 0.0 {
        counts.iter_mut().for_each(|count| *count /= length);
    }
    counts
}

/// Adds what some letters say to the dimension of their hash. A bit of it decides the sign, so that collisions cancel out.
fn add(counts: &mut [f32], letters: impl Iterator<Item = char>, weight: f32) {
    let hash = letters.fold(0xcbf2_9ce4_8422_2325_u64, |hash, letter| {
        u32::from(letter)
            .to_le_bytes()
            .iter()
            .fold(hash, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
    });
    let dimensions = counts.len() as u64;
    // The low bits of this hash are its weaker ones.
    let at = usize::try_from((hash >> 20) % dimensions).unwrap_or_default();
    if let Some(count) = counts.get_mut(at) {
        *count += if hash >> 63 == 0 { weight } else { -weight };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::knowledge::Embedding;

    fn similarity(one: &str, other: &str) -> f32 {
        Embedding::normalised(vector(one)).similarity(&Embedding::normalised(vector(other)))
    }

    #[test]
    fn related_texts_are_nearer_than_others() {
        for (query, near, far) in [
            ("how much is the tea?", "Green tea costs 12 reais a cup.", "We open at nine on Sundays."),
            ("opening hours", "Our opening hours: from nine to six.", "Green tea costs 12 reais a cup."),
            ("PROMOÇÃO de verão", "promocao de verao: 10% em tudo", "Trocas em até 30 dias"),
            ("trocar um produto", "Trocas de produtos em até 30 dias", "Abrimos aos domingos às nove"),
        ] {
            let (near, far) = (similarity(query, near), similarity(query, far));
            assert!(near > far + 0.05, "{query}: {near} and {far}");
        }
        assert!((similarity("Chá verde", "cha VERDE!") - 1.0).abs() < 1e-5);
    }

    #[tokio::test]
    async fn a_text_has_one_vector() {
        let texts = ["tea".to_owned(), String::new(), "tea".to_owned(), "👋".to_owned()];
        let vectors = HashingEmbedder.embed(&texts).await.expect("vectors").vectors;
        assert!(vectors.iter().all(|vector| vector.len() == DIMENSIONS));
        assert_eq!(vectors[0], vectors[2]);
        let set: Vec<usize> =
            vectors[0].iter().enumerate().filter(|(_, count)| **count != 0.0).map(|(at, _)| at).collect();
        assert_eq!(set, [18, 1265, 1279], "pinned: stored vectors depend on it");
    }
}
