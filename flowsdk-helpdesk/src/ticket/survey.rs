//! The survey of a resolved ticket: what its contact was asked, and what they said.

use std::time::Duration;

use flowsdk_core::cell::Named;
use flowsdk_core::event::JumpTarget;
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::{IsoTime, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Ticket;
use crate::queue::Survey;

/// Most characters of a comment; the rest is left off.
const LONGEST_COMMENT: usize = 2_000;

/// How far a survey is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Named)]
#[serde(rename_all = "lowercase")]
pub enum SurveyStatus {
    /// The contact was asked for a number.
    Asked,
    /// The contact gave a number, and was asked for a comment.
    Commenting,
    /// The contact gave a number.
    Answered,
    /// The contact gave no number.
    Unanswered,
}

/// A survey that the contact of a ticket was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AskedSurvey {
    /// The texts, as the queue had them then.
    pub survey: Survey,
    /// How far it is.
    pub status: SurveyStatus,
    /// When the contact was asked first.
    pub asked_at: Timestamp,
    /// The number, from 1 to 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    /// What they said beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// Whether they were asked for a number twice.
    #[serde(default)]
    pub is_repeated: bool,
    /// Where the flow goes on afterwards, as whoever closed the ticket said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jump_target: Option<JumpTarget>,
    /// The keys of the messages that were read, so that one that comes again is read once.
    #[serde(default)]
    pub read: Vec<String>,
}

impl AskedSurvey {
    /// Reads a message of the contact, and returns what is said to it.
    fn read(&mut self, text: &str) -> Option<String> {
        match self.status {
            SurveyStatus::Answered | SurveyStatus::Unanswered => None,
            // A number that is sent twice is no comment.
            SurveyStatus::Commenting if self.score.is_some() && score_of(text) == self.score => None,
            SurveyStatus::Commenting => {
                let comment: String = text.trim().chars().take(LONGEST_COMMENT).collect();
                self.comment = (!comment.is_empty()).then_some(comment);
                self.status = SurveyStatus::Answered;
                self.survey.thanks.clone()
            }
            SurveyStatus::Asked => match score_of(text) {
                Some(score) => {
                    self.score = Some(score);
                    let next = self.survey.comment_question.clone();
                    self.status =
                        if next.is_some() { SurveyStatus::Commenting } else { SurveyStatus::Answered };
                    next.or_else(|| self.survey.thanks.clone())
                }
                None if self.is_repeated => {
                    self.status = SurveyStatus::Unanswered;
                    None
                }
                None => {
                    self.is_repeated = true;
                    Some(self.survey.question.clone())
                }
            },
        }
    }

    /// Ends it as it is.
    fn end(&mut self) {
        self.status = if self.score.is_some() { SurveyStatus::Answered } else { SurveyStatus::Unanswered };
    }

    fn is_over(&self) -> bool {
        matches!(self.status, SurveyStatus::Answered | SurveyStatus::Unanswered)
    }

    /// Returns what flows read as `ticket.exit.survey`; null unless it was answered.
    pub(super) fn exit(&self) -> Value {
        match self.score {
            Some(score) => json!({ "score": score, "comment": self.comment }),
            None => Value::Null,
        }
    }
}

/// Most characters of a text that is read as a number: whoever writes more writes about something else.
const LONGEST_SCORE: usize = 20;

/// Returns the number from 1 to 5 that a short text gives: the only one in it, one of five (`4/5`), or that of its stars.
/// A digit that touches a letter, a sign or another number, such as that of `5pm`, `-3` or `4.5`, is none.
fn score_of(text: &str) -> Option<u8> {
    let text = text.trim();
    if text.chars().count() > LONGEST_SCORE {
        return None;
    }
    let words: Vec<&str> =
        text.split_whitespace().map(|word| word.trim_end_matches(['.', '!', ','])).collect();
    let with_digits: Vec<&str> =
        words.into_iter().filter(|word| word.contains(|letter: char| letter.is_numeric())).collect();
    let number = match with_digits.as_slice() {
        [] => text.matches(['⭐', '★', '🌟']).count().to_string(),
        [one] | [one, "5"] => one.strip_suffix("/5").unwrap_or(one).to_owned(),
        _ => return None,
    };
    let is_plain = number.bytes().all(|digit| digit.is_ascii_digit());
    number.parse().ok().filter(|score| is_plain && (1..=5).contains(score))
}

impl Ticket {
    /// Asks the contact of a closed ticket whether they are satisfied: its session waits for the answer. Returns the
    /// question. The flow goes on at `jump_target` afterwards.
    pub fn ask(&mut self, survey: Survey, jump_target: Option<JumpTarget>, now: Timestamp) -> String {
        let question = survey.question.clone();
        self.survey_ends_at = Some(now + time_of(&survey));
        self.survey = Some(AskedSurvey {
            survey,
            status: SurveyStatus::Asked,
            asked_at: now,
            score: None,
            comment: None,
            is_repeated: false,
            jump_target,
            read: Vec::new(),
        });
        self.updated_at = now;
        question
    }

