//! The parts of a block: the part of its type, input, outputs, conditions.

use std::collections::HashSet;

use super::{Findings, actions, between, contents, names, timeout};
use crate::flow::compiled::pattern::{MAX_COMPILED_ALL, MAX_PATTERNS, PatternError};
use crate::flow::definition::{
    Block, BlockKind, Comparator, Condition, ConditionSource, Input, OutputCondition, PATTERNS_TOO_LARGE,
    Validation, ValidationKind,
};
use crate::flow::engine::compare::fold;
use crate::flow::interpolate::Template;
use crate::message::ContentMessage;
use crate::text::Text;

/// Most turns of an agent block.
const MAX_AGENT_MESSAGES: u32 = 1_000;

pub(super) type Known = HashSet<String>;

pub(super) fn block(block: &Block, pointer: &str, known: &Known, findings: &mut Findings) {
    actions::check(&block.on_enter, &format!("{pointer}/onEnter"), known, findings);
    kind(&block.kind, pointer, known, findings);
    actions::check(&block.on_leave, &format!("{pointer}/onLeave"), known, findings);
    outputs(&block.output_conditions, &format!("{pointer}/outputConditions"), known, findings);
}

fn kind(kind: &BlockKind, pointer: &str, known: &Known, findings: &mut Findings) {
    match kind {
        BlockKind::Content { contents: messages, input: own } => {
            for (at, message) in messages.iter().enumerate() {
                let pointer = format!("{pointer}/contents/{at}");
                contents::check(message, &pointer, findings);
                for text in message.texts() {
                    let template = Template::parse(&text);
                    names::tokens(&template, &pointer, known, findings);
                    names::of_anonymous(&template, &pointer, findings);
                }
            }
            if let Some(own) = own {
                input(own, &format!("{pointer}/input"), known, findings);
                choices(messages, own, pointer, findings);
            }
        }
        BlockKind::Agent { max_messages, input_timeout, .. } => {
            if !(1..=MAX_AGENT_MESSAGES).contains(max_messages) {
                let message = between(1, u64::from(MAX_AGENT_MESSAGES));
                findings.error("out_of_range", format!("{pointer}/maxMessages"), message);
            }
            if let Some(millis) = input_timeout {
                timeout(*millis, &format!("{pointer}/inputTimeout"), findings);
            }
        }
        BlockKind::Human { .. } | BlockKind::Flow { .. } => {}
    }
}

fn input(input: &Input, pointer: &str, known: &Known, findings: &mut Findings) {
    if let Some(name) = &input.variable {
        names::variable(name, &format!("{pointer}/variable"), findings);
    }
    if let Some(millis) = input.timeout_ms {
        timeout(millis, &format!("{pointer}/timeoutMs"), findings);
    }
    if let Some(own) = &input.validation {
        validation(own, &format!("{pointer}/validation"), known, findings);
    }
}

fn validation(validation: &Validation, pointer: &str, known: &Known, findings: &mut Findings) {
    if let Some(text) = &validation.retry_text {
        let pointer = format!("{pointer}/retryText");
        contents::retry_text(text, &pointer, findings);
        let template = Template::parse(text);
        names::tokens(&template, &pointer, known, findings);
        names::of_anonymous(&template, &pointer, findings);
    }
    if validation.fail_target.is_some() && validation.max_retries.is_none() {
        findings.warn(
            "never_taken",
            format!("{pointer}/failTarget"),
            Text::new(
                "sem maxRetries as tentativas não têm fim, e este destino nunca é tomado",
                "without maxRetries there is no end to trying, and this target is never taken",
            ),
        );
    }
    let mut range = |holds: bool| {
        if !holds {
            findings.error(
                "out_of_range",
                pointer,
                Text::new("nenhuma resposta cabe nestes limites", "no answer can fit these limits"),
            );
        }
    };
    match &validation.kind {
        ValidationKind::Text { min_length, max_length } => {
            range(min_length.unwrap_or(0).max(1) <= max_length.unwrap_or(usize::MAX));
        }
        ValidationKind::Number { min, max, .. } => {
            range(min.unwrap_or(f64::NEG_INFINITY) <= max.unwrap_or(f64::INFINITY));
        }
        ValidationKind::Options { options } => {
            let pointer = format!("{pointer}/options");
            if options.is_empty() || options.iter().any(|option| option.trim().is_empty()) {
                findings.error(
                    "no_options",
                    pointer,
                    Text::new(
                        "há ao menos uma opção e nenhuma é vazia",
                        "there is at least one option and none is empty",
                    ),
                );
            }
        }
        ValidationKind::Regex { pattern } => {
            let checked = findings.patterns.check_whole(pattern);
            regex(checked, &format!("{pointer}/pattern"), findings);
        }
        ValidationKind::Email {} | ValidationKind::Date {} | ValidationKind::Phone {} => {}
    }
}

