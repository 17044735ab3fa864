//! The rules of interpolation (spec A 9).

use serde_json::json;

use super::World;
use crate::flow::interpolate::{MAX_RENDERED, Template, ValueTemplate, View, size_of};

#[test]
fn braces_that_make_no_token_stay_text() {
    let world = World::new();
    for (text, expected) in [
        ("", ""),
        ("plain", "plain"),
        ("{name}", "{name}"),
        ("{{name", "{{name"),
        ("name}}", "name}}"),
        ("}}name{{", "}}name{{"),
        ("{{a}b}}", "{{a}b}}"),
        ("{{a{b}}", "{{a{b}}"),
        ("{{{name}}}", "{Bia}"),
        ("{{{{name}}}}", ""),
        ("{{x{{name}}y}}", ""),
        ("{{a{{b}}}}", ""),
        ("{{router.{{name}}}}", ""),
        ("{{{absent}}{name}}", ""),
        ("{{{{absent}}name}}", ""),
        ("{{a}} {{name}} {{", " Bia {{"),
        ("É {{ name }} ç", "É Bia ç"),
        ("{}", "{}"),
        ("{{}}", ""),
    ] {
        assert_eq!(world.render(text), expected, "{text}");
    }
}

#[test]
fn a_value_is_never_interpolated_again() {
    let mut world = World::new().hearing(json!({ "type": "text", "text": { "body": "{{router.brand}}" } }));
    world.session.variables.insert("half".into(), json!("{{router"));
    assert_eq!(world.render("{{input}}"), "{{router.brand}}");
    assert_eq!(world.render("{{half}}.brand}}"), "{{router.brand}}");
}

#[test]
fn missing_maps_are_empty_maps() {
    let world = World::new();
    let view = View { flow_variables: None, ..world.view() };
    assert_eq!(Template::parse("<{{flow.promo}}>").render(&view), "<>");
}

#[test]
fn static_variables_are_noticed() {
    for (text, uses) in
        [("{{router.a}}", true), ("{{ flow.a }}", true), ("{{contact.a}}", false), ("router.a", false)]
    {
        assert_eq!(Template::parse(text).uses_static_variables(), uses, "{text}");
    }
}

#[test]
fn a_rendered_text_is_cut_at_its_limit() {
    let mut world = World::new();
    world.session.variables.insert("x".into(), json!("é".repeat(MAX_RENDERED / 2)));
    assert_eq!(world.render("a{{x}}{{x}}{{x}}").len(), MAX_RENDERED - 1);
    let list = ValueTemplate::parse(&json!(["{{x}}", { "y": "{{x}}" }]));
    assert!(size_of(&list.render(&world.view())) <= MAX_RENDERED + 1);
}

#[test]
fn values_keep_their_shape() {
    let world = World::new();
    let value =
        json!({ "n": 1, "t": true, "z": null, "s": "{{name}}!", "l": ["{{count}}", 2], "{{name}}": "k" });
    assert_eq!(
        ValueTemplate::parse(&value).render(&world.view()),
        json!({ "n": 1, "t": true, "z": null, "s": "Bia!", "l": ["3", 2], "{{name}}": "k" })
    );
}
