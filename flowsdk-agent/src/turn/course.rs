//! How a turn goes on after each answer of the model (spec B 4.9, step 6).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::guardrail::{EnforcedRules, PersonalData, Violation};
use crate::model::ToolCall;
use crate::tool::{Command, NativeTool, Rejection, Toolset, read};
use crate::turn::{MediaFault, Unheard};

/// Most answers that a model is asked for in a turn.
pub const MAX_ITERATIONS: u32 = 20;
/// Calls of one answer that are run; a model that makes more has lost its way.
const MAX_CALLS: usize = 32;
/// After so many calls of a tool that could not be used it is not worth another try.
const MAX_FAILURES: u32 = 3;

/// So many answers of a turn may break a rule: one may be said in another way.
const MAX_BLOCKED: u32 = 2;

/// How often a turn goes on that its process has left.
const MAX_RESUMPTIONS: u32 = 20;

/// The result of a message that was sent.
pub const SENT: &str = "sent — do not send more messages; wait for the user's next reply";
/// What a model is told that neither calls a tool nor has sent anything.
pub const NUDGE: &str = "You have not answered the customer. Finish with a tool: send a message, transfer the \
                         conversation, or end the session.";
const OVER: &str = "ignored: the conversation has already been handed on";
const BEHIND_BLOCKED: &str =
    "not done: the call before it was blocked. Make it again where it is still wanted.";
const TOO_MANY: &str = "ignored: too many calls at once";
const TRANSFER_AFTER_MESSAGE: &str = "transfer aborted: a message was already sent in this turn";
const GIVE_IT_UP: &str = "Do not call this tool again in this turn.";

/// The course of a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Course {
    /// Characters of the last message of the contact.
    #[serde(default)]
    heard: usize,
    /// The first input, while there are recordings in it that are not transcribed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unheard: Option<Unheard>,
    /// How often it went on after its process had left it.
    #[serde(default)]
    resumed: u32,
    iterations: u32,
    /// Calls over all answers.
    #[serde(default)]
    calls: u32,
    /// Answers that broke a rule.
    #[serde(default)]
    blocked: u32,
    /// Personal data that its models are not told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    hidden: Vec<PersonalData>,
    has_sent: bool,
    was_nudged: bool,
    failures: BTreeMap<String, u32>,
    round: Round,
}

/// What the calls of one answer have done so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Round {
    calls: usize,
    has_sent: bool,
    is_broken: bool,
    /// Whether a call broke a rule.
    #[serde(default)]
    is_blocked: bool,
}

/// What becomes of a call.
#[derive(Debug, Clone, PartialEq)]
pub enum Judgement {
    /// It is run, and [`Course::ran`] is told.
    Run(Act),
    /// It is not run: this is its result.
    Answer(String),
    /// It is not run, because it breaks a rule. [`Course::blocked`] returns its result.
    Blocked(Violation),
}

/// What is run.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    /// A tool of the executor.
    Native(Command),
    /// A flow of kind `tool`, by its name, with these parameters.
    Flow(String, Map<String, Value>),
}

/// What a call has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effect {
    /// The contact was written to.
    pub has_sent: bool,
    /// The part of the agent is over, or its tool aborts the turn.
    pub breaks: bool,
}

/// How the turn goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The model is asked again, with the results of its calls.
    Ask,
    /// The model is asked again, after [`NUDGE`].
    Nudge,
    /// The turn is over.
    Over(Ending),
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The contact was answered.
    Answered,
    /// A tool ended it.
    Broken,
    /// The contact was not answered: `endAgentSession('fallback_stuck')`.
    Stuck,
    /// A second answer broke a rule: `endAgentSession('fallback_stuck')`, too.
    Blocked,
}

impl Course {
    /// Returns the course of a turn that answers a message of so many characters.
    pub fn hearing(characters: usize) -> Self {
        Self { heard: characters, ..Self::default() }
    }

    /// Notes that recordings of the first input are to be transcribed before a model is asked.
    pub fn has_to_hear(&mut self, unheard: Option<Unheard>) {
        self.unheard = unheard;
    }

    /// Returns the recordings that are not transcribed yet.
    pub fn unheard(&self) -> Option<&Unheard> {
        self.unheard.as_ref()
    }

    /// Notes what was said in the recordings, or why nobody knows. Returns the text of the first input; `None` if there were no
    /// recordings.
    pub fn note_heard(&mut self, transcriptions: &[Result<String, MediaFault>]) -> Option<String> {
        let (text, length) = self.unheard.take()?.heard(transcriptions);
        self.heard = length;
        Some(text)
    }

