//! The walk over states, held against another implementation; the limits of a flow.

use proptest::prelude::*;

use super::*;

fn search(pattern: &str) -> Pattern {
    let mut patterns = Patterns::default();
    patterns.check_search(pattern).expect("compiles");
    patterns.search(pattern)
}

fn whole(pattern: &str) -> Pattern {
    let mut patterns = Patterns::default();
    patterns.check_whole(pattern).expect("compiles");
    patterns.whole(pattern)
}

#[test]
fn expressions_of_authors() {
    let work = Work::default();
    for (pattern, found, missed) in [
        (r"(?i)\b(sim|não)\b", "Acho que NÃO.", "anão, sima"),
        (r"^\d{5}-?\d{3}$", "50000-000", "a50000-000"),
        (r"^[\w.+-]+@[\w-]+\.[\w.]{2,}$", "joão@exemplo.com", "joão@exemplo"),
        ("(?m)^b$", "a\nb\nc", "ab\nbc"),
        (r"\p{Lu}{2}", "éÉÊ", "Éa"),
        ("a|", "", "\u{0}never"),
        (r"\Bb", "ab", "b ç"),
        ("ç.ç", "açãça", "çç"),
    ] {
        assert!(search(pattern).is_found(found, &work), "{pattern} in {found}");
        assert_eq!(
            search(pattern).is_found(missed, &work),
            regex::Regex::new(pattern).expect("compiles").is_match(missed),
            "{pattern} in {missed}"
        );
    }
    assert!(whole("a|ab").is_all_of("ab", &work), "every way is tried");
    assert!(!whole("a|ab").is_all_of("abc", &work));
    assert!(!work.is_spent());
}

#[test]
fn a_long_text_is_searched_in_its_first_characters() {
    let work = Work::default();
    let long = "é".repeat(MAX_SEARCHED);
    assert!(search("é$").is_found(&long, &work));
    assert!(search("x").is_found(&format!("{}x", &long[2..]), &work));
    assert!(!search("x").is_found(&format!("{long}x"), &work), "beyond the limit");
    assert!(!search("é$").is_found(&format!("{long}x"), &work), "the end is the end of the whole text");
    assert!(whole("é+").is_all_of(&long, &work));
    assert!(!whole("é+").is_all_of(&format!("{long}é"), &work), "an answer is matched whole or not at all");
}

#[test]
fn an_expression_is_compiled_once_and_all_are_limited() {
    let mut patterns = Patterns::default();
    patterns.check_search(r"\w{10}").expect("compiles");
    let once = patterns.compiled();
    patterns.check_search(r"\w{10}").expect("is known");
    assert_eq!(patterns.compiled(), once);
    let mut fitting = 0;
    while patterns.check_search(&format!(r"\w{{10}}{fitting}")).is_ok() {
        fitting += 1;
    }
    assert!((5..100).contains(&fitting), "{fitting}");
    assert!(matches!(patterns.check_search("a"), Err(PatternError::Beyond)), "however small");
    assert!(patterns.check_search(r"\w{10}").is_ok(), "the first ones stay");
    let work = Work::default();
    assert!(!patterns.search("a").is_found("a", &work) && work.is_spent(), "no turn can afford the others");

    let mut patterns = Patterns::default();
    let many = (0..2 * MAX_PATTERNS).filter(|n| patterns.check_search(&n.to_string()).is_ok()).count();
    assert_eq!(many, MAX_PATTERNS);
}

/// Definitions have at most 1 MiB, so about so many patterns of these lengths. Most are refused without a look; the others
/// take less than a second together when they are compiled by an optimised program.
#[test]
fn of_hostile_expressions_few_are_compiled() {
    for (pattern, count, most) in [
        ("[ab]*a[ab]{400}c".to_owned(), 60_000, 500),
        ("(?:[ab]{0,60}a){30}c".to_owned(), 50_000, 60),
        (r"\PC".repeat(600), 500, 6),
        (format!("(?i)[{}]", r"\PC".repeat(600)), 500, 8),
        (format!("(?i)[{}&&x]", r"[\w&&\pL]".repeat(200)), 500, 12),
        ("((a{0,20}){0,20}){0,20}".to_owned(), 40_000, 20),
        (format!("{}{{0}}", "(?:a{500})".repeat(150)), 500, 20),
    ] {
        let mut patterns = Patterns::default();
        let mut is_compiled =
            |n| !matches!(patterns.check_search(&format!("{pattern}{n}")), Err(PatternError::Beyond));
        let compiled = (0..count).filter(|n| is_compiled(*n)).count();
        assert!(compiled <= most, "{compiled} of {pattern}");
    }
}

/// Parts of an expression over few letters, so that texts match often.
fn pattern() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "a", "b", "é", ".", "[ab]", "[^a]", r"\w", r"\d", "^", "$", r"\b", r"\B", r"\A", r"\z", "(?i)A",
        "(?m:^)", "", "(?m:$)", r"\P{L}",
    ]);
    leaf.prop_map(str::to_owned).prop_recursive(4, 20, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
            (inner.clone(), prop::sample::select(vec!["*", "+", "?", "{0,2}", "{2}", "*?"]))
                .prop_map(|(a, many)| format!("(?:{a}){many}")),
            inner.prop_map(|a| format!("({a})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn finds_as_the_regex_crate_does(pattern in pattern(), texts in prop::collection::vec("[abAé1 \n]{0,8}", 4)) {
        let peer = regex::Regex::new(&pattern).expect("compiles");
        let anchored = regex::Regex::new(&format!(r"\A(?:{pattern})\z")).expect("compiles");
        let (search, whole) = (search(&pattern), whole(&pattern));
        for text in texts {
            let work = Work::default();
            prop_assert_eq!(search.is_found(&text, &work), peer.is_match(&text), "{} in {:?}", pattern, text);
            prop_assert_eq!(whole.is_all_of(&text, &work), anchored.is_match(&text), "{} is {:?}", pattern, text);
        }
    }
}
