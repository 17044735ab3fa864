//! A small client of Socket.IO over a websocket: for commands of this program, and for tests.
//!
//! It does what a caller tells it and nothing by itself: who reads a [`Packet::Ping`] sends [`packet::PONG`]. A
//! connection is made of any websocket ([`open`]). [`upgrade`] has one from the HTTP client of this program, so that
//! certificates and proxies count as for its other requests.

mod handshake;
pub mod packet;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt as _, StreamExt as _};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
pub use tokio_tungstenite::tungstenite::Message as Frame;
use tokio_tungstenite::tungstenite::Result;

pub use handshake::{HandshakeError, upgrade};
pub use packet::Packet;

/// The side of a connection that reads.
#[derive(Debug)]
pub struct Reading<S>(SplitStream<WebSocketStream<S>>);

/// The side of a connection that writes.
#[derive(Debug)]
pub struct Writing<S>(SplitSink<WebSocketStream<S>, Frame>);

/// Asks to be let in with `auth`, a JSON text. The answer is the first packet to read; before it a client sends
/// nothing else.
///
/// # Errors
/// The connection has ended.
pub async fn open<S>(stream: WebSocketStream<S>, auth: &str) -> Result<(Reading<S>, Writing<S>)>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let (sink, stream) = stream.split();
    let mut writing = Writing(sink);
    writing.send(Frame::text(packet::connect(auth))).await?;
    Ok((Reading(stream), writing))
}

impl<S: AsyncRead + AsyncWrite + Unpin> Reading<S> {
    /// Returns the next packet; `None` when the connection has ended. Nothing is lost where this future is dropped.
    pub async fn next(&mut self) -> Option<Packet> {
        loop {
            // A close is answered by reading on, which comes to the end.
            if let Frame::Text(text) = self.0.next().await?.ok()?
                && let Some(packet) = Packet::read(&text)
            {
                return Some(packet);
            }
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Writing<S> {
    /// Sends a frame.
    ///
    /// # Errors
    /// The connection has ended.
    pub async fn send(&mut self, frame: Frame) -> Result<()> {
        self.0.send(frame).await
    }
}