    /// Goes on after its process has left it. Returns whether it may: a turn whose steps cannot be written would ask its model
    /// again and again.
    pub fn resume(&mut self) -> bool {
        self.resumed += 1;
        self.resumed <= MAX_RESUMPTIONS
    }

    /// Notes which personal data its models are not told.
    pub fn hide(&mut self, kinds: &[PersonalData]) {
        for kind in kinds {
            if !self.hidden.contains(kind) {
                self.hidden.push(*kind);
            }
        }
    }

    /// Returns which personal data its models are not told.
    pub fn hidden(&self) -> &[PersonalData] {
        &self.hidden
    }

    /// Returns of how many characters the last message of the contact is.
    pub fn heard(&self) -> usize {
        self.heard
    }

    /// Returns whether the contact was written to.
    pub fn has_sent(&self) -> bool {
        self.has_sent || self.round.has_sent
    }

    /// Returns how many calls were judged.
    pub fn calls(&self) -> u32 {
        self.calls
    }

    /// Judges the next call of an answer. Each call gets exactly one result: that of what is run, or the one that stands in
    /// the judgement. Of an answer that breaks a rule, nothing is run from there on.
    pub fn judge(&mut self, toolset: &Toolset, rules: &EnforcedRules, call: &ToolCall) -> Judgement {
        self.round.calls += 1;
        self.calls = self.calls.saturating_add(1);
        if self.round.is_broken {
            return Judgement::Answer(OVER.to_owned());
        }
        if self.round.is_blocked {
            return Judgement::Answer(BEHIND_BLOCKED.to_owned());
        }
        if self.round.calls > MAX_CALLS {
            return Judgement::Answer(TOO_MANY.to_owned());
        }
        match self.act_of(toolset, call) {
            Ok(Act::Native(Command::TransferToAgent { .. })) if self.has_sent() => {
                self.round.is_broken = true;
                Judgement::Answer(TRANSFER_AFTER_MESSAGE.to_owned())
            }
            Ok(act) => match act.check(rules) {
                Ok(()) => Judgement::Run(act),
                Err(violation) => {
                    self.round.is_blocked = true;
                    Judgement::Blocked(violation)
                }
            },
            Err(Rejection(why)) => Judgement::Answer(self.rejected(&call.name, why)),
        }
    }

    fn act_of(&self, toolset: &Toolset, call: &ToolCall) -> Result<Act, Rejection> {
        if !toolset.has(&call.name) {
            return Err(Rejection(format!("there is no tool `{}`", short(&call.name))));
        }
        match NativeTool::parse(&call.name) {
            Some(tool) => read(tool, &call.arguments, toolset.channel()).map(Act::Native),
            None => match serde_json::from_str(&call.arguments) {
                Ok(parameters) => Ok(Act::Flow(call.name.clone(), parameters)),
                Err(error) => Err(Rejection(format!("the arguments are no JSON object: {error}"))),
            },
        }
    }

    /// Returns the result of a call that breaks a rule.
    pub fn blocked(violation: Violation) -> String {
        format!("blocked: {violation}. This call had no effect. Say it in another way.")
    }

    /// Counts a call that could not be used, and returns its result.
    fn rejected(&mut self, tool: &str, why: String) -> String {
        let failures = self.failures.entry(short(tool)).or_default();
        *failures += 1;
        if *failures >= MAX_FAILURES {
            format!("error: {why}. {GIVE_IT_UP}")
        } else {
            format!("error: {why}")
        }
    }

    /// Notes what a call has done that was run.
    pub fn ran(&mut self, effect: Effect) {
        self.round.has_sent |= effect.has_sent;
        self.round.is_broken |= effect.breaks;
    }

    /// Returns the result of a call that was run and could not do what it was to, such as a flow that failed. It counts as one
    /// that could not be used. A transfer that cannot be made breaks the turn instead.
    pub fn failed(&mut self, tool: &str, why: String) -> String {
        self.rejected(tool, why)
    }

