//! Whether tickets may be closed with the reason that somebody gives.

use flowsdk_core::fault::StorageError;
use flowsdk_core::id::RouterId;

use crate::close_reason::HasCloseReasons;

/// What routers have said to a reason. Each is asked once, however many of its tickets are closed with it.
#[derive(Debug, Default)]
pub(super) struct Answers(Vec<(RouterId, bool)>);

impl Answers {
    /// Returns whether a ticket of the router may be closed with the reason, which is always the same one. No reason is
    /// always taken.
    pub(super) async fn takes<T: HasCloseReasons>(
        &mut self,
        tx: &mut T,
        router: &RouterId,
        reason: Option<&str>,
    ) -> Result<bool, StorageError> {
        let Some(reason) = reason else { return Ok(true) };
        if let Some((_, takes)) = self.0.iter().find(|(known, _)| known == router) {
            return Ok(*takes);
        }
        let takes = tx.close_reasons().takes(router, reason).await?;
        self.0.push((router.clone(), takes));
        Ok(takes)
    }
}
