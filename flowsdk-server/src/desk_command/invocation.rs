//! How the desk is started, as a shell takes it.

use std::env;
use std::path::Path;

/// Returns the command that opens a desk of the demonstration in `data`: with the program as it was started itself, so
/// that the command works where that one did.
pub fn command_line(data: &Path) -> String {
    let program = env::args_os().next().map(|program| program.to_string_lossy().into_owned());
    of(program.as_deref().unwrap_or(env!("CARGO_PKG_NAME")), &data.to_string_lossy())
}

fn of(program: &str, data: &str) -> String {
    format!("{} desk --data {}", quoted(program), quoted(data))
}

/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+@:".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_can_be_pasted() {
        for (program, data, expected) in [
            ("target/demo/flowsdk-server", "data", "target/demo/flowsdk-server desk --data data"),
            ("flowsdk-server", "/tmp/my data", "flowsdk-server desk --data '/tmp/my data'"),
            ("flowsdk-server", "ana's", r"flowsdk-server desk --data 'ana'\''s'"),
            ("flowsdk-server", "$HOME", "flowsdk-server desk --data '$HOME'"),
            ("flowsdk-server", "", "flowsdk-server desk --data ''"),
        ] {
            assert_eq!(of(program, data), expected);
        }
    }
}
