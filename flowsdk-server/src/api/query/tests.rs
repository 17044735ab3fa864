use flowsdk_core::page::{Cursor, PageRequest};

use super::*;

fn problems(query: QueryReader) -> Vec<String> {
    match query.finish() {
        Ok(()) => Vec::new(),
        Err(error) => error.details().iter().map(|one| one.field().to_owned()).collect(),
    }
}

#[test]
fn a_page_has_50_items_unless_the_caller_says_otherwise() {
    let mut query = QueryReader::new("other=1");
    assert_eq!(PageRequest::read(&mut query), PageRequest::default());
    assert!(problems(query).is_empty());
    let cursor = Cursor { at: Timestamp::from_millis(7), id: "c1".to_owned() };
    let mut query = QueryReader::new(&format!("cursor={cursor}&limit=200"));
    assert_eq!(PageRequest::read(&mut query), PageRequest { limit: 200, after: Some(cursor) });
}

#[test]
fn every_problem_is_reported_at_once() {
    for limit in ["", "0", "201", "x", "-1", "1.5", "99999999999"] {
        let mut query = QueryReader::new(&format!("limit={limit}&cursor=zz&from=soon&side=left"));
        let _page = PageRequest::read(&mut query);
        assert_eq!(query.time("from"), None);
        assert_eq!(query.one_of("side", &["up", "down"], |name| name), None);
        assert_eq!(problems(query), ["cursor", "limit", "from", "side"], "{limit}");
    }
}

#[test]
fn a_parameter_twice_or_with_nul_is_a_problem() {
    let mut query = QueryReader::new("a=1&a=2&b=%00&c=1");
    assert_eq!((query.text("a"), query.text("b"), query.text("c")), (None, None, Some("1".to_owned())));
    assert_eq!(problems(query), ["a", "b"]);
}

#[test]
fn moments_have_an_offset() {
    for (text, millis) in [
        ("1970-01-01T00:00:01Z", Some(1_000)),
        ("1970-01-01T00:00:01.5Z", Some(1_500)),
        ("1970-01-01T01:00:00+01:00", Some(0)),
        ("1970-01-01T01:00:00%2B01:00", Some(0)),
        ("1970-01-01", None),
        ("1970-01-01T00:00:01", None),
    ] {
        let mut query = QueryReader::new(&format!("at={text}"));
        assert_eq!(query.time("at").map(Timestamp::as_millis), millis, "{text}");
    }
}
