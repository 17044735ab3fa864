//! A small HTTP server outside of the servers under test.

use std::net::SocketAddr;

use anyhow::Result;
use axum::Router;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A running server. Dropping it ends it.
#[derive(Debug)]
pub(crate) struct Outside {
    pub(crate) address: SocketAddr,
    _serving: JoinSet<()>,
}

impl Outside {
    /// Starts it on a port of its own.
    pub(crate) async fn start(router: Router) -> Result<Self> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                eprintln!("flowsdk-benches: the server outside ended: {error}");
            }
        });
        Ok(Self { address, _serving: serving })
    }

    /// Starts one that accepts connections and answers nothing.
    pub(crate) async fn silent() -> Result<Self> {
        Self::start(Router::new().fallback(async || std::future::pending::<()>().await)).await
    }
}