    /// Returns whether its survey waits for a message that was written at `written_at` and that `key` names. What was written
    /// before the question is no answer to it, and a message that comes again was read before.
    pub fn awaits_answer(&self, key: &str, written_at: Timestamp) -> bool {
        let waits = |asked: &AskedSurvey| {
            asked.asked_at <= written_at && asked.read.iter().all(|read_before| read_before != key)
        };
        self.survey_ends_at.is_some() && self.survey.as_ref().is_some_and(waits)
    }

    /// Reads a message for which its survey waits, and that `key` names. Returns what is said to it. When the survey is
    /// over, `survey_ends_at` is `None`.
    pub fn read_answer(&mut self, key: String, text: &str, now: Timestamp) -> Option<String> {
        let asked = self.survey.as_mut()?;
        asked.read.push(key);
        let said = asked.read(text);
        self.survey_ends_at = (!asked.is_over()).then(|| now + time_of(&asked.survey));
        self.updated_at = now;
        said
    }

    /// Ends the survey that waits for an answer, because none comes.
    pub fn end_survey(&mut self, now: Timestamp) {
        if let Some(asked) = &mut self.survey {
            asked.end();
        }
        self.survey_ends_at = None;
        self.updated_at = now;
    }
}

fn time_of(survey: &Survey) -> Duration {
    Duration::from_secs(u64::from(survey.within_minutes) * 60)
}

/// What the contact of a resolved ticket said to the survey of its queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = TicketSurvey)]
pub struct AskedSurveyView {
    /// How far it is.
    pub status: SurveyStatus,
    /// When the contact was asked.
    pub asked_at: IsoTime,
    /// The number that they gave, from 1 to 5.
    #[schema(required = true, minimum = 1, maximum = 5, example = 5)]
    pub score: Option<u8>,
    /// What they said beside it.
    #[schema(required = true)]
    pub comment: Option<String>,
}

