use std::collections::HashMap;

use super::*;

fn read(values: &[(&str, &str)]) -> Result<Config, Vec<String>> {
    let values: HashMap<&str, &str> = values.iter().copied().collect();
    Config::read(Environment::new(|name| values.get(name).map(|value| (*value).to_owned())))
        .map_err(|error| error.problems)
}

const GOOD: [(&str, &str); 4] = [
    ("DATABASE_URL", "sqlite:/tmp/x.db"),
    ("CRYPTO_SECRET", "0123456789abcdef0123456789abcdef"),
    ("JWT_ACCESS_SECRET", "access-secret-16"),
    ("JWT_REFRESH_SECRET", "refresh-secret16"),
];

#[test]
fn four_values_are_enough() {
    let config = read(&GOOD).expect("good");
    assert_eq!(config.tokens.access_lifetime, Duration::from_secs(86_400));
    assert_eq!(config.roles, Roles::ALL);
    let shown = format!("{config:?}");
    assert!(!shown.contains("access-secret") && !shown.contains("0123456789abcdef"), "{shown}");
}

#[test]
fn every_problem_is_reported_at_once_and_no_value_of_a_secret() {
    let problems = read(&[
        ("CRYPTO_SECRET", "too-short-a-key"),
        ("JWT_ACCESS_SECRET", "short"),
        ("LISTEN_ADDR", "nowhere"),
        ("JWT_ACCESS_EXPIRES_IN", "soon"),
        ("WEBCHAT_MESSAGES_PER_SECOND", "-1"),
        ("ROLES", "engine"),
        ("ADMIN_EMAIL", "nobody"),
    ])
    .expect_err("bad");
    let names: Vec<&str> = problems.iter().filter_map(|p| p.split(' ').next()).collect();
    for name in [
        "DATABASE_URL",
        "CRYPTO_SECRET",
        "JWT_ACCESS_SECRET",
        "JWT_REFRESH_SECRET",
        "LISTEN_ADDR",
        "JWT_ACCESS_EXPIRES_IN",
        "WEBCHAT_MESSAGES_PER_SECOND",
        "ROLES",
        "ADMIN_EMAIL",
    ] {
        assert!(names.contains(&name), "{name} in {problems:?}");
    }
    assert!(!problems.join("\n").contains("too-short-a-key"));
}

#[test]
fn roles_are_apart_only_with_redis() {
    let mut values = GOOD.to_vec();
    values.push(("ROLES", "webchat"));
    assert!(read(&values).is_err());
    values.push(("REDIS_URL", "redis://127.0.0.1"));
    assert!(read(&values).is_err(), "SQLite is of one process");
    values[0] = ("DATABASE_URL", "postgres://u@127.0.0.1/d");
    assert_eq!(read(&values).map(|c| c.roles), Ok(Roles { api: false, conversation: false, webchat: true }));
}
