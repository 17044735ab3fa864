//! What is understood, and how a mistake is told.

use super::derive;

/// The written code without blanks, or the messages of the errors.
fn written(input: &str) -> Result<String, String> {
    let input = syn::parse_str(input).expect("Rust");
    match derive(&input) {
        Ok(tokens) => Ok(tokens.to_string().split_whitespace().collect()),
        Err(errors) => Err(errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("; ")),
    }
}

#[test]
fn every_part_becomes_an_arm() {
    for (input, arms) in [
        (
            r#"enum E { #[fault(NotFound, "gone", pt = "a", en = "b")] A }"#,
            &[
                "Self::A=>::flowsdk_core::fault::FaultKind::NotFound,",
                "Self::A=>\"gone\",",
                "Self::A=>::flowsdk_core::text::Text::new(\"a\",\"b\"),",
            ][..],
        ),
        (
            r#"enum E { #[fault(NotFound, codes::GONE, text = TEXT, field = "id")] A, #[fault(transparent)] B(X) }"#,
            &[
                "Self::A=>codes::GONE,",
                "Self::A=>TEXT,",
                "Self::A=>::core::convert::Into::into(\"id\"),",
                "Self::B(_0)=>::flowsdk_core::fault::Fault::field(_0),",
                "Self::B(_0)=>::flowsdk_core::fault::Fault::rate_limit(_0),_=>::core::default::Default::default(),",
            ],
        ),
        (
            r#"enum E { #[fault(Conflict, "c", pt = "a {0} {{x}}", en = "b {1}", details = of(.0, &.1.list[.0])) ] A(u8, X) }"#,
            &[
                "::std::format!(\"a{_0}{{x}}\"),::std::format!(\"b{_1}\")",
                "Self::A(_0,_1)=>of(_0,&_1.list[_0]),",
            ],
        ),
        (
            r#"enum E { #[fault(Invalid, "c", text = of(&.0[1..end], .0[..end], .0[..=.at], X { a: 1, ...0 }))] A { end: u8, at: u8 } }"#,
            &["=>of(&_0[1..end],_0[..end],_0[..=at],X{a:1,.._0}),"],
        ),
        (
            r#"enum E { #[fault(Invalid, "c", text = of(.0.1, .0.1.2, .0.name, a.0.1, 0.5))] A(X) }"#,
            &["Self::A(_0)=>of(_0.1,_0.1.2,_0.name,a.0.1,0.5),"],
        ),
        (
            r#"enum E { #[fault(Invalid, "c", text = { f(&mut .0); if .1 { return .0; } for a in .0 {} match .0 { _ => .1 } })] A(X, Y) }"#,
            &["{f(&mut_0);if_1{return_0;}forain_0{}match_0{_=>_1}},"],
        ),
        (
            r#"enum E { #[fault(RateLimited, "c", pt = "{now}", en = "b", rate_limit = *.limit)] A { now: u8, limit: R } }"#,
            &[
                "::std::format!(\"{now}\"),::std::format!(\"b\")",
                "Self::A{now,limit}=>::core::option::Option::Some(*limit),",
            ],
        ),
        (
            r#"#[fault(Forbidden, "f", field = "x")] enum E { #[fault(pt = "a", en = "b")] A, #[fault(Invalid, "g", text = T)] B }"#,
            &[
                "Self::A=>::flowsdk_core::fault::FaultKind::Forbidden,",
                "Self::B=>::flowsdk_core::fault::FaultKind::Invalid,",
                "Self::A=>\"f\",Self::B=>\"g\",",
                "Self::B=>::core::convert::Into::into(\"x\"),",
            ],
        ),
        (
            r#"#[fault(Conflict, "c", pt = "a", en = "b")] struct S;"#,
            &["Self=>::flowsdk_core::fault::FaultKind::Conflict,"],
        ),
        (
            r#"#[fault(transparent)] struct S<T: Fault> { inner: T }"#,
            &[
                "impl<T:Fault>::flowsdk_core::fault::FaultforS<T>",
                "Self{inner}=>::flowsdk_core::fault::Fault::kind(inner),",
            ],
        ),
    ] {
        let written = written(input).expect(input);
        for arm in arms {
            assert!(written.contains(arm), "{input}: no {arm} in {written}");
        }
    }
}

#[test]
fn methods_that_nothing_overrides_stay_the_trait_s() {
    let written = written(r#"enum E { #[fault(NotFound, "gone", pt = "a", en = "b")] A }"#).expect("a fault");
    for name in ["field", "details", "rate_limit"] {
        assert!(!written.contains(&format!("fn{name}")), "{name}");
    }
}

#[test]
fn mistakes_are_named() {
    let hint = r#"#[fault(Kind, "code", pt = "..", en = "..")] or #[fault(transparent)]"#;
    for (input, message) in [
        ("enum E { A }", format!("`A` has no kind: {hint}")),
        (r#"enum E { #[fault(pt = "a", en = "b")] A }"#, format!("`A` has no kind: {hint}")),
        (r#"enum E { #[fault(NotFound, pt = "a", en = "b")] A }"#, format!("`A` has no code: {hint}")),
        (r#"enum E { #[fault(NotFound, "gone")] A }"#, format!("`A` has no text: {hint}")),
        ("enum E { A, B }", format!("`A` has no kind: {hint}; `B` has no kind: {hint}")),
        (r#"enum E { #[fault(pt = "a")] A }"#, "`pt` without `en`".to_owned()),
        (r#"enum E { #[fault(en = "a")] A }"#, "`en` without `pt`".to_owned()),
        (
            r#"enum E { #[fault(pt = "a", en = "b", text = T)] A }"#,
            "either `text`, or `pt` and `en`".to_owned(),
        ),
        (r#"enum E { #[fault(field = "a", field = "b")] A }"#, "a second `field`".to_owned()),
        (
            r#"enum E { #[fault(fields = "a")] A }"#,
            "unknown key `fields`: expected pt, en, text, field, details or rate_limit".to_owned(),
        ),
        (
            r#"enum E { #[fault(A, "b", "c")] A }"#,
            "expected `key = value` after the kind and the code".to_owned(),
        ),
        ("enum E { #[fault(field = )] A }", "expected a value".to_owned()),
        ("enum E { #[fault(transparent)] A }", "`A` is transparent and needs one field".to_owned()),
        ("enum E { #[fault(transparent)] A(X, Y) }", "`A` is transparent and needs one field".to_owned()),
        (
            r#"enum E { #[fault(transparent, field = "a")] A(X) }"#,
            "a transparent fault has nothing of its own".to_owned(),
        ),
        (
            "#[fault(transparent)] enum E { A(X) }",
            "`transparent` belongs to a variant, not to the enum".to_owned(),
        ),
        ("enum E { #[fault(transparent)] #[fault(transparent)] A(X) }", "a second #[fault(..)]".to_owned()),
        ("enum E {}", "an error without variants".to_owned()),
        ("union U { a: u8 }", "Fault is derived for enums and structs".to_owned()),
    ] {
        let error = written(input).expect_err(input);
        assert!(error.contains(&message), "{input}: {error}");
    }
}
