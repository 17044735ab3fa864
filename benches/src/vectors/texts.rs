//! Vectors like those of texts: of topics, and in fewer directions than they have numbers.
//!
//! The numbers of a real model are not free: few hundred directions hold nearly all of what it says, and texts about one
//! thing lie together. Vectors that are random in every number are as far from each other as can be; no index finds the nearest of
//! those, and no text has them.

use flowsdk_agent::knowledge::{DIMENSIONS, Embedding};

use crate::random::Random;

/// Directions in which vectors differ.
const LATENT: usize = 96;
/// Numbers of a vector that each direction moves.
const TOUCHED: usize = 128;
/// How far a text is from its topic, as a share of how far topics are from each other.
const SPREAD: f32 = 0.6;
/// What is in every number besides.
const NOISE: f32 = 0.01;

/// A model of vectors.
pub(super) struct Texts {
    directions: Vec<[(usize, f32); TOUCHED]>,
    topics: Vec<[f32; LATENT]>,
    random: Random,
}

impl Texts {
    pub(super) fn new(seed: u64, topics: usize) -> Self {
        let mut random = Random::new(seed);
        let mut direction =
            || std::array::from_fn(|_| (random.next() as usize % DIMENSIONS, normal(&mut random)));
        let directions = (0..LATENT).map(|_| direction()).collect();
        let topics = (0..topics).map(|_| std::array::from_fn(|_| normal(&mut random))).collect();
        Self { directions, topics, random }
    }

    /// Returns the vector of another text, of any topic.
    pub(super) fn next(&mut self) -> Embedding {
        let topic = self.random.next() as usize % self.topics.len();
        let mut vector: Vec<f32> = (0..DIMENSIONS).map(|_| normal(&mut self.random) * NOISE).collect();
        for (centre, direction) in self.topics[topic].iter().zip(&self.directions) {
            let weight = centre + normal(&mut self.random) * SPREAD;
            for (at, share) in direction {
                vector[*at] += weight * share;
            }
        }
        Embedding::normalised(vector)
    }
}

/// A number of a normal distribution, nearly: a sum of four.
fn normal(random: &mut Random) -> f32 {
    let sum: f64 = (0..4).map(|_| (random.next() >> 11) as f64 / (1_u64 << 53) as f64 - 0.5).sum();
    (sum * 3_f64.sqrt()) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_a_topic_are_nearer_than_others() {
        let mut texts = Texts::new(7, 1);
        let near = texts.next().similarity(&texts.next());
        texts.topics = vec![std::array::from_fn(|_| normal(&mut texts.random))];
        let (one, mut others) = (texts.next(), Texts::new(7, 1));
        let far = one.similarity(&others.next());
        assert!(near > 0.5 && far < 0.4, "{near} {far}");
    }
}
