//! One script in a context of its own.

use std::time::Duration;

use rquickjs::{CatchResultExt as _, CaughtError, Context, Ctx, Function, Object, Runtime, Value as JsValue};
use rustix::time::{ClockId, clock_gettime};

use super::prelude::PRELUDE;
use super::{Answer, Question};

/// How much processor time a script may take; on a busy machine that is longer by the clock.
const TIME: Duration = Duration::from_millis(100);
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

/// Runs a script in this process.
pub(super) fn run(question: &Question) -> Answer {
    match attempt(question) {
        Ok(answer) => answer,
        Err(error) => Answer::Error(error.to_string()),
    }
}

fn attempt(question: &Question) -> rquickjs::Result<Answer> {
    let runtime = Runtime::new()?;
    runtime.set_memory_limit(MEMORY);
    runtime.set_max_stack_size(STACK);
    let context = Context::full(&runtime)?;
    let end = processor_time() + TIME;
    runtime.set_interrupt_handler(Some(Box::new(move || processor_time() > end)));
    context.with(|ctx| {
        let now = question.scope.get("now").and_then(serde_json::Value::as_i64).unwrap_or(0);
        let prelude: Function<'_> = ctx.eval(PRELUDE)?;
        #[allow(clippy::cast_precision_loss, reason = "JavaScript has no other numbers")]
        prelude.call::<_, ()>((question.seed as f64, now as f64))?;
        // Taken before the script can put something else in its place.
        let stringify: Function<'_> = ctx.eval("JSON.stringify")?;
        let result = evaluate(&ctx, question).catch(&ctx);
        let json = result.and_then(|value| stringify.call::<_, Option<String>>((value,)).catch(&ctx));
        Ok(match json {
            // Also where the script has swallowed the interruption: a promise takes it for its rejection.
            _ if processor_time() > end => Answer::Timeout,
            Ok(json) => read(json),
            Err(error) => described(&error),
        })
    })
}

/// Returns the value of the script; a function is called.
fn evaluate<'js>(ctx: &Ctx<'js>, question: &Question) -> rquickjs::Result<JsValue<'js>> {
    let scope = ctx.json_parse(question.scope.to_string())?;
    let globals = ctx.globals();
    let fields = Object::from_value(scope.clone())?;
    for name in ["variables", "contact", "input", "now"] {
        globals.set(name, fields.get::<_, JsValue<'_>>(name)?)?;
    }
    let value: JsValue<'_> = ctx.eval(question.script.as_str())?;
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
    let message = match error {
        CaughtError::Exception(exception) => exception.message().unwrap_or_default(),
        // A getter of the thrown value is not called.
        CaughtError::Value(value) => match value.as_string().and_then(|text| text.to_string().ok()) {
            Some(text) => text,
            None => format!("threw {}", value.type_of()),
        },
        CaughtError::Error(error) => error.to_string(),
    };
    let message: String = message.chars().take(MESSAGE).collect();
    if message.contains("out of memory") { Answer::TooLarge(message) } else { Answer::Error(message) }
}