impl From<AskedSurvey> for AskedSurveyView {
    fn from(asked: AskedSurvey) -> Self {
        Self {
            status: asked.status,
            asked_at: IsoTime(asked.asked_at),
            score: asked.score,
            comment: asked.comment,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::ticket::{CloseKind, Closing};

    const NOW: Timestamp = Timestamp::from_millis(1_795_085_820_050);

    fn survey(comment_question: Option<&str>, thanks: Option<&str>) -> Survey {
        Survey {
            question: "1 to 5?".to_owned(),
            comment_question: comment_question.map(str::to_owned),
            thanks: thanks.map(str::to_owned),
            within_minutes: 60,
        }
    }

    fn asked(survey: Survey) -> Ticket {
        let id = |text: &str| text.parse().expect("an id");
        let of = ("chat1".parse().expect("an id"), "contact1".parse().expect("an id"));
        let router = "router1".parse().expect("an id");
        let mut ticket =
            Ticket::opened("t1".parse().expect("an id"), router, of, "q1".parse().expect("an id"), NOW);
        ticket.assign(id("eva"), NOW).expect("open");
        ticket.close(&Closing::by_system(CloseKind::Resolved), NOW).expect("open");
        assert_eq!(ticket.ask(survey, None, NOW), "1 to 5?");
        ticket
    }

    /// What is said to each of these messages.
    fn talk(ticket: &mut Ticket, texts: &[&str]) -> Vec<Option<String>> {
        let mut said = Vec::new();
        for text in texts {
            let key = format!("m{}", ticket.survey.as_ref().map_or(0, |asked| asked.read.len()));
            said.push(ticket.awaits_answer(&key, NOW).then(|| ticket.read_answer(key, text, NOW)).flatten());
        }
        said
    }

    fn answer(ticket: &Ticket) -> (SurveyStatus, Option<u8>, Option<&str>) {
        let asked = ticket.survey.as_ref().expect("a survey");
        (asked.status, asked.score, asked.comment.as_deref())
    }

    #[test]
    fn a_number_is_read_from_what_people_write() {
        for (text, expected) in [
            ("5", Some(5)),
            (" 1 ", Some(1)),
            ("4.", Some(4)),
            ("nota 3", Some(3)),
            ("4/5", Some(4)),
            ("5 de 5", Some(5)),
            ("4!", Some(4)),
            ("nota: 3", Some(3)),
            ("5 ⭐", Some(5)),
            ("⭐⭐⭐", Some(3)),
            ("★★★★★", Some(5)),
            ("0", None),
            ("6", None),
            ("10", None),
            ("5/10", None),
            ("1 or 2", None),
            ("⭐⭐⭐⭐⭐⭐", None),
            ("", None),
            ("great", None),
            ("99999999999999999999", None),
            ("-3", None),
            ("+3", None),
            ("4.5", None),
            ("4,5", None),
            ("4-5", None),
            ("5%", None),
            ("5pm", None),
            ("mp3", None),
            ("3x", None),
            ("٣", None),
            ("I waited 3 hours for nothing", None),
        ] {
            assert_eq!(score_of(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_survey_asks_for_a_number_and_a_comment() {
        let mut ticket = asked(survey(Some("Why?"), Some("Thanks")));
        assert_eq!(talk(&mut ticket, &["4"]), [Some("Why?".to_owned())]);
        assert_eq!(ticket.survey_ends_at, Some(NOW + Duration::from_hours(1)));
        assert_eq!(talk(&mut ticket, &[" slow "]), [Some("Thanks".to_owned())]);
        assert_eq!(answer(&ticket), (SurveyStatus::Answered, Some(4), Some("slow")));
        assert_eq!(ticket.survey_ends_at, None);
        assert_eq!(talk(&mut ticket, &["more"]), [None], "it is over");
        let mut short = asked(survey(None, None));
        assert_eq!(talk(&mut short, &["5"]), [None]);
        assert_eq!((answer(&short), short.survey_ends_at), ((SurveyStatus::Answered, Some(5), None), None));
        let mut wordless = asked(survey(Some("Why?"), None));
        talk(&mut wordless, &["2", ""]);
        assert_eq!(answer(&wordless), (SurveyStatus::Answered, Some(2), None), "a picture is no comment");
        let mut long = asked(survey(Some("Why?"), None));
        talk(&mut long, &["2", &"ã".repeat(3_000)]);
        assert_eq!(answer(&long).2.map(|comment| comment.chars().count()), Some(LONGEST_COMMENT));
    }

    #[test]
    fn whoever_gives_no_number_is_asked_once_more() {
        let mut ticket = asked(survey(None, Some("Thanks")));
        let said = talk(&mut ticket, &["what?", "no"]);
        assert_eq!(said, [Some("1 to 5?".to_owned()), None]);
        assert_eq!((answer(&ticket), ticket.survey_ends_at), ((SurveyStatus::Unanswered, None, None), None));
        let mut ticket = asked(survey(None, Some("Thanks")));
        assert_eq!(talk(&mut ticket, &["what?", "3"])[1].as_deref(), Some("Thanks"));
    }

    #[test]
    fn a_number_that_is_sent_twice_is_no_comment() {
        let mut ticket = asked(survey(Some("Why?"), Some("Thanks")));
        let said = talk(&mut ticket, &["5", "5", "all good"]);
        assert_eq!(said, [Some("Why?".to_owned()), None, Some("Thanks".to_owned())]);
        assert_eq!(answer(&ticket), (SurveyStatus::Answered, Some(5), Some("all good")));
    }

    #[test]
    fn a_message_that_comes_again_is_read_once() {
        let mut ticket = asked(survey(Some("Why?"), None));
        assert!(ticket.awaits_answer("m1", NOW));
        assert!(ticket.read_answer("m1".to_owned(), "4", NOW).is_some());
        assert!(!ticket.awaits_answer("m1", NOW));
        assert!(ticket.awaits_answer("m2", NOW));
    }

    #[test]
    fn what_was_written_before_the_question_is_no_answer() {
        let ticket = asked(survey(None, None));
        assert!(!ticket.awaits_answer("m1", NOW - Duration::from_millis(1)));
        assert!(ticket.awaits_answer("m1", NOW));
    }

    #[test]
    fn the_flow_waits_for_the_end_of_the_survey() {
        let mut ticket = asked(survey(Some("Why?"), None));
        ticket.session_id = Some(flowsdk_core::session::SessionId::parse("wc-c1-ana").expect("an id"));
        assert_eq!(ticket.hand_back(None), None);
        talk(&mut ticket, &["4"]);
        ticket.end_survey(NOW);
        assert_eq!(answer(&ticket), (SurveyStatus::Answered, Some(4), None));
        assert!(ticket.hand_back(None).is_some());
        let mut silent = asked(survey(None, None));
        silent.end_survey(NOW);
        assert_eq!(answer(&silent).0, SurveyStatus::Unanswered);
    }

    proptest! {
        /// Whatever a contact writes: the survey ends after three messages at most that do not repeat the number, with one or
        /// without.
        #[test]
        fn every_survey_ends(texts in prop::collection::vec("\\PC{0,6}|[0-9]", 4), comments: bool) {
            let mut ticket = asked(survey(comments.then_some("Why?"), Some("Thanks")));
            let texts = texts.iter().map(String::as_str).chain(["that", "is", "all"]);
            for (at, text) in texts.enumerate() {
                let key = format!("m{at}");
                prop_assert_eq!(ticket.awaits_answer(&key, NOW), ticket.survey_ends_at.is_some());
                if ticket.awaits_answer(&key, NOW) {
                    ticket.read_answer(key, text, NOW);
                }
            }
            prop_assert_eq!(ticket.survey_ends_at, None);
            let (status, score, comment) = answer(&ticket);
            prop_assert_eq!(status == SurveyStatus::Answered, score.is_some());
            prop_assert!(score.is_none_or(|score| (1..=5).contains(&score)));
            prop_assert!(comment.is_none() || (comments && score.is_some()));
        }
    }
}
