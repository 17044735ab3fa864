//! AI agents: what is said to them becomes turns, documents become what they know, and what is over gets a summary.

use std::sync::Arc;

use flowsdk_agent::executor::{Executor, Models, Settings};
use flowsdk_agent::inbox::{AGENT_GROUP, AgentInbox};
use flowsdk_agent::knowledge::{Embedders, Ingest, PdfReader, Web};
use flowsdk_agent::summary::{SUMMARY_GROUP, Summarizer};
use flowsdk_core::conversation::ToolCalls;
use flowsdk_core::fault::BoxError;
use flowsdk_core::stream::consumer::{ConsumerConfig, Each};
use flowsdk_core::stream::topic::TopicName;
use flowsdk_outside::http::GuardedHttp;
use tokio::sync::Notify;

use super::{Part, Reads};
use crate::agent::{CredentialModels, GuardedWeb, StoredMedia};
use crate::app::ground::Ground;
use crate::config::Role;
use crate::pdf_reader::IsolatedPdfs;

/// The role of the consumers and the executor.
const AGENT: Role = Role { names: &["agent"], together: None, sections: &[] };

const EVENTS: Reads = Reads { topics: &[TopicName::Agent], group: AGENT_GROUP, watched_as: None };

const SUMMARIES: Reads = Reads { topics: &[TopicName::Summary], group: SUMMARY_GROUP, watched_as: None };

pub(super) const PART: Part =
    Part { role: AGENT, reads: &[EVENTS, SUMMARIES], start: |ground| Box::pin(async { start(ground) }) };

/// The lease of the executor: one at a time, so that a session never has two turns at once.
const EXECUTOR: &str = "agent-executor";
/// Summaries that are written at once: each waits for a model for seconds.
const SUMMARIES_AT_ONCE: usize = 8;

fn start(ground: &mut Ground) -> Result<(), BoxError> {
    let arrived = Arc::new(Notify::new());
    let inbox = AgentInbox::new(Arc::clone(&ground.store), ground.cx.clone(), Arc::clone(&arrived));
    // Its one source of events is the stream.
    drop(ground.consume(inbox, &EVENTS, ConsumerConfig { max_batch: 128, ..ConsumerConfig::named("agent") }));
    let embedders = embedders(ground)?;
    let key = || Arc::clone(&ground.config.master_key);
    let models = models(ground)?;
    let summarizer = Summarizer::new(Arc::clone(&ground.store), ground.cx.clone(), Arc::clone(&models));
    let config = ConsumerConfig { parallel: SUMMARIES_AT_ONCE, ..ConsumerConfig::named("summary") };
    drop(ground.consume(Each::new(summarizer), &SUMMARIES, config));
    let key = key();
    let (http, scripts) = (ground.http()?, ground.scripts()?);
    let tools = ToolCalls::new(Arc::clone(&ground.store), ground.cx.clone(), key, http, scripts);
    let settings = Settings { quiet: ground.config.agent_quiet, ..Settings::default() };
    let executor = Executor::new(
        Arc::clone(&ground.store),
        ground.cx.clone(),
        models,
        tools,
        ground.handover(),
        settings,
        arrived,
    );
    let media = StoredMedia::new(Arc::clone(&ground.store), Arc::clone(&ground.blobs));
    let executor = executor.with_embedders(Arc::clone(&embedders)).with_media(Arc::new(media));
    let executor = Arc::new(executor.within(ground.tenure(EXECUTOR)));
    ground.under_lease(EXECUTOR.to_owned(), "AI agents", move |stop| {
        let executor = Arc::clone(&executor);
        async move { executor.run(&stop).await }
    });
    let pdfs: Arc<dyn PdfReader> = match &ground.adapters.pdfs {
        Some(pdfs) => Arc::clone(pdfs),
        None => Arc::new(IsolatedPdfs::of_this_program()?),
    };
    let web: Arc<dyn Web> = match &ground.adapters.web {
        Some(web) => Arc::clone(web),
        None => Arc::new(GuardedWeb(GuardedHttp::new(ground.config.flow_http_allowed_hosts.clone())?)),
    };
    let ingest = Ingest::new(Arc::clone(&ground.store), ground.cx.clone(), embedders);
    let index = Arc::clone(&ground.store);
    let ingest = Arc::new(ingest.with_pdfs(pdfs).with_web(web).with_index(index));
    ground.under_lease("agent-knowledge".to_owned(), "knowledge of AI agents", move |stop| {
        let ingest = Arc::clone(&ingest);
        async move { ingest.run(&stop).await }
    });
    Ok(())
}

/// Returns whoever opens the models of credentials.
///
/// # Errors
/// TLS cannot be set up.
pub(super) fn models(ground: &Ground) -> Result<Arc<dyn Models>, BoxError> {
    if let Some(models) = &ground.adapters.models {
        return Ok(Arc::clone(models));
    }
    let key = Arc::clone(&ground.config.master_key);
    let models = CredentialModels::new(ground.config.flow_http_allowed_hosts.clone(), key)?;
    Ok(Arc::new(models.heard_by(ground.config.agent_transcriber.clone())))
}

/// Returns whoever opens the models of vectors.
///
/// # Errors
/// TLS cannot be set up.
pub(super) fn embedders(ground: &Ground) -> Result<Arc<dyn Embedders>, BoxError> {
    if let Some(embedders) = &ground.adapters.embedders {
        return Ok(Arc::clone(embedders));
    }
    let key = Arc::clone(&ground.config.master_key);
    Ok(Arc::new(CredentialModels::new(ground.config.flow_http_allowed_hosts.clone(), key)?))
}
