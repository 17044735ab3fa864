//! The socket's part of the raw cost: an echo on the socket library that the server uses.

use std::net::SocketAddr;

use anyhow::Result;
use axum::serve::ListenerExt as _;
use clap::Args;
use serde_json::{Value, json};
use socketioxide::SocketIo;
use socketioxide::extract::{Data, SocketRef};

/// The echo server.
#[derive(Args, Debug)]
pub(crate) struct RawSocket {
    #[arg(long)]
    listen: SocketAddr,
}

impl RawSocket {
    /// Serves until it is killed.
    pub(crate) fn serve(&self) -> Result<()> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
        runtime.block_on(echo(self.listen))
    }
}

async fn echo(address: SocketAddr) -> Result<()> {
    let (layer, io) = SocketIo::builder().build_layer();
    io.ns("/", async |socket: SocketRef| {
        socket.on("message", async |socket: SocketRef, Data::<Value>(message)| {
            let _gone = socket.emit("message", &message);
        });
        let _gone = socket.emit("auth_ok", &json!({ "userId": "u", "sessionKey": null }));
    });
    let listener = tokio::net::TcpListener::bind(address).await?.tap_io(|stream| {
        let _gone = stream.set_nodelay(true);
    });
    axum::serve(listener, axum::Router::new().layer(layer)).await?;
    Ok(())
}
