//! The requests that the commands make.

use flowsdk_core::flow::Written;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::{Client, RemoteError};

/// A router.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Router {
    pub(super) id: String,
    pub(super) name: String,
}

/// A flow without its definition.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Flow {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) revision: i64,
    /// The number of the version that visitors get.
    pub(super) published_version: Option<i64>,
}

/// A flow with its draft.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FlowDetails {
    #[serde(flatten)]
    pub(super) flow: Flow,
    pub(super) router_id: String,
    definition: Box<RawValue>,
}

impl FlowDetails {
    /// Returns the draft.
    pub(super) fn written(&self) -> Result<Written, serde_json::Error> {
        Written::read(self.definition.get())
    }
}

/// A published version with its definition.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct VersionDetails {
    definition: Box<RawValue>,
}

impl VersionDetails {
    /// Returns the definition.
    pub(super) fn written(&self) -> Result<Written, serde_json::Error> {
        Written::read(self.definition.get())
    }
}

/// A finding of the validation.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Problem {
    pub(super) severity: String,
    pub(super) code: String,
    pub(super) block_id: Option<String>,
    pub(super) pointer: String,
    pub(super) message: String,
}

/// What is wrong with a draft.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Validation {
    pub(super) valid: bool,
    pub(super) problems: Vec<Problem>,
}

/// A version that was published.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Published {
    pub(super) number: i64,
}

/// A version under test, and where it is tested.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct PublishedTest {
    pub(super) channel: Channel,
    pub(super) warnings: Vec<Problem>,
}

/// A channel of the web chat.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Channel {
    id: String,
    name: String,
    router_id: String,
    is_test_channel: bool,
}

impl Channel {
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    fn tests(&self, router: &Router) -> bool {
        self.is_test_channel && self.router_id == router.id
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Page<T> {
    items: Vec<T>,
    next_cursor: Option<String>,
}

/// A new flow.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewFlow<'a> {
    pub(super) router_id: &'a str,
    pub(super) name: &'a str,
    pub(super) kind: &'a str,
    pub(super) definition: &'a Written,
}

/// A change of a draft.
#[derive(Serialize)]
struct NewDraft<'a> {
    definition: &'a Written,
    revision: i64,
}

impl Client {
    /// Returns the router with this name, or else this id.
    pub(super) async fn router(&mut self, name: &str) -> Result<Router, RemoteError> {
        let mut named = self.all::<Router>("/routers", &[("q", name)]).await?;
        named.retain(|router| router.name == name);
        let ids = named.iter().map(|router| router.id.clone()).collect();
        match one(named, "router", name, ids)? {
            Some(router) => Ok(router),
            None => match self.by_id("/routers", "router", name).await {
                Err(RemoteError::NotFound { name, .. }) => {
                    let known: Page<Router> = self.get("/routers", &[("limit", "20")]).await?;
                    let known = known.items.into_iter().map(|router| router.name).collect();
                    Err(RemoteError::NoRouter { name, known })
                }
                found => found,
            },
        }
    }

    /// Returns the flow of a router with this name; `None` of any router.
    pub(super) async fn flow_named(
        &mut self,
        router: Option<&Router>,
        name: &str,
    ) -> Result<Option<Flow>, RemoteError> {
        let mut query = vec![("q", name)];
        query.extend(router.map(|router| ("routerId", router.id.as_str())));
        let mut named = self.all::<Flow>("/flows", &query).await?;
        named.retain(|flow| flow.name == name);
        let ids = named.iter().map(|flow| flow.id.clone()).collect();
        one(named, "flow", name, ids)
    }

