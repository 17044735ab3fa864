//! AI agents that hear and see what visitors of the web chat send, by models that speak like OpenAI (spec B 4.9, step 5).

use flowsdk_core::credential::{HasLlmCredentials as _, LlmCredential};
use flowsdk_core::store::{Store as _, Transaction as _};
use serde_json::{Value, json};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::agents::shop;
use crate::api::building::id;
use crate::harness::{Api, Client, Server, Setup, everywhere, http};

everywhere!(an_agent_hears_and_sees_what_visitors_send);

pub(crate) const VOICE: &[u8] = b"OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead voice";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";

/// A model that answers each input once, after a call of the tool `Preco` if it asks for a price. Another model hears the
/// same in every recording.
pub(crate) struct Provider(MockServer);

impl Provider {
    pub(crate) async fn start() -> Self {
        let server = MockServer::start().await;
        let answer = |request: &Request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let last = body["messages"].as_array().unwrap().last().unwrap();
            let call = |id: &str, name: &str, arguments: &str| {
                let function = json!({ "name": name, "arguments": arguments });
                json!([{ "id": id, "type": "function", "function": function }])
            };
            let asks_for_a_price = last["content"].as_str().is_some_and(|text| text.contains("preço"));
            let calls = match (last["role"].as_str(), last["tool_call_id"].as_str()) {
                (Some("tool"), Some(id)) if !id.starts_with("price") => Value::Null,
                (Some("user"), _) if asks_for_a_price => call("price", "Preco", "{}"),
                _ => call("call", "sendTextMessage", r#"{"text":"Certo"}"#),
            };
            let message = json!({ "role": "assistant", "content": null, "tool_calls": calls });
            let usage = json!({ "prompt_tokens": 7, "completion_tokens": 3 });
            let answer = json!({ "choices": [{ "message": message }], "usage": usage });
            ResponseTemplate::new(200).set_body_json(answer)
        };
        Mock::given(method("POST"))
            .and(path("/v1/chat/completions"))
            .respond_with(answer)
            .mount(&server)
            .await;
        let heard = ResponseTemplate::new(200).set_body_json(json!({ "text": "dois chás" }));
        Mock::given(method("POST"))
            .and(path("/v1/audio/transcriptions"))
            .respond_with(heard)
            .mount(&server)
            .await;
        Self(server)
    }

    /// The settings of a server that may reach it.
    pub(crate) fn reached(&self, setup: Setup) -> Setup {
        let setup = setup.with("FLOW_HTTP_ALLOWED_HOSTS", "127.0.0.1").with("AGENT_QUIET", "50ms");
        setup.with("AGENT_TRANSCRIBER", "ears-of-our-own")
    }

    /// The id of a credential for it.
    pub(crate) async fn credential(&self, setup: &Setup, admin: &Api) -> String {
        let credential = json!({ "name": "Modelos", "provider": "openai_compatible", "apiKey": "sk-test",
            "baseUrl": "https://models.example/v1" });
        let credential = id(&admin.post("/llm-credentials", &credential).await.ok(201));
        // Only the API insists on https.
        let store = setup.store().await;
        let mut tx = store.begin().await.unwrap();
        let found = tx.llm_credentials().find(&credential.parse().unwrap()).await.unwrap();
        let here = format!("{}/v1", self.0.uri()).parse().unwrap();
        let changed = LlmCredential { base_url: Some(here), ..found.expect("a credential") };
        tx.llm_credentials().save(&changed).await.unwrap();
        tx.commit().await.unwrap();
        credential
    }

    /// What models were told last by contacts.
    pub(crate) async fn told(&self) -> Vec<Value> {
        let requests = self.0.received_requests().await.unwrap();
        let of_models = requests.iter().filter(|request| request.url.path() == "/v1/chat/completions");
        let bodies = of_models.map(|request| serde_json::from_slice::<Value>(&request.body).unwrap());
        let last_input = |body: Value| {
            let messages = body["messages"].as_array().unwrap().clone();
            messages.into_iter().rfind(|message| message["role"] == "user").map(|one| one["content"].clone())
        };
        bodies.filter_map(last_input).collect()
    }

    /// The requests with recordings, as texts.
    pub(crate) async fn recordings(&self) -> Vec<String> {
        let requests = self.0.received_requests().await.unwrap();
        let recordings = requests.iter().filter(|request| request.url.path() == "/v1/audio/transcriptions");
        recordings.map(|request| String::from_utf8_lossy(&request.body).into_owned()).collect()
    }
}

/// Uploads a file as a visitor, and sends it.
async fn send(server: &Server, channel: &str, visitor: (&Client, &Value), name: &str, content: &[u8]) {
    let (client, identity) = visitor;
    let text = |name: &str| identity[name].as_str().unwrap().to_owned();
    let (user, key) = (text("userId"), text("sessionKey"));
    let headers = [("x-channel-id", channel), ("x-user-id", &user), ("x-session-key", &key)];
    let path = format!("/webchat/media?filename={name}");
    let file = http::send(server.addr, "POST", &path, &headers, Some(content)).await.expect("an answer");
    let payload =
        json!({ "mediaId": file.ok(201)["id"], "caption": if name == "a.png" { "e isto?" } else { "" } });
    let ack = client.emit("message_media", &payload).await;
    assert_eq!(ack["ok"], true, "{ack}");
}

async fn an_agent_hears_and_sees_what_visitors_send(setup: Setup) {
    let provider = Provider::start().await;
    let setup = provider.reached(setup);
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let credential = provider.credential(&setup, &admin).await;
    let (channel, _) = shop(&admin, json!({ "llmCredentialId": credential, "hasVision": true })).await;
    let attachments = json!({ "attachments": { "kinds": ["image", "audio"], "maxBytes": 100_000 } });
    admin.patch(&format!("/webchat/channels/{channel}"), &attachments).await.ok(200);
    let (mut client, identity) = Client::enter(server.addr, json!({ "channelId": channel })).await;
    setup.plant(identity["sessionKey"].as_str().unwrap());
    client.say("oi").await;
    assert_eq!(client.texts(1).await, ["Sobre?"]);
    send(&server, &channel, (&client, &identity), "a.ogg", VOICE).await;
    assert_eq!(client.texts(1).await, ["Certo"]);
    let recordings = provider.recordings().await;
    assert!(matches!(&recordings[..], [one] if one.contains("OpusHead") && one.contains("ears-of-our-own")));
    assert_eq!(provider.told().await.pop(), Some(json!("[Áudio transcrito]: \"dois chás\"")));

    send(&server, &channel, (&client, &identity), "a.png", PNG).await;
    assert_eq!(client.texts(1).await, ["Certo"]);
    let told = provider.told().await.pop().expect("an input");
    assert_eq!(told[0], json!({ "type": "text", "text": "[Imagem]\ne isto?" }));
    let address = told[1]["image_url"]["url"].as_str().unwrap();
    assert!(address.starts_with("data:image/png;base64,iVBORw0KGgo"), "{address}");

    let turns = admin.get("/ai/turns").await.ok(200);
    let turn = admin.get(&format!("/ai/turns/{}", id(&turns["items"][0]))).await.ok(200);
    let stored = turn["items"][0]["images"][0].as_str().unwrap();
    let file = admin.get(&format!("/media/{}", stored.strip_prefix("media:").unwrap())).await.ok(200);
    assert_eq!((&file["kind"], &file["origin"]), (&json!("image"), &json!("visitor")));
}
