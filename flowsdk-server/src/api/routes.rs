//! Gathers routes and their document.

use axum::Router;
use axum::routing::MethodRouter;
use utoipa::openapi::OpenApi;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::tag::TagBuilder;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};

use super::guard::Access;
use super::openapi;
use super::state::ApiState;

/// One handler: its route, its part of the document, and whom its guard lets through.
pub(super) struct Endpoint {
    pub(super) route: UtoipaMethodRouter<ApiState>,
    pub(super) access: Access,
}

/// The [`Endpoint`] of a handler. One handler a `routes!`: several of different paths would answer on each other's.
macro_rules! endpoint {
    ($($handler:ident)::+) => {
        $crate::api::routes::Endpoint {
            route: utoipa_axum::routes!($($handler)::+),
            access: $crate::api::guard::access_of(&$($handler)::+),
        }
    };
}

pub(super) use endpoint;

/// The routes of the API, each below `/` and below `/api` (rulings H1). The document has each once.
pub(super) struct Routes {
    documented: OpenApiRouter<ApiState>,
    twins: Router<ApiState>,
}

impl Routes {
    /// Creates an empty set of routes.
    pub(super) fn new() -> Self {
        Self { documented: OpenApiRouter::with_openapi(openapi::base()), twins: Router::new() }
    }

    /// Declares a tag, with the text that the document shows with it. Operations of any resource may name it.
    pub(super) fn tag(mut self, name: &str, text: &str) -> Self {
        let tag = TagBuilder::new().name(name).description(Some(text)).build();
        self.documented.get_openapi_mut().tags.get_or_insert_default().push(tag);
        self
    }

    /// Adds a handler.
    pub(super) fn add(mut self, endpoint: Endpoint) -> Self {
        let Endpoint { route: (schemas, mut paths, methods), access } = endpoint;
        for (path, item) in &mut paths.paths {
            // A route of its own, not a nested router: nothing is cut off a path at run time.
            self.twins = self.twins.route(&format!("/api{path}"), methods.clone());
            for operation in operations(item) {
                openapi::complete(path, operation, access);
            }
        }
        self.documented = self.documented.routes((schemas, paths, methods));
        self
    }

    /// Lists an operation that is served beside the API, to callers whom it knows by itself.
    pub(super) fn list(mut self, (schemas, mut paths, _): UtoipaMethodRouter<ApiState>) -> Self {
        for (path, item) in &mut paths.paths {
            for operation in operations(item) {
                openapi::complete(path, operation, Access::Public);
            }
        }
        let document = self.documented.get_openapi_mut();
        document.paths.paths.extend(paths.paths);
        document.components.get_or_insert_default().schemas.extend(schemas);
        self
    }

    /// The router and the document.
    pub(super) fn finish(self) -> (Router<ApiState>, OpenApi) {
        let (router, mut document) = self.documented.split_for_parts();
        openapi::refer_to_items(&mut document);
        (router.merge(self.twins), document)
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut utoipa::openapi::path::Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch].into_iter().flatten()
}

/// Both paths of something that the document does not list.
pub(crate) fn twin(router: Router, path: &str, methods: &MethodRouter) -> Router {
    router.route(path, methods.clone()).route(&format!("/api{path}"), methods.clone())
}
