//! The outside world of an [`App`](super::App): time, ids, and the services that it calls.

use std::fmt;
use std::sync::Arc;

use flowsdk_agent::executor::Models;
use flowsdk_agent::knowledge::{Embedders, PdfReader, Web};
use flowsdk_auth::sms::SmsSender;
use flowsdk_channels::channel_number::FormKeyRegistry;
use flowsdk_channels::template::TemplateProvider;
use flowsdk_core::channel::{ChannelSender, MediaSource};
use flowsdk_core::context::OpContext;
use flowsdk_core::flow::{HttpCaller, ScriptRunner};
use flowsdk_core::id::{Cuids, IdSource};
use flowsdk_core::media::Blobs;
use flowsdk_core::time::{Clock, SystemClock};
use flowsdk_store::sql::SqlStore;
use metrics_exporter_prometheus::PrometheusHandle;

use crate::supervisor::Pace;

/// Everything that an app takes from outside. A field that is `None` is built from the configuration.
#[derive(Clone)]
pub struct Adapters {
    /// The time of every use case, timer and expiry.
    pub clock: Arc<dyn Clock>,
    /// The source of ids and of secrets that are made.
    pub ids: Arc<dyn IdSource>,
    /// Connections to the database of `DATABASE_URL` that the caller has already. The app closes them when it stops.
    pub store: Option<SqlStore>,
    /// Decides who runs periodic work.
    pub pace: Pace,
    /// Performs HTTP requests of flows and integrations. By default it reaches public addresses and
    /// `FLOW_HTTP_ALLOWED_HOSTS`.
    pub http: Option<Arc<dyn HttpCaller>>,
    /// Runs scripts of flows. By default this program starts itself as a worker process, so a program that is not
    /// `flowsdk-server` brings its own.
    pub scripts: Option<Arc<dyn ScriptRunner>>,
    /// Sends text messages to users. By default `SMS_DRIVER` decides.
    pub sms: Option<Arc<dyn SmsSender>>,
    /// Hands messages to the provider of the phone channel. By default it calls `PHONE_API_URL`.
    pub phone: Option<Arc<dyn ChannelSender>>,
    /// Reads and submits templates at the provider of the phone channel. By default it calls `PHONE_API_URL`.
    pub templates: Option<Arc<dyn TemplateProvider>>,
    /// Registers the keys of interactive forms at the provider of the phone channel. By default it calls `PHONE_API_URL`.
    pub form_keys: Option<Arc<dyn FormKeyRegistry>>,
    /// Opens the models of credentials for AI agents. By default it reaches public addresses and `FLOW_HTTP_ALLOWED_HOSTS`.
    pub models: Option<Arc<dyn Models>>,
    /// Opens the models that turn the knowledge of AI agents into vectors. By default it asks those of the credentials of
    /// routers, as `models` does; a router without one has vectors without a model.
    pub embedders: Option<Arc<dyn Embedders>>,
    /// Reads the PDFs among the knowledge of AI agents. By default this program starts itself for each, so a program that is
    /// not `flowsdk-server` brings its own.
    pub pdfs: Option<Arc<dyn PdfReader>>,
    /// Reads the addresses among the knowledge of AI agents. By default it reaches public addresses and
    /// `FLOW_HTTP_ALLOWED_HOSTS`.
    pub web: Option<Arc<dyn Web>>,
    /// Reads the files that contacts send by phone. By default it calls `PHONE_API_URL`.
    pub media_source: Option<Arc<dyn MediaSource>>,
    /// Keeps the contents of files. By default `MEDIA_STORE` decides.
    pub blobs: Option<Blobs>,
    /// Renders the metrics at `/metrics`, which answers 404 without it.
    pub metrics: Option<PrometheusHandle>,
}

impl Adapters {
    /// The system's clock and secure ids; the rest from the configuration, without metrics.
    pub fn system() -> Self {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock);
        let ids = Arc::new(Cuids::new(Arc::clone(&clock)));
        Self {
            clock,
            ids,
            store: None,
            pace: Pace::Timed,
            http: None,
            scripts: None,
            sms: None,
            phone: None,
            templates: None,
            form_keys: None,
            models: None,
            embedders: None,
            pdfs: None,
            web: None,
            media_source: None,
            blobs: None,
            metrics: None,
        }
    }

    /// The context of use cases.
    pub fn context(&self) -> OpContext {
        OpContext::new(Arc::clone(&self.clock), Arc::clone(&self.ids))
    }
}

impl Default for Adapters {
    fn default() -> Self {
        Self::system()
    }
}

impl fmt::Debug for Adapters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adapters").field("clock", &self.clock).field("ids", &self.ids).finish_non_exhaustive()
    }
}