    /// Returns how the turn goes on when all calls of an answer have their results.
    pub fn end_round(&mut self) -> Next {
        let round = std::mem::take(&mut self.round);
        let had_sent = self.has_sent;
        self.has_sent |= round.has_sent;
        self.iterations += 1;
        if round.is_broken {
            return Next::Over(Ending::Broken);
        }
        self.blocked += u32::from(round.is_blocked);
        if self.blocked >= MAX_BLOCKED {
            return Next::Over(Ending::Blocked);
        }
        let ending = if self.has_sent { Ending::Answered } else { Ending::Stuck };
        let is_silent = round.calls == 0;
        if self.iterations >= MAX_ITERATIONS
            || (had_sent && !round.has_sent && !round.is_blocked)
            || (is_silent && self.was_nudged)
        {
            return Next::Over(ending);
        }
        if is_silent {
            self.was_nudged = true;
            return Next::Nudge;
        }
        Next::Ask
    }
}

impl Act {
    /// Checks what the contact would read of it, or what would be kept or passed on.
    fn check(&self, rules: &EnforcedRules) -> Result<(), Violation> {
        match self {
            Self::Native(Command::Send(content)) => rules.check_message(content),
            Self::Native(Command::SetVariable(key, value) | Command::SetContactVariable(key, value)) => {
                rules.check_text(key)?;
                rules.check_value_of_flows(value)
            }
            Self::Native(
                Command::End { reason: Some(reason), .. } | Command::TransferToHuman { reason: Some(reason) },
            ) => rules.check_text_of_flows(reason),
            Self::Native(_) => Ok(()),
            Self::Flow(_, arguments) => rules.check_fields(arguments),
        }
    }
}

/// Returns the beginning of a name, which a model may make as long as it likes.
fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

#[cfg(test)]
mod tests {
    use flowsdk_core::session::Channel;
    use proptest::prelude::*;

    use super::*;
    use crate::guardrail::GuardrailRules;
    use crate::tool::{FlowTool, ToolSettings};

    fn toolset() -> Toolset {
        let flow = FlowTool {
            flow_id: "flow".parse().expect("an id"),
            name: "orderStatus".to_owned(),
            description: String::new(),
            parameters: serde_json::json!({ "type": "object" }),
        };
        let settings = ToolSettings { flows: vec![flow], ..ToolSettings::default() };
        Toolset::new(&settings, Channel::Phone.capabilities())
    }

    fn call(name: &str, arguments: &str) -> ToolCall {
        ToolCall { id: "c".to_owned(), name: name.to_owned(), arguments: arguments.to_owned() }
    }

