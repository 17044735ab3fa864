//! Names of contacts: words of which some are frequent, some ordinary, and one rare.

use crate::random::Random;

/// The word that one name of ten has. One of twenty has a longer word that begins with it.
pub(super) const FREQUENT: &str = "Maria";
/// The word that one name of eight has, whatever the other word is.
pub(super) const ALSO_FREQUENT: &str = "Silva";
/// The word that 19 of 1,000 names have.
pub(super) const ORDINARY: &str = "Teodoro";
/// The word that [`RARE_NAMES`] names of a store have.
pub(super) const RARE: &str = "Zschokke";
/// How many names have the rare word, in a store of any size.
pub(super) const RARE_NAMES: u64 = 20;

/// First names, with their shares of 1,000.
const FIRST: [(&str, u64); 20] = [
    (FREQUENT, 100),
    ("José", 90),
    ("Ana", 85),
    ("João", 80),
    ("Antônio", 75),
    ("Francisca", 70),
    ("Carlos", 65),
    ("Paula", 60),
    ("Lucas", 55),
    ("Mariana", 50),
    ("Luiz", 48),
    ("Adriana", 45),
    ("Marcelo", 42),
    ("Juliana", 40),
    ("Rafael", 30),
    ("Camila", 25),
    (ORDINARY, 19),
    ("Eulália", 10),
    ("Quitéria", 6),
    ("Wanderley", 5),
];

/// Family names, with their shares of 1,000.
const FAMILY: [(&str, u64); 20] = [
    (ALSO_FREQUENT, 125),
    ("Santos", 110),
    ("Oliveira", 95),
    ("Souza", 90),
    ("Rodrigues", 80),
    ("Ferreira", 75),
    ("Alves", 65),
    ("Pereira", 60),
    ("Lima", 55),
    ("Gomes", 50),
    ("Costa", 45),
    ("Ribeiro", 40),
    ("Martins", 35),
    ("Carvalho", 25),
    ("Conceição", 20),
    ("Nascimento", 12),
    ("Bittencourt", 8),
    ("Albuquerque", 5),
    ("Xavier", 3),
    ("Yamashita", 2),
];

/// Returns the name of contact `number` of `contacts`.
pub(super) fn name(random: &mut Random, number: u64, contacts: u64) -> String {
    let first = draw(random, &FIRST);
    let every = (contacts / RARE_NAMES).max(1);
    let family = if number % every == every / 2 { RARE } else { draw(random, &FAMILY) };
    format!("{first} {family}")
}

/// Returns one of `choices` by its share of their sum.
pub(super) fn draw<T: Copy>(random: &mut Random, choices: &[(T, u64)]) -> T {
    let sum = choices.iter().map(|(_, share)| share).sum::<u64>();
    let mut left = random.between(1, sum);
    for (choice, share) in choices {
        if left <= *share {
            return *choice;
        }
        left -= share;
    }
    choices[0].0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_a_thousand() {
        for names in [&FIRST, &FAMILY] {
            assert_eq!(names.iter().map(|(_, share)| share).sum::<u64>(), 1_000);
        }
    }

    #[test]
    fn the_rare_word_is_as_rare_in_a_store_of_any_size() {
        for contacts in [2_000, 10_000] {
            let mut random = Random::new(1);
            let names: Vec<_> = (0..contacts).map(|number| name(&mut random, number, contacts)).collect();
            let has = |name: &&String, word: &str| name.split(' ').any(|one| one == word);
            let count = |word| names.iter().filter(|name| has(name, word)).count() as u64;
            assert_eq!(count(RARE), RARE_NAMES);
            let share = count(FREQUENT) as f64 / contacts as f64;
            assert!((0.08..0.12).contains(&share), "{share}");
        }
    }
}
