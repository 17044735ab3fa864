//! `cargo xtask shape`: counts of the structure of the workspace, to compare one commit with another.

mod citations;
mod commit;
mod modules;
mod sources;
mod wording;

use anyhow::Result;

use crate::workspace;
use sources::Source;

/// Prints the counts; of `commit`, the places that it touches.
pub(crate) fn run(commit: Option<&str>) -> Result<u8> {
    let root = workspace::root();
    if let Some(commit) = commit {
        print!("{}", commit::price(&root, commit)?);
        return Ok(0);
    }
    let sources = sources::read(&root)?;
    println!("{:<28}{:>10}{:>10}{:>8}", "crate", "lines", "tests", "files");
    for (name, lines, tests, files) in sources::by_crate(&sources) {
        println!("{name:<28}{lines:>10}{tests:>10}{files:>8}");
    }
    println!();
    let core = modules::graph(&sources, "flowsdk-core");
    println!("modules of flowsdk-core: {}", core.len());
    for knot in modules::knots(&core) {
        println!("  in one knot: {} ({})", knot.len(), knot.join(", "));
    }
    println!("macro_rules!: {}", wording::macros(&sources));
    let words = wording::count(&sources);
    println!("phrases that begin with a free \"what\": {}", words.what);
    println!("he, his or him of a caller: {}", words.he);
    println!("docs of at most three words: {}", words.short);
    let lost = citations::lost(&root)?;
    println!("citations of the contract and its rulings: {}, to no place: {}", words.citations, lost.len());
    for citation in lost {
        println!("  {citation}");
    }
    let longest = sources.iter().map(Source::lines).max().unwrap_or_default();
    let long = sources.iter().filter(|source| source.lines() > 400).count();
    println!("files of more than 400 lines: {long}, the longest has {longest}");
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The modules of core are a directed graph, but for the model of a conversation itself (ADR 0020).
    #[test]
    fn only_the_five_models_of_core_are_in_a_knot() {
        let sources = sources::read(&workspace::root()).expect("the sources");
        let core = modules::graph(&sources, "flowsdk-core");
        let knots = modules::knots(&core);
        assert_eq!(knots, [["contact", "event", "flow", "message", "session"]]);
    }
}
