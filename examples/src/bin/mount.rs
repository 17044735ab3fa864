//! The web chat and the administrative API under `/support` of an axum application, with its own login in front.
//!
//! `ADMIN_PASSWORD=a-good-one cargo run -p flowsdk-examples --bin mount` prints the address of the chat. The first start makes
//! the administrator `admin@flowsdk.local` with this password. The API asks for `?ticket=letmein` as a stand-in for the
//! application's session.

use std::future::IntoFuture as _;
use std::sync::Arc;

use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use axum::{Router, extract::Request, http::StatusCode, routing::get};
use flowsdk_core::context::OpContext;
use flowsdk_core::fault::BoxError;
use flowsdk_outside::script::NoScripts;
use flowsdk_server::app::{Adapters, App};
use flowsdk_server::config::{Config, Environment};
use flowsdk_server::demo::{DataFolder, seed};
use flowsdk_store::sql::SqlKeyValue;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let cx = OpContext::system();
    let folder = DataFolder::open("data-of-the-shop".as_ref(), cx.ids())?;
    let own = |name: &str| std::env::var(name).ok().filter(|_| name == "ADMIN_PASSWORD");
    let config = Config::read(Environment::new(|name| folder.value(name).or_else(|| own(name))))?;
    let adapters = Adapters { scripts: Some(Arc::new(NoScripts)), ..Adapters::system() };
    let support = App::build(config, adapters).await?;
    let kv = SqlKeyValue::new(support.store().clone(), cx.clock());
    let demo = seed(support.store(), &kv, &cx, support.config().default_language).await?;

    let shop = Router::new()
        .route("/", get(async || "Our shop"))
        .nest("/support", support.router().layer(from_fn(login)))
        .into_make_service_with_connect_info::<std::net::SocketAddr>();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/support/chat/{}", listener.local_addr()?, demo.channel_id);
    let stop = support.supervisor().intake.clone();
    let serving = axum::serve(listener, shop).with_graceful_shutdown(stop.cancelled_owned()).into_future();
    let (served, stopped) = tokio::join!(serving, support.run());
    served?;
    stopped
}

/// Lets everybody into the chat, and into the rest whoever the application knows.
async fn login(request: Request, next: Next) -> Response {
    const CHAT: [&str; 3] = ["/chat/", "/webchat/socket.io/", "/webchat/history"];
    let is_chat = CHAT.iter().any(|path| request.uri().path().starts_with(path));
    let is_known = request.uri().query().is_some_and(|query| query.contains("ticket=letmein"));
    if is_chat || is_known { next.run(request).await } else { StatusCode::UNAUTHORIZED.into_response() }
}
