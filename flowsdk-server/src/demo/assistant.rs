//! The AI agents of the demonstration: an assistant that knows three documents, and a specialist.

use flowsdk_agent::set::{AgentSet, AgentSetTx, InvalidAgentSet};
use flowsdk_core::context::OpContext;
use flowsdk_core::credential::{HasLlmCredentials, LlmCredential};
use flowsdk_core::fault::StorageError;
use flowsdk_core::id::{LlmCredentialId, RouterId};
use flowsdk_core::text::Language;

/// The credential of their models, which [`models`](super::models) opens. No other server can: it has neither a key nor an address.
pub(super) const CREDENTIAL: &str = "demo-scripted";

/// Returns the agents in a language.
pub(super) fn agents(language: Language) -> Result<AgentSet, InvalidAgentSet> {
    AgentSet::from_json(match language {
        Language::Portuguese => include_str!("agents.pt.json"),
        Language::English => include_str!("agents.en.json"),
    })
}

/// Makes the agents in a router.
pub(super) async fn plant<T: AgentSetTx + HasLlmCredentials>(
    tx: &mut T,
    cx: &OpContext,
    router: &RouterId,
    agents: &AgentSet,
    credential: &LlmCredentialId,
) -> Result<(), StorageError> {
    if tx.llm_credentials().find(credential).await?.is_none() {
        let credential = LlmCredential::of_own_model(credential.clone(), "Demo", cx.now());
        tx.llm_credentials().insert(&credential).await?;
    }
    agents.install(tx, cx, router, credential).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_languages_have_the_same_agents() {
        let ids = [Language::Portuguese, Language::English].map(|language| {
            let set = agents(language).expect("a set");
            assert_eq!((set.routes.len(), set.documents.len()), (2, 3));
            set.agents.into_iter().map(|agent| agent.id.to_string()).collect::<Vec<_>>()
        });
        assert_eq!(ids[0], ids[1]);
    }
}
