//! The spans of turns, as a collector gets them.

use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message as _;
use serde_json::json;
use tokio::net::TcpListener;
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::agents::shop;
use crate::api::building::{act, id, visitor};
use crate::harness::{Api, Setup, eventually, everywhere};
use crate::senses::Provider;

everywhere!(the_spans_of_a_turn_are_exported, a_collector_that_never_answers_holds_nobody_up);

/// The spans that a collector got, with the services that they are of.
async fn spans(collector: &MockServer) -> Vec<(String, Span)> {
    let mut spans = Vec::new();
    for request in collector.received_requests().await.unwrap() {
        let exported = ExportTraceServiceRequest::decode(&*request.body).expect("spans");
        for resource in exported.resource_spans {
            let attributes = resource.resource.unwrap().attributes;
            let service = attributes.into_iter().find(|attribute| attribute.key == "service.name").unwrap();
            let service = format!("{:?}", service.value.unwrap().value.unwrap());
            let of = resource.scope_spans.into_iter().flat_map(|scope| scope.spans);
            spans.extend(of.map(|span| (service.clone(), span)));
        }
    }
    spans
}

fn attribute(span: &Span, name: &str) -> Option<any_value::Value> {
    let found = span.attributes.iter().find(|attribute| attribute.key == name)?;
    found.value.clone()?.value
}

async fn the_spans_of_a_turn_are_exported(setup: Setup) {
    let (provider, collector) = (Provider::start().await, MockServer::start().await);
    let taken = Mock::given(method("POST")).and(path("/v1/traces")).and(header("x-team", "tea"));
    taken.respond_with(ResponseTemplate::new(200)).mount(&collector).await;
    let setup = provider
        .reached(setup)
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", &collector.uri())
        .with("OTEL_EXPORTER_OTLP_HEADERS", "x-team=tea")
        .with("OTEL_SERVICE_NAME", "tea-shop")
        .with("OTEL_BSP_SCHEDULE_DELAY", "100");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let credential = provider.credential(&setup, &admin).await;
    let (channel, router) = shop(&admin, json!({ "llmCredentialId": credential })).await;
    let tool = json!({ "schemaVersion": 1, "kind": "tool", "startBlockId": "a", "parameters": [], "returns": [],
        "blocks": [{ "id": "a", "type": "content", "defaultOutput": { "end": true } }] });
    let tool = json!({ "routerId": router, "name": "Preco", "kind": "tool", "definition": tool });
    let tool = id(&admin.post("/flows", &tool).await.ok(201));
    act(&admin, &format!("/flows/{tool}/publish")).await.ok(200);
    let mut client = visitor(&server, &channel).await;
    client.say("oi").await;
    assert_eq!(client.texts(1).await, ["Sobre?"]);
    client.say("qual o preço?").await;
    assert_eq!(client.texts(1).await, ["Certo"]);
    let all = eventually("the spans of the turn", || async {
        let all = spans(&collector).await;
        all.iter().any(|(_, span)| span.name.starts_with("invoke_agent")).then_some(all)
    })
    .await;
    assert!(all.iter().all(|(service, _)| service.contains("tea-shop")), "{all:?}");
    let named = |name: &str| -> Vec<&Span> {
        all.iter().map(|(_, span)| span).filter(|span| span.name == name).collect()
    };
    let [turn] = named("invoke_agent Vendas")[..] else { panic!("{all:?}") };
    assert!(turn.parent_span_id.is_empty());
    let chats = named("chat m");
    assert!(chats.len() >= 2, "{all:?}");
    let [tool] = named("execute_tool Preco")[..] else { panic!("{all:?}") };
    for span in chats.iter().chain([&tool]) {
        assert_eq!((&span.parent_span_id, &span.trace_id), (&turn.span_id, &turn.trace_id), "{span:?}");
    }
    assert_eq!(attribute(chats[0], "gen_ai.usage.input_tokens"), Some(any_value::Value::IntValue(7)));
    assert_eq!(attribute(chats[0], "gen_ai.usage.output_tokens"), Some(any_value::Value::IntValue(3)));
    for (_, span) in &all {
        assert!(span.events.is_empty(), "{span:?}");
        let told = format!("{span:?}");
        assert!(!told.contains("preço") && !told.contains("Certo"), "no content: {told}");
    }
    assert!(server.stop().await.0.success());
}

async fn a_collector_that_never_answers_holds_nobody_up(setup: Setup) {
    let provider = Provider::start().await;
    // It takes connections, and reads nothing.
    let silent = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let setup = provider
        .reached(setup)
        .with("OTEL_EXPORTER_OTLP_ENDPOINT", &address)
        .with("OTEL_BSP_SCHEDULE_DELAY", "50")
        .with("OTEL_BSP_MAX_QUEUE_SIZE", "2");
    let server = setup.start().await;
    let admin = Api::admin(&setup, &server).await;
    let credential = provider.credential(&setup, &admin).await;
    let (channel, _) = shop(&admin, json!({ "llmCredentialId": credential })).await;
    let mut client = visitor(&server, &channel).await;
    client.say("oi").await;
    assert_eq!(client.texts(1).await, ["Sobre?"]);
    for _ in 0..5 {
        client.say("chá").await;
        assert_eq!(client.texts(1).await, ["Certo"]);
    }
    let began = Instant::now();
    assert!(server.stop().await.0.success());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}
