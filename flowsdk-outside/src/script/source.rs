//! The text of a script: whether it is JavaScript, and the places of its author's errors.

use flowsdk_core::flow::ScriptPosition;
use rquickjs::context::EvalOptions;
use rquickjs::{CaughtError, Ctx, Exception, Function, Value};

/// The name of a script in backtraces, when it runs as it is.
const SCRIPT: &str = "script";
/// The name of a script in backtraces, when it is the body of a function.
const BODY: &str = "body";
/// What stands around a body. The first line is not the author's.
const AROUND: (&str, &str) = ("function () {\n", "\n}");

/// What the prelude took before a script could put something else in its place.
pub(super) struct Intrinsics<'js> {
    pub(super) stringify: Function<'js>,
    pub(super) is_script: Function<'js>,
    pub(super) is_whole: Function<'js>,
}

/// Returns the function whose body `script` is. Every script is the body of a function too, one that says `return` is
/// nothing else. No statement of it runs.
pub(super) fn parse<'js>(
    ctx: &Ctx<'js>,
    intrinsics: &Intrinsics<'js>,
    script: &str,
) -> rquickjs::Result<Function<'js>> {
    let text = format!("{}{script}{}", AROUND.0, AROUND.1);
    let function: Value<'js> = ctx.eval_with_options(format!("({text})"), named(BODY))?;
    // Of a text that closes the function and opens another one, the value is not the whole text.
    if intrinsics.is_whole.call((function.clone(), text))? {
        Function::from_value(function)
    } else {
        Err(Exception::throw_syntax(ctx, "a bracket closes what the script did not open"))
    }
}

/// Runs a script that [`parse`] has accepted, and returns its value.
pub(super) fn evaluate<'js>(
    ctx: &Ctx<'js>,
    intrinsics: &Intrinsics<'js>,
    script: &str,
    body: &Function<'js>,
) -> rquickjs::Result<Value<'js>> {
    if intrinsics.is_script.call((script,))? {
        ctx.eval_with_options(script, named(SCRIPT))
    } else {
        body.call(())
    }
}

fn named(file: &str) -> EvalOptions {
    let mut options = EvalOptions::default();
    options.filename = Some(file.to_owned());
    options
}

/// Returns the place in the script that an error comes from: the innermost one of its backtrace.
pub(super) fn position(error: &CaughtError<'_>) -> Option<ScriptPosition> {
    let CaughtError::Exception(exception) = error else { return None };
    exception.stack()?.lines().find_map(place)
}

/// Reads a line of a backtrace, `    at name (file:line:column)` or `    at file:line:column`.
fn place(frame: &str) -> Option<ScriptPosition> {
    let (_, place) = frame.rsplit_once(['(', ' '])?;
    let mut parts = place.trim_end_matches(')').rsplitn(3, ':');
    let (column, line, file) = (parts.next()?, parts.next()?, parts.next()?);
    let before = match file {
        SCRIPT => 0,
        BODY => 1,
        _ => return None,
    };
    let line = line.parse::<usize>().ok()?.checked_sub(before).filter(|line| *line > 0)?;
    Some(ScriptPosition { line, column: column.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_backtraces_are_those_of_the_author() {
        let at = |line, column| Some(ScriptPosition { line, column });
        for (frame, expected) in [
            ("    at script:1:5", at(1, 5)),
            ("    at body:3:1", at(2, 1)),
            ("    at <eval> (script:2:7)", at(2, 7)),
            ("    at f(x):1:1 (body:2:7)", at(1, 7)),
            ("    at parse (native)", None),
            ("    at body:1:1", None),
            ("    at eval_script:1:1", None),
            ("    at script:x:1", None),
            ("", None),
        ] {
            assert_eq!(place(frame), expected, "{frame}");
        }
    }
}
