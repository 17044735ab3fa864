//! Requests.

use std::fmt;

use async_trait::async_trait;
use flowsdk_core::integration::BaseUrl;
use reqwest::multipart::{Form, Part};
use reqwest::{Client, RequestBuilder, Response};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;

use super::error::{read_refusal, wait_of};
use super::sse::EventStream;
use super::{completions, embeddings, responses, transcriptions};
use crate::model::{
    Answer, Embedded, Embedder, ModelError, ModelProvider, ModelRequest, Speech, Transcribed, Transcriber,
    Used,
};

/// Most bytes of an answer that are read.
const MAX_ANSWER: usize = 8 << 20;

/// How a server is asked for answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// By the Responses API. The server keeps the conversation.
    Responses,
    /// By chat completions. The whole conversation goes with every request.
    ChatCompletions,
}

/// A server that speaks like OpenAI, with an account there.
#[derive(Clone)]
pub struct OpenAi {
    client: Client,
    base: BaseUrl,
    key: SecretString,
    shape: Shape,
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("base", &self.base).field("shape", &self.shape).finish_non_exhaustive()
    }
}

impl OpenAi {
    /// Creates an adapter for a server at `base`, such as `https://api.openai.com/v1`. The client has a timeout, and follows
    /// no redirect: the key would follow it.
    pub fn new(client: Client, base: BaseUrl, key: SecretString, shape: Shape) -> Self {
        Self { client, base, key, shape }
    }

    /// Returns the vectors that a model of this server makes, of so many dimensions.
    pub fn embedder(&self, model: String, dimensions: u32) -> impl Embedder + use<> {
        OpenAiEmbedder { server: self.clone(), model, dimensions }
    }

    /// Returns what a model of this server hears.
    pub fn transcriber(&self, model: String) -> impl Transcriber + use<> {
        OpenAiTranscriber { server: self.clone(), model }
    }

    fn post(&self, path: &str) -> Result<RequestBuilder, ModelError> {
        let no_path =
            || ModelError::Refused { reason: "the address of the provider cannot be used".to_owned() };
        let url = self.base.join(path, &[]).ok_or_else(no_path)?;
        Ok(self.client.post(url).bearer_auth(self.key.expose_secret()))
    }

    /// Returns what is answered to a request, as JSON.
    async fn json(&self, request: RequestBuilder) -> Result<Value, ModelError> {
        let answer = async { json(send(request).await?).await };
        answer.await.map_err(|error| error.without(self.key.expose_secret()))
    }

    async fn respond(&self, request: &ModelRequest<'_>) -> Result<Answer, ModelError> {
        let sent = self.post("/responses")?.json(&responses::body(request));
        let mut answer = send(sent).await?;
        if !is_stream(&answer) {
            return responses::read(&json(answer).await?);
        }
        let (mut stream, mut length) = (EventStream::default(), 0);
        while let Some(chunk) = answer.chunk().await.map_err(|error| broken(&error))? {
            length += chunk.len();
            if length > MAX_ANSWER {
                return Err(endless());
            }
            if let Some(answer) = stream.push(&chunk).iter().find_map(|data| end_of(data)) {
                return answer;
            }
        }
        let last = stream.finish().and_then(|data| end_of(&data));
        last.unwrap_or_else(|| Err(ModelError::unavailable("the answer broke off")))
    }

    async fn complete(&self, request: &ModelRequest<'_>) -> Result<Answer, ModelError> {
        let sent = self.post("/chat/completions")?.json(&completions::body(request));
        completions::read(&json(send(sent).await?).await?, request.items.len())
    }
}

#[async_trait]
impl ModelProvider for OpenAi {
    async fn answer(&self, request: ModelRequest<'_>) -> Result<Answer, ModelError> {
        let answer = match self.shape {
            Shape::Responses => self.respond(&request).await,
            Shape::ChatCompletions => self.complete(&request).await,
        };
        answer.map_err(|error| error.without(self.key.expose_secret()))
    }
}

#[derive(Debug)]
struct OpenAiEmbedder {
    server: OpenAi,
    model: String,
    dimensions: u32,
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    async fn embed(&self, texts: &[String]) -> Result<Embedded, ModelError> {
        let body = embeddings::body(&self.model, self.dimensions, texts);
        let answer = self.server.json(self.server.post("/embeddings")?.json(&body)).await?;
        let vectors = embeddings::read(&answer, texts.len(), self.dimensions)?;
        let used = Used { model: self.model.clone(), tokens: embeddings::tokens(&answer) };
        Ok(Embedded { vectors, used: Some(used) })
    }
}

#[derive(Debug)]
struct OpenAiTranscriber {
    server: OpenAi,
    model: String,
}

#[async_trait]
impl Transcriber for OpenAiTranscriber {
    async fn transcribe(&self, speech: Speech) -> Result<Transcribed, ModelError> {
        let file = Part::bytes(speech.bytes).file_name(transcriptions::file_name(&speech.mime_type));
        let no_type = |_| ModelError::Refused { reason: "a media type that is none".to_owned() };
        let file = file.mime_str(&speech.mime_type).map_err(no_type)?;
        let form =
            Form::new().text("model", self.model.clone()).text("response_format", "json").part("file", file);
        let sent = self.server.post("/audio/transcriptions")?.multipart(form);
        let answer = self.server.json(sent).await?;
        let text = transcriptions::read(&answer)?;
        let used = Used { model: self.model.clone(), tokens: transcriptions::tokens(&answer) };
        Ok(Transcribed { text, used: Some(used) })
    }
}

/// Sends a request. An answer whose status is none of success is an error.
async fn send(request: RequestBuilder) -> Result<Response, ModelError> {
    let answer = request.send().await.map_err(|error| broken(&error))?;
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let wait = wait_of(answer.headers());
    // Without its body the status has to do.
    let body = bytes(answer).await.unwrap_or_default();
    Err(read_refusal(status, wait, &body))
}

/// Returns the answer, if an event of a stream ends it. What is no JSON ends nothing.
fn end_of(data: &[u8]) -> Option<Result<Answer, ModelError>> {
    let event: Value = serde_json::from_slice(data).ok()?;
    responses::read_event(&event)
}

fn is_stream(answer: &Response) -> bool {
    let kind = answer.headers().get(reqwest::header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

async fn json(answer: Response) -> Result<Value, ModelError> {
    let body = bytes(answer).await?;
    let unreadable = |_| ModelError::Unreadable { reason: "an answer that is no JSON".to_owned() };
    serde_json::from_slice(&body).map_err(unreadable)
}

async fn bytes(mut answer: Response) -> Result<Vec<u8>, ModelError> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| broken(&error))? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(endless());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

fn endless() -> ModelError {
    ModelError::Unreadable { reason: "an answer without end".to_owned() }
}

/// Returns an error of a connection, without the address in it.
fn broken(error: &reqwest::Error) -> ModelError {
    let reason = if error.is_timeout() {
        "no answer in time"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the connection broke"
    };
    ModelError::unavailable(reason)
}
