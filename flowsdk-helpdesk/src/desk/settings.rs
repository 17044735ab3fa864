//! What routers and queues say to the closing of their tickets.

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{QueueId, RouterId};

use crate::close_reason::HasCloseReasons;
use crate::queue::{HasQueues, Survey};

/// The settings that were read, each once, however many tickets are closed.
#[derive(Debug, Default)]
pub(super) struct ClosingSettings {
    reasons: Vec<(RouterId, bool)>,
    surveys: Vec<(QueueId, Option<Survey>)>,
}

impl ClosingSettings {
    /// Returns whether a ticket of the router may be closed with the reason, which is always the same one. No reason is
    /// always taken.
    pub(super) async fn takes<T: HasCloseReasons>(
        &mut self,
        tx: &mut T,
        router: &RouterId,
        reason: Option<&str>,
    ) -> Result<bool, StorageError> {
        let Some(reason) = reason else { return Ok(true) };
        if let Some((_, takes)) = self.reasons.iter().find(|(known, _)| known == router) {
            return Ok(*takes);
        }
        let takes = tx.close_reasons().takes(router, reason).await?;
        self.reasons.push((router.clone(), takes));
        Ok(takes)
    }

    /// Returns the survey of a queue; `None` for tickets of none.
    pub(super) async fn survey_of<T: HasQueues>(
        &mut self,
        tx: &mut T,
        queue: Option<&QueueId>,
    ) -> Result<Option<Survey>, StorageError> {
        let Some(queue) = queue else { return Ok(None) };
        if let Some((_, survey)) = self.surveys.iter().find(|(known, _)| known == queue) {
            return Ok(survey.clone());
        }
        let found = tx.queues().find_many(std::slice::from_ref(queue)).await?.pop();
        let survey = found.and_then(|queue| queue.survey);
        self.surveys.push((queue.clone(), survey.clone()));
        Ok(survey)
    }
}
