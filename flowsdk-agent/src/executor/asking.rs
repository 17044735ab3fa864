//! How a model is asked for its next answer.

use std::sync::Arc;

use flowsdk_core::credential::LlmCredential;
use flowsdk_core::store::Store;
use tokio::time::Instant;
use tracing::{Instrument as _, Span};

use super::equipping::OpenTurn;
use super::{Executor, ExecutorTx, seeing, spans};
use crate::guardrail::Masking;
use crate::ledger::ModelAnswered;
use crate::model::{Answer, Item, Known, ModelError, ModelProvider, ModelRequest, jitter};
use crate::turn::known_values;

/// What a model is told that has placeholders before it.
const PLACEHOLDERS: &str = "Texts such as [email 1], [cpf 1] and [card 1] stand for data that you are not shown. Use them as \
    they are, in messages and in tools: the data take their place.";

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// The last model that was asked failed.
    Failed(ModelError),
    /// Another process may run the turn.
    OutOfTenure,
}

impl From<ModelError> for NoAnswer {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

impl OpenTurn {
    /// Returns what the model is told, as far as it reads: the instructions and the conversation. Personal data of both have
    /// the same placeholders; those of the conversation are numbered first, so that they stay as it grows.
    fn told(&self, masking: &mut Masking) -> (String, Vec<Item>) {
        let items = self.items(masking);
        if !masking.hides() {
            let values = known_values(&self.session.variables, &self.contact);
            return (self.instructions.text(&values), items);
        }
        let mut instructions = self.instructions.clone();
        for data in [&mut instructions.contact_context, &mut instructions.last_summary] {
            *data = data.as_ref().map(|text| masking.mask(text));
        }
        let session = masking.mask_fields(&self.session.variables);
        let values = known_values(&session, &masking.mask_fields(&self.contact));
        (instructions.text(format!("{PLACEHOLDERS}\n\n{values}").trim_end()), items)
    }

    /// Returns the conversation, with the images of this turn.
    fn items(&self, masking: &mut Masking) -> Vec<Item> {
        let mut items: Vec<Item> =
            self.history.iter().chain(&self.record.items).map(|item| masking.mask_item(item)).collect();
        for (place, item) in items.iter_mut().enumerate() {
            match &self.pictures {
                Some(pictures) if place >= self.history.len() => pictures.show(item),
                _ => seeing::leave_out(item),
            }
        }
        items
    }

    /// Leaves the older half of the history out. Returns whether there was any.
    fn shorten(&mut self) -> bool {
        let Some(rest) = newer_half(&self.history) else { return false };
        self.history.drain(..rest);
        self.forget_response();
        true
    }

    /// The model is told the whole conversation the next time.
    fn forget_response(&mut self) {
        self.known = 0;
        if let Some(state) = &mut self.session.agent {
            state.previous_response_id = None;
        }
    }

    /// Returns the beginning of the conversation that the provider has.
    fn known(&self) -> Option<(String, usize)> {
        let response_id = self.session.agent.as_ref()?.previous_response_id.clone()?;
        (self.known > 0).then_some((response_id, self.known))
    }
}

/// Returns how many items of a history go, so that the rest is at most half of it and begins with an input: a call and its
/// result stand between the same inputs. `None` if there is nothing to leave out.
fn newer_half(history: &[Item]) -> Option<usize> {
    if history.is_empty() {
        return None;
    }
    let half = history.len().div_ceil(2);
    let input = history.iter().skip(half).position(|item| matches!(item, Item::User { .. }));
    Some(input.map_or(history.len(), |input| half + input))
}

impl<S: Store> Executor<S>
where
    S::Tx: ExecutorTx,
{
    /// Asks the model of a turn for its next answer, and then the fallback. The record notes every attempt.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub(super) async fn ask(&self, turn: &mut OpenTurn) -> Result<Answer, NoAnswer> {
        if turn.pictures.is_none() {
            turn.pictures = Some(self.look(turn).await);
        }
        let [own, fallback] = turn.credentials.clone();
        let own_model = turn.configuration.model.clone();
        let error = match self.ask_model(turn, own.as_ref(), &own_model).await {
            Ok(answer) => return Ok(answer),
            Err(NoAnswer::OutOfTenure) => return Err(NoAnswer::OutOfTenure),
            Err(NoAnswer::Failed(error)) => error,
        };
        let Some(model) = turn.configuration.fallback_model.clone() else { return Err(error.into()) };
        tracing::warn!(turn = %turn.record.id, %error, "the fallback of an AI agent is asked");
        turn.forget_response();
        self.ask_model(turn, fallback.as_ref(), &model).await
    }

