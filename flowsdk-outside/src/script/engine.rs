//! One script, or the scripts of one check, in a context of its own.

use std::time::Duration;

use flowsdk_core::flow::{ScriptFault, ScriptPosition};
use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Object, Runtime, Value as JsValue};
use rustix::time::{ClockId, clock_gettime};

use super::prelude::PRELUDE;
use super::source::{self, Intrinsics};
use super::{Answer, Question, Run};

/// How much processor time a script may take; on a busy machine that is longer by the clock.
const TIME: Duration = Duration::from_millis(100);
/// How much processor time the code may take that a text runs which is not the body it pretends to be.
const CHECK_TIME: Duration = Duration::from_secs(1);
/// How much memory it may take, its scope included.
const MEMORY: usize = 32 * 1024 * 1024;
/// How deep it may call.
const STACK: usize = 256 * 1024;
/// Most bytes of its result as JSON.
const RESULT: usize = 256 * 1024;
/// Most characters of a message.
const MESSAGE: usize = 500;

/// Returns the processor time of this thread so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Answers a question in this process.
pub(super) fn answer(question: &Question) -> Answer {
    let answered = match question {
        Question::Run(run) => attempt(run),
        Question::Check(scripts) => check(scripts),
    };
    answered.unwrap_or_else(|error| Answer::Error(error.to_string()))
}

/// Gives `work` a context whose code takes at most `time`, and the moment of processor time at which that is over.
fn within<T>(
    time: Duration,
    work: impl for<'js> FnOnce(&Ctx<'js>, Duration) -> rquickjs::Result<T>,
) -> rquickjs::Result<T> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MEMORY);
    runtime.set_max_stack_size(STACK);
    let context = Context::full(&runtime)?;
    let end = processor_time() + time;
    runtime.set_interrupt_handler(Some(Box::new(move || processor_time() > end)));
    context.with(|ctx| work(&ctx, end))
}

fn attempt(run: &Run) -> rquickjs::Result<Answer> {
    within(TIME, |ctx, end| {
        let now = run.scope.get("now").and_then(serde_json::Value::as_i64).unwrap_or(0);
        let intrinsics = prelude(ctx, run.seed, now)?;
        let result = evaluate(ctx, &intrinsics, run).catch(ctx);
        let json =
            result.and_then(|value| intrinsics.stringify.call::<_, Option<String>>((value,)).catch(ctx));
        Ok(match json {
            // Also where the script has swallowed the interruption: a promise takes it for its rejection.
            _ if processor_time() > end => Answer::Timeout,
            Ok(json) => read(json),
            Err(error) => described(&error),
        })
    })
}

fn check(scripts: &[String]) -> rquickjs::Result<Answer> {
    within(CHECK_TIME, |ctx, _end| {
        let intrinsics = prelude(ctx, 0, 0)?;
        let mut faults = Vec::new();
        for (script, text) in scripts.iter().enumerate() {
            if let Err(error) = source::parse(ctx, &intrinsics, text).catch(ctx) {
                let (at, message) = fault(&error, text);
                faults.push(ScriptFault { script, at, message });
            }
        }
        Ok(Answer::Faults(faults))
    })
}

/// Returns the place and the reason of a syntax error. One beyond the text names what the author did not write.
fn fault(error: &CaughtError<'_>, text: &str) -> (Option<ScriptPosition>, String) {
    let at = source::position(error);
    let mut lines = text.split('\n');
    match at {
        Some(at) if at.line > lines.clone().count() => {
            let last = lines.next_back().unwrap_or_default();
            let end = ScriptPosition { line: at.line - 1, column: last.chars().count() + 1 };
            (Some(end), "unexpected end of the script".to_owned())
        }
        at => (at, message(error)),
    }
}

#[allow(clippy::cast_precision_loss, reason = "JavaScript has no other numbers")]
fn prelude<'js>(ctx: &Ctx<'js>, seed: u64, now: i64) -> rquickjs::Result<Intrinsics<'js>> {
    let prelude: Function<'_> = ctx.eval(PRELUDE)?;
    let functions: Object<'_> = prelude.call((seed as f64, now as f64))?;
    Ok(Intrinsics {
        stringify: functions.get("stringify")?,
        is_script: functions.get("isScript")?,
        is_whole: functions.get("isWhole")?,
    })
}

/// Returns the value of the script; a function is called.
fn evaluate<'js>(ctx: &Ctx<'js>, intrinsics: &Intrinsics<'js>, run: &Run) -> rquickjs::Result<JsValue<'js>> {
    let body = source::parse(ctx, intrinsics, &run.script)?;
    let scope = ctx.json_parse(run.scope.to_string())?;
    let globals = ctx.globals();
    let fields = Object::from_value(scope.clone())?;
    for name in ["variables", "contact", "input", "now"] {
        globals.set(name, fields.get::<_, JsValue<'_>>(name)?)?;
    }
    let value = source::evaluate(ctx, intrinsics, &run.script, &body)?;
    match value.as_function() {
        Some(function) => function.call((fields.get::<_, JsValue<'_>>("variables")?, scope)),
        None => Ok(value),
    }
}

fn read(json: Option<String>) -> Answer {
    match json {
        // `undefined` has no JSON.
        None => Answer::Value(serde_json::Value::Null),
        Some(json) if json.len() > RESULT => {
            Answer::TooLarge(format!("a result of more than {RESULT} bytes"))
        }
        Some(json) => match serde_json::from_str(&json) {
            Ok(value) => Answer::Value(value),
            Err(_) => Answer::Error("the result is no JSON".to_owned()),
        },
    }
}

fn described(error: &CaughtError<'_>) -> Answer {
    let message = message(error);
    if message.contains("out of memory") {
        return Answer::TooLarge(message);
    }
    Answer::Error(match source::position(error) {
        Some(at) => format!("{at}: {message}"),
        None => message,
    })
}

fn message(error: &CaughtError<'_>) -> String {
    let message = match error {
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        // A getter of the thrown value is not called.
        CaughtError::Value(value) => match value.as_string().and_then(|text| text.to_string().ok()) {
            Some(text) => text,
            None => format!("threw {}", value.type_of()),
        },
        CaughtError::Error(error) => error.to_string(),
    };
    message.chars().take(MESSAGE).collect()
}