    /// Returns the flow of a router with this name, or else this id.
    pub(super) async fn flow_of(&mut self, router: &Router, name: &str) -> Result<Option<Flow>, RemoteError> {
        if let Some(named) = self.flow_named(Some(router), name).await? {
            return Ok(Some(named));
        }
        match self.flow(name).await {
            Ok(found) if found.router_id == router.id => Ok(Some(found.flow)),
            Ok(_) | Err(RemoteError::NotFound { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the flow with this id.
    pub(super) async fn flow(&mut self, id: &str) -> Result<FlowDetails, RemoteError> {
        self.by_id("/flows", "flow", id).await
    }

    /// Returns [`RemoteError::NoFlow`] with the flows that there are.
    pub(super) async fn no_flow(
        &mut self,
        router: Option<&Router>,
        name: &str,
    ) -> Result<RemoteError, RemoteError> {
        let mut query = vec![("limit", "20")];
        query.extend(router.map(|router| ("routerId", router.id.as_str())));
        let known: Page<Flow> = self.get("/flows", &query).await?;
        let known = known.items.into_iter().map(|flow| flow.name).collect();
        Ok(RemoteError::NoFlow { name: name.to_owned(), known })
    }

    pub(super) async fn create_flow(&mut self, new: &NewFlow<'_>) -> Result<Flow, RemoteError> {
        self.post("/flows", new).await
    }

    /// Replaces the draft of a flow, if it still has the revision that was read.
    pub(super) async fn change_draft(
        &mut self,
        flow: &Flow,
        definition: &Written,
    ) -> Result<Flow, RemoteError> {
        let draft = NewDraft { definition, revision: flow.revision };
        self.patch(&format!("/flows/{}", flow.id), &draft).await
    }

    pub(super) async fn validate(&mut self, flow: &Flow) -> Result<Validation, RemoteError> {
        self.act(&format!("/flows/{}/validate", flow.id)).await
    }

    pub(super) async fn publish(&mut self, flow: &Flow) -> Result<Published, RemoteError> {
        self.act(&format!("/flows/{}/publish?revision={}", flow.id, flow.revision)).await
    }

    /// Returns a published version of a flow.
    pub(super) async fn version(&mut self, flow: &Flow, number: i64) -> Result<VersionDetails, RemoteError> {
        self.get(&format!("/flows/{}/versions/{number}", flow.id), &[]).await
    }

    pub(super) async fn publish_test(
        &mut self,
        flow: &Flow,
        channel: Option<&str>,
    ) -> Result<PublishedTest, RemoteError> {
        let query = channel.map(|id| format!("?channelId={id}")).unwrap_or_default();
        self.act(&format!("/flows/{}/publish-test{query}", flow.id)).await
    }

    /// Returns the test channel of a router with this name, or else this id. Makes one of this name if there is none.
    pub(super) async fn test_channel(&mut self, router: &Router, name: &str) -> Result<Channel, RemoteError> {
        let query = [("q", name), ("routerId", router.id.as_str())];
        let mut named = self.all::<Channel>("/webchat/channels", &query).await?;
        named.retain(|channel| channel.name == name && channel.tests(router));
        let ids = named.iter().map(|channel| channel.id.clone()).collect();
        if let Some(channel) = one(named, "test channel", name, ids)? {
            return Ok(channel);
        }
        match self.by_id::<Channel>("/webchat/channels", "test channel", name).await {
            Ok(channel) if channel.tests(router) => Ok(channel),
            // The id of another channel is no name to give.
            Ok(_) => Err(RemoteError::NotFound { kind: "test channel", name: name.to_owned() }),
            Err(RemoteError::NotFound { .. }) => {
                let new =
                    json!({ "routerId": router.id, "name": name, "isTestChannel": true, "startOn": "open" });
                self.post("/webchat/channels", &new).await
            }
            Err(error) => Err(error),
        }
    }

    async fn by_id<T: serde::de::DeserializeOwned>(
        &mut self,
        path: &str,
        kind: &'static str,
        id: &str,
    ) -> Result<T, RemoteError> {
        let missing = || RemoteError::NotFound { kind, name: id.to_owned() };
        // Anything else is not an id, and would lead elsewhere.
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)) {
            return Err(missing());
        }
        match self.get(&format!("{path}/{id}"), &[]).await {
            Err(RemoteError::Refused(refusal)) if refusal.code == "not_found" => Err(missing()),
            found => found,
        }
    }

    /// Returns every page of a list.
    pub(crate) async fn all<T: serde::de::DeserializeOwned>(
        &mut self,
        path: &str,
        query: &[(&str, &str)],
    ) -> Result<Vec<T>, RemoteError> {
        let (mut found, mut cursor) = (Vec::new(), None::<String>);
        loop {
            let mut query = query.to_vec();
            query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
            let page: Page<T> = self.get(path, &query).await?;
            found.extend(page.items);
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => return Ok(found),
            }
        }
    }
}

/// Returns the one of these things, if there is one.
fn one<T>(
    mut things: Vec<T>,
    kind: &'static str,
    name: &str,
    ids: Vec<String>,
) -> Result<Option<T>, RemoteError> {
    if things.len() > 1 {
        return Err(RemoteError::Ambiguous { kind, name: name.to_owned(), ids });
    }
    Ok(things.pop())
}