/// Most choices that a warning names.
const MAX_NAMED: usize = 10;

/// Warns of buttons and rows that the options of the validation leave out.
fn choices(messages: &[ContentMessage], input: &Input, pointer: &str, findings: &mut Findings) {
    let Some(ValidationKind::Options { options }) = input.validation.as_ref().map(|own| &own.kind) else {
        return;
    };
    let options: HashSet<_> = options.iter().map(|option| fold(option)).collect();
    for (at, message) in messages.iter().enumerate() {
        let refused: Vec<_> = message
            .options()
            .into_iter()
            // The value of a token is not known here.
            .filter(|choice| Template::parse(&choice.title).as_literal().is_some())
            .filter(|choice| {
                ![&choice.id, &choice.title].iter().any(|text| options.contains(&fold(text.trim())))
            })
            .map(|choice| format!("`{}`", choice.title))
            .take(MAX_NAMED)
            .collect();
        if !refused.is_empty() {
            let names = refused.join(", ");
            findings.warn(
                "never_accepted",
                format!("{pointer}/contents/{at}"),
                Text::of(
                    format!("{names}: nem o id nem o título está em `options`; a escolha é recusada"),
                    format!("{names}: neither id nor title is in `options`; this choice is refused"),
                ),
            );
        }
    }
}

fn regex(checked: Result<(), PatternError>, pointer: &str, findings: &mut Findings) {
    match checked {
        Ok(()) => {}
        Err(PatternError::Bad(message)) => findings.error("bad_regex", pointer, message),
        // Once: the others behind it were not looked at.
        Err(PatternError::Beyond) if findings.beyond => {}
        Err(PatternError::Beyond) => {
            findings.beyond = true;
            let size = MAX_COMPILED_ALL / (1024 * 1024);
            let message = Text::of(
                format!(
                    "até aqui as expressões regulares do flow passam de {MAX_PATTERNS} ou, compiladas, de {size} MiB"
                ),
                format!(
                    "up to here the regular expressions of the flow are more than {MAX_PATTERNS} or take more than {size} MiB, compiled"
                ),
            );
            findings.error(PATTERNS_TOO_LARGE, pointer, message);
        }
    }
}

fn outputs(outputs: &[OutputCondition], pointer: &str, known: &Known, findings: &mut Findings) {
    let mut ids = HashSet::new();
    for (at, output) in outputs.iter().enumerate() {
        let pointer = format!("{pointer}/{at}");
        if let Some(id) = &output.id
            && !ids.insert(id)
        {
            let message = Text::of(
                format!("outra saída do bloco também tem o id `{id}`"),
                format!("another output of the block has the id `{id}` too"),
            );
            findings.error("duplicate_output", format!("{pointer}/id"), message);
        }
        if output.conditions.is_empty() {
            findings.warn(
                "always_taken",
                &pointer,
                Text::new(
                    "uma saída sem condições é sempre tomada",
                    "an output without conditions is always taken",
                ),
            );
        }
        conditions(&output.conditions, &format!("{pointer}/conditions"), known, findings);
    }
}

pub(super) fn conditions(conditions: &[Condition], pointer: &str, known: &Known, findings: &mut Findings) {
    for (at, condition) in conditions.iter().enumerate() {
        let pointer = format!("{pointer}/{at}");
        match &condition.source {
            ConditionSource::Context { key } => {
                let root = key.trim().split('.').next().unwrap_or("");
                names::read(root, &format!("{pointer}/source/key"), known, findings);
            }
            ConditionSource::Static { value } => {
                let pointer = format!("{pointer}/source/value");
                names::tokens(&Template::parse(value), &pointer, known, findings);
            }
            ConditionSource::Input {} | ConditionSource::Contact { .. } | ConditionSource::System { .. } => {}
        }
        if condition.comparator.takes_values() && condition.values.is_empty() {
            findings.error(
                "no_values",
                &pointer,
                Text::new(
                    "este comparador precisa de ao menos um valor",
                    "this comparator needs at least one value",
                ),
            );
        }
        for (at, value) in condition.values.iter().enumerate() {
            let pointer = format!("{pointer}/values/{at}");
            let template = Template::parse(&value.0);
            if condition.comparator != Comparator::Matches {
                names::tokens(&template, &pointer, known, findings);
            } else if template.as_literal().is_none() {
                // An expression is compiled once, so a text of a contact cannot become one.
                findings.error(
                    "bad_regex",
                    pointer,
                    Text::new("uma expressão regular não tem tokens", "a regular expression has no tokens"),
                );
            } else {
                let checked = findings.patterns.check_search(&value.0);
                regex(checked, &pointer, findings);
            }
        }
    }
}