    const TEXT: (&str, &str) = ("sendTextMessage", r#"{"text":"oi"}"#);
    const SET: (&str, &str) = ("setVariable", r#"{"key":"a","value":1}"#);
    const TRANSFER: (&str, &str) =
        ("transferToAgent", r#"{"agentId":"a","handoffContext":"c","lastUserInput":"l"}"#);
    const END: (&str, &str) = ("endAgentSession", "{}");
    const ODD: (&str, &str) = ("setVariable", "{");
    const BLOCKED: (&str, &str) = ("sendTextMessage", r#"{"text":"this is forbidden"}"#);

    fn rules() -> EnforcedRules {
        let forbidden = vec!["forbidden".to_owned()];
        EnforcedRules::new(&GuardrailRules { forbidden_patterns: forbidden, ..GuardrailRules::default() })
    }

    /// Runs an answer with these calls. Returns the results, and how the turn goes on.
    fn answer(course: &mut Course, calls: &[(&str, &str)]) -> (Vec<String>, Next) {
        let (toolset, rules) = (toolset(), rules());
        let mut results = Vec::new();
        for (name, arguments) in calls {
            results.push(match course.judge(&toolset, &rules, &call(name, arguments)) {
                Judgement::Run(Act::Native(Command::Send(_))) => {
                    course.ran(Effect { has_sent: true, breaks: false });
                    SENT.to_owned()
                }
                Judgement::Run(Act::Native(
                    Command::End { .. } | Command::TransferToAgent { .. } | Command::TransferToHuman { .. },
                )) => {
                    course.ran(Effect { has_sent: false, breaks: true });
                    "handed on".to_owned()
                }
                Judgement::Run(_) => "done".to_owned(),
                Judgement::Answer(result) => result,
                Judgement::Blocked(violation) => Course::blocked(violation),
            });
        }
        (results, course.end_round())
    }

    #[test]
    fn a_turn_ends_when_the_contact_was_answered_and_nothing_more_is_said() {
        let mut course = Course::default();
        assert_eq!(answer(&mut course, &[SET]).1, Next::Ask);
        assert_eq!(answer(&mut course, &[TEXT]), (vec![SENT.to_owned()], Next::Ask));
        assert_eq!(answer(&mut course, &[TEXT]).1, Next::Ask, "it writes again");
        assert_eq!(answer(&mut course, &[SET]).1, Next::Over(Ending::Answered));
        let mut course = Course::default();
        answer(&mut course, &[TEXT]);
        assert_eq!(answer(&mut course, &[]).1, Next::Over(Ending::Answered));
    }

    #[test]
    fn a_silent_model_is_nudged_once() {
        let mut course = Course::default();
        assert_eq!(answer(&mut course, &[]).1, Next::Nudge);
        assert_eq!(answer(&mut course, &[SET]).1, Next::Ask, "it has woken up");
        assert_eq!(answer(&mut course, &[]).1, Next::Over(Ending::Stuck));
    }

    #[test]
    fn twenty_answers_are_enough() {
        let mut course = Course::default();
        for _ in 1..MAX_ITERATIONS {
            assert_eq!(answer(&mut course, &[SET]).1, Next::Ask);
        }
        assert_eq!(answer(&mut course, &[SET]).1, Next::Over(Ending::Stuck));
        let mut course = Course::default();
        for _ in 1..MAX_ITERATIONS {
            assert_eq!(answer(&mut course, &[TEXT]).1, Next::Ask);
        }
        assert_eq!(answer(&mut course, &[TEXT]).1, Next::Over(Ending::Answered));
    }

    #[test]
    fn the_first_tool_that_ends_the_turn_wins() {
        let (results, next) = answer(&mut Course::default(), &[SET, END, TRANSFER, TEXT]);
        assert_eq!(results, ["done", "handed on", OVER, OVER]);
        assert_eq!(next, Next::Over(Ending::Broken));
    }

    #[test]
    fn nobody_is_transferred_who_was_answered() {
        let (results, next) = answer(&mut Course::default(), &[TEXT, TRANSFER, SET]);
        assert_eq!(results, [SENT, TRANSFER_AFTER_MESSAGE, OVER]);
        assert_eq!(next, Next::Over(Ending::Broken));
        let mut course = Course::default();
        answer(&mut course, &[TEXT]);
        assert_eq!(answer(&mut course, &[TRANSFER]).1, Next::Over(Ending::Broken), "nor in the same turn");
    }

    #[test]
    fn a_tool_that_fails_three_times_is_discouraged() {
        let mut course = Course::default();
        let (results, next) = answer(&mut course, &[ODD, ODD, ODD, ("noSuchTool", "{}"), SET]);
        assert!(!results[1].contains(GIVE_IT_UP) && results[2].contains(GIVE_IT_UP), "{results:?}");
        assert_eq!(results[3], "error: there is no tool `noSuchTool`");
        assert_eq!((results[4].as_str(), next), ("done", Next::Ask), "it is not forbidden");
        assert!(answer(&mut course, &[ODD]).0[0].contains(GIVE_IT_UP), "they count over the turn");
    }

    #[test]
    fn an_answer_that_breaks_a_rule_may_be_said_in_another_way_once() {
        let mut course = Course::default();
        let (results, next) = answer(&mut course, &[SET, BLOCKED, TEXT, END]);
        assert_eq!((results[0].as_str(), next), ("done", Next::Ask));
        assert!(results[1].starts_with("blocked: it has words that are forbidden"), "{results:?}");
        assert_eq!(results[2..], [BEHIND_BLOCKED, BEHIND_BLOCKED], "nothing is said out of its order");
        assert!(!course.has_sent());
        assert_eq!(answer(&mut course, &[TEXT]).1, Next::Ask);
        assert_eq!(answer(&mut course, &[BLOCKED]).1, Next::Over(Ending::Blocked), "once in a turn");

        let mut course = Course::default();
        answer(&mut course, &[TEXT]);
        assert_eq!(answer(&mut course, &[BLOCKED]).1, Next::Ask, "also after a message");
        // The count is in what is written of the turn.
        let stored = serde_json::to_value(&course).expect("JSON");
        let mut course: Course = serde_json::from_value(stored).expect("a course");
        assert_eq!(answer(&mut course, &[BLOCKED, TRANSFER]).1, Next::Over(Ending::Blocked));

        let over = answer(&mut Course::default(), &[END, BLOCKED]).1;
        assert_eq!(over, Next::Over(Ending::Broken), "it was over before");
        assert!(!answer(&mut Course::default(), &[BLOCKED]).0[0].contains(GIVE_IT_UP));
    }

    #[test]
    fn effects_are_checked_as_messages_are() {
        for (name, arguments) in [
            ("setVariable", r#"{"key":"a","value":"Forbidden"}"#),
            ("setVariable", r#"{"key":"forbidden","value":1}"#),
            ("setContactVariable", r#"{"key":"a","value":"forbidden"}"#),
            ("orderStatus", r#"{"a":{"b":["forbidden"]}}"#),
            ("endAgentSession", r#"{"reason":"forbidden"}"#),
            ("transferToHuman", r#"{"reason":"forbidden"}"#),
        ] {
            let judged = Course::default().judge(&toolset(), &rules(), &call(name, arguments));
            assert_eq!(judged, Judgement::Blocked(Violation::ForbiddenPattern), "{name} {arguments}");
        }
        // What agents tell each other quotes the contact.
        let told = r#"{"agentId":"a","handoffContext":"forbidden","lastUserInput":"forbidden"}"#;
        let judged = Course::default().judge(&toolset(), &rules(), &call("transferToAgent", told));
        assert!(matches!(judged, Judgement::Run(_)), "{judged:?}");
    }

    #[test]
    fn links_are_checked_where_flows_may_say_them() {
        let rules: GuardrailRules = serde_json::from_value(
            serde_json::json!({ "allowedLinkHosts": ["shop.example"], "maxLength": 3 }),
        )
        .expect("rules");
        let rules = EnforcedRules::new(&rules);
        for (name, field) in [
            ("setVariable", "value"),
            ("setContactVariable", "value"),
            ("endAgentSession", "reason"),
            ("transferToHuman", "reason"),
        ] {
            for (host, is_kept) in [("shop.example", true), ("evil.com", false)] {
                let arguments = serde_json::json!({ field: format!("See https://{host}/a") });
                let mut arguments = arguments.as_object().expect("an object").clone();
                if field == "value" {
                    arguments.insert("key".to_owned(), "a".into());
                }
                let arguments = Value::Object(arguments).to_string();
                let judged = Course::default().judge(&toolset(), &rules, &call(name, &arguments));
                let is_run = matches!(judged, Judgement::Run(_));
                assert_eq!(is_run, is_kept, "{name} {arguments} {judged:?}");
                assert!(is_run || judged == Judgement::Blocked(Violation::LinkHost), "{judged:?}");
            }
        }
    }

    #[test]
    fn flows_are_called_with_an_object() {
        let (mut course, toolset) = (Course::default(), toolset());
        let Judgement::Run(Act::Flow(name, parameters)) =
            course.judge(&toolset, &EnforcedRules::default(), &call("orderStatus", r#"{"order":7}"#))
        else {
            panic!("a flow")
        };
        assert_eq!((name.as_str(), &parameters["order"]), ("orderStatus", &7.into()));
        for odd in ["", "[]", "7", "{"] {
            assert!(
                matches!(
                    course.judge(&toolset, &EnforcedRules::default(), &call("orderStatus", odd)),
                    Judgement::Answer(_)
                ),
                "{odd}"
            );
        }
    }

    proptest! {
        /// Whatever a model answers: every call has one result, the model is asked at most twenty times, and whoever was not
        /// answered is not left waiting.
        #[test]
        fn every_turn_ends(answers in prop::collection::vec(
            prop::collection::vec(prop_oneof![
                4 => Just(TEXT), 4 => Just(SET), 1 => Just(TRANSFER), 1 => Just(END), 2 => Just(ODD),
                1 => Just(("noSuchTool", "[")), 1 => Just(("orderStatus", "{}")), 1 => Just(BLOCKED),
            ], 0..40),
            25,
        )) {
            let (mut course, mut asked, mut was_sent) = (Course::default(), 0, false);
            let ending = loop {
                prop_assert!(asked < MAX_ITERATIONS as usize);
                let calls = &answers[asked];
                asked += 1;
                let (results, next) = answer(&mut course, calls);
                prop_assert_eq!(results.len(), calls.len());
                was_sent |= results.iter().any(|result| result == SENT);
                if let Next::Over(ending) = next {
                    break ending;
                }
            };
            prop_assert_eq!(course.has_sent(), was_sent);
            let has_end = matches!(ending, Ending::Broken | Ending::Blocked);
            prop_assert!(has_end || (ending == Ending::Answered) == was_sent);
        }
    }
}