    async fn ask_model(
        &self,
        turn: &mut OpenTurn,
        credential: Option<&LlmCredential>,
        model: &str,
    ) -> Result<Answer, NoAnswer> {
        let opened = match credential {
            Some(credential) => self.models.open(credential).await,
            None => Err(ModelError::Account { reason: "there is no credential".to_owned() }),
        };
        let provider = opened.inspect_err(|error| note_account(turn, credential, error))?;
        let name = credential.map(|credential| credential.provider.name()).unwrap_or_default();
        let mut failures = 0;
        loop {
            if !self.tenure.is_held() {
                return Err(NoAnswer::OutOfTenure);
            }
            let span = spans::chat(name, model);
            let error = match self.ask_once(turn, &provider, model, &span).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match &error {
                ModelError::PreviousLost if turn.known().is_some() => {
                    turn.forget_response();
                    continue;
                }
                ModelError::TooLong if turn.shorten() => continue,
                ModelError::Account { .. } => note_account(turn, credential, &error),
                _ => {}
            }
            failures += 1;
            let spent = self.cx.now().since(turn.record.began_at);
            let Some(pause) = self.settings.patience.pause(&error, failures, spent, jitter()) else {
                return Err(error.into());
            };
            tokio::time::sleep(pause).await;
        }
    }

    async fn ask_once(
        &self,
        turn: &mut OpenTurn,
        provider: &Arc<dyn ModelProvider>,
        model: &str,
        span: &Span,
    ) -> Result<Answer, ModelError> {
        let mut masking = Masking::new(&turn.configuration.guardrail_rules.masked_data);
        let (instructions, items) = turn.told(&mut masking);
        // Placeholders are those of one request: with them, the provider is told everything each time, and nobody goes on from
        // its answer.
        let known = turn.known().filter(|_| !masking.hides());
        let known = known.as_ref().map(|(response_id, items)| Known { response_id, items: *items });
        let began = Instant::now();
        let mut answer = provider
            .answer(ModelRequest {
                model,
                instructions: &instructions,
                items: &items,
                known,
                tools: turn.toolset.definitions(),
                max_output_tokens: turn.configuration.max_output_tokens,
            })
            .instrument(span.clone())
            .await
            .inspect(|answer| spans::answered(span, answer));
        let latency_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let noted = answer.as_ref();
        turn.record.answers.push(ModelAnswered {
            model: model.to_owned(),
            response_id: noted.ok().and_then(|answer| answer.response_id.clone()),
            usage: noted.map(|answer| answer.usage).unwrap_or_default(),
            latency_ms,
            error: noted.err().map(ToString::to_string),
        });
        if let Ok(answer) = &mut answer
            && masking.hides()
        {
            masking.put_back_all(&mut answer.items);
            answer.response_id = None;
        }
        answer
    }
}

/// An administrator has to act: the account of a credential is not in order.
pub(super) fn note_account(turn: &OpenTurn, credential: Option<&LlmCredential>, error: &ModelError) {
    let credential = credential.map(|credential| credential.id.to_string()).unwrap_or_default();
    tracing::error!(agent = %turn.record.agent_id, credential, %error, "an AI agent has no account in order");
    metrics::counter!("flowsdk_ai_account_errors").increment(1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ToolCall;

    #[test]
    fn a_history_is_shortened_before_an_input() {
        let call = |id: &str| {
            Item::ToolCall(ToolCall { id: id.to_owned(), name: "t".to_owned(), arguments: String::new() })
        };
        let history = [
            Item::user("a"),
            call("1"),
            Item::result("1", "r"),
            Item::user("b"),
            call("2"),
            Item::result("2", "r"),
        ];
        assert_eq!(newer_half(&history), Some(3));
        assert_eq!(newer_half(&history[..3]), Some(3), "nothing is left of one exchange");
        assert_eq!(newer_half(&[]), None);
        assert_eq!(newer_half(&history[3..]), Some(3));
    }
}
