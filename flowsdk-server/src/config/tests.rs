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
    let tokens = &config.administration.as_ref().expect("every role").tokens;
    assert_eq!(tokens.access_lifetime, Duration::from_secs(86_400));
    assert_eq!(config.roles, Roles::all());
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
        ("DEFAULT_LANGUAGE", "tlh"),
        ("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1:8080"),
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
        "DEFAULT_LANGUAGE",
        "FLOW_HTTP_ALLOWED_HOSTS",
    ] {
        assert!(names.contains(&name), "{name} in {problems:?}");
    }
    assert!(!problems.join("\n").contains("too-short-a-key"));
    let listen = "LISTEN_ADDR must be an IP address and a port, such as 127.0.0.1:8080";
    assert!(problems.iter().any(|problem| problem == listen), "{problems:?}");
}

#[test]
fn roles_are_apart_only_with_redis() {
    let mut values = GOOD.to_vec();
    values.push(("ROLES", "webchat"));
    assert!(read(&values).is_err());
    values.push(("REDIS_URL", "redis://127.0.0.1"));
    assert!(read(&values).is_err(), "SQLite is of one process");
    values[0] = ("DATABASE_URL", "postgres://u@127.0.0.1/d");
    assert_eq!(read(&values).map(|c| c.roles), Ok("webchat".parse().expect("a role")));
}

/// A process that shares its database with others, in these roles, with these values beside the needed ones.
fn read_in(roles: &str, more: &[(&str, &str)], without: &[&str]) -> Result<Config, Vec<String>> {
    let shared = [
        ("DATABASE_URL", "postgres://u@127.0.0.1/d"),
        ("CRYPTO_SECRET", "0123456789abcdef0123456789abcdef"),
        ("REDIS_URL", "redis://127.0.0.1"),
        ("ROLES", roles),
    ];
    let values = shared.iter().chain(more).filter(|(name, _)| !without.contains(name));
    read(&values.copied().collect::<Vec<_>>())
}

#[test]
fn a_process_is_asked_for_the_secrets_of_its_roles() {
    let tokens = ["JWT_ACCESS_SECRET is missing", "JWT_REFRESH_SECRET is missing"];
    for (roles, missing) in [
        ("webchat", &[][..]),
        ("phone", &[]),
        ("orchestrator,engine", &[]),
        ("webchat,orchestrator,engine", &[]),
        ("api", &tokens),
        ("api,webchat", &tokens),
        ("helpdesk", &[]),
        ("api,orchestrator,engine,webchat,phone,helpdesk,webhooks,agent", &tokens),
    ] {
        let problems = read_in(roles, &[], &[]).err().unwrap_or_default();
        assert_eq!(problems, missing, "{roles}");
        let problems = read_in(roles, &[], &["CRYPTO_SECRET"]).expect_err("every role decrypts");
        assert_eq!(problems[0], "CRYPTO_SECRET is missing", "{roles}");
    }
}

#[test]
fn a_process_holds_no_secret_that_its_roles_do_not_need() {
    let given = [
        ("JWT_ACCESS_SECRET", "access-secret-16"),
        ("JWT_REFRESH_SECRET", "refresh-secret16"),
        ("ADMIN_PASSWORD", "an-administrator"),
        ("SMS_DRIVER", "pigeon"),
    ];
    let config = read_in("webchat,orchestrator,engine", &given, &[]).expect("not its matter");
    assert!(config.administration.is_none());
    let problems = read_in("api", &given, &[]).expect_err("its matter");
    assert_eq!(problems, ["SMS_DRIVER must be log, webhook, twilio or none"]);
}

#[test]
fn roles_are_lists_of_names() {
    let parse = |text: &str| text.parse::<Roles>();
    assert_eq!(parse("webchat, webhooks,api,engine,phone,helpdesk,orchestrator,agent"), Ok(Roles::all()));
    assert_eq!(parse("api,api"), parse("api"));
    for wrong in ["", "engine", "orchestrator,webchat", "api,", "API", "everything", "webchat gateway"] {
        assert_eq!(parse(wrong), Err(InvalidRoles), "{wrong:?}");
    }
    assert_eq!(
        InvalidRoles.to_string(),
        "must be a comma-separated list of agent, api, helpdesk, orchestrator, engine, phone, webchat and webhooks; orchestrator \
         and engine share a transaction, so a process has both or none: orchestrator,engine"
    );
}
