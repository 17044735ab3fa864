//! The first samples of docs/embedding.md are the programs of this crate, and stay short.

const GUIDE: &str = include_str!("../../docs/embedding.md");

/// The program without its head, as the guide shows it.
fn shown(program: &str) -> String {
    let code: Vec<&str> =
        program.lines().skip_while(|line| line.starts_with("//!") || line.is_empty()).collect();
    code.join("\n").replace("../../flows/", "").replace("../../agents/", "")
}

#[test]
fn the_guide_shows_the_programs_as_they_are() {
    for (program, most) in [
        (include_str!("../src/bin/flow.rs"), 15),
        (include_str!("../src/bin/bot.rs"), 25),
        (include_str!("../src/bin/agent.rs"), 40),
        (include_str!("../src/bin/mount.rs"), 40),
    ] {
        let shown = shown(program);
        assert!(GUIDE.contains(&shown), "the guide shows another program:\n{shown}");
        let own = shown.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
        assert!(own.clone().count() <= most, "{} lines of at most {most}", own.count());
    }
}
