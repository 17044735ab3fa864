//! Gathers routes and their document.

use axum::Router;
use axum::routing::MethodRouter;
use utoipa::openapi::path::PathItem;
use utoipa::openapi::schema::Schema;
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{OpenApi, Paths, RefOr};
use utoipa_axum::router::UtoipaMethodRouter;

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
    router: Router<ApiState>,
    document: Option<OpenApi>,
}

impl Routes {
    /// Creates an empty set of routes, which get no document. While it is built, a document takes several times the memory
    /// of the routes.
    pub(super) fn undocumented() -> Self {
        Self { router: Router::new(), document: None }
    }

    /// Creates an empty set of routes with a document.
    pub(super) fn documented() -> Self {
        Self { router: Router::new(), document: Some(openapi::base()) }
    }

    /// Declares a tag, with the text that the document shows with it. Operations of any resource may name it.
    pub(super) fn tag(mut self, name: &str, text: &str) -> Self {
        if let Some(document) = &mut self.document {
            let tag = TagBuilder::new().name(name).description(Some(text)).build();
            document.tags.get_or_insert_default().push(tag);
        }
        self
    }

    /// Adds a handler.
    pub(super) fn add(mut self, endpoint: Endpoint) -> Self {
        let Endpoint { route: (schemas, paths, methods), access } = endpoint;
        for path in paths.paths.keys() {
            // Routes of their own, not nested ones: nothing is cut off a path at run time.
            self.router = twin(self.router, path, &methods);
        }
        self.describe(schemas, paths, access);
        self
    }

    /// Lists an operation that is served beside the API, to callers whom it knows by itself.
    pub(super) fn list(mut self, (schemas, paths, _): UtoipaMethodRouter<ApiState>) -> Self {
        self.describe(schemas, paths, Access::Public);
        self
    }

    /// Adds operations to the document, with the schemas that they name.
    fn describe(&mut self, schemas: Vec<(String, RefOr<Schema>)>, mut paths: Paths, access: Access) {
        let Some(document) = &mut self.document else { return };
        for (path, item) in &mut paths.paths {
            for operation in operations(item) {
                openapi::complete(path, operation, access);
            }
        }
        document.paths.merge(paths);
        document.components.get_or_insert_default().schemas.extend(schemas);
    }

    /// Returns the router, and the document if these have one.
    pub(super) fn finish(mut self) -> (Router<ApiState>, Option<OpenApi>) {
        self.document.iter_mut().for_each(openapi::refer_to_items);
        self.document.iter_mut().for_each(openapi::describe_definitions);
        self.document.iter_mut().for_each(openapi::allow_any_fields);
        (self.router, self.document)
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut utoipa::openapi::path::Operation> {
    [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch].into_iter().flatten()
}

/// Adds both paths of a route: below `/` and below `/api`.
pub(crate) fn twin<S: Clone + Send + Sync + 'static>(
    router: Router<S>,
    path: &str,
    methods: &MethodRouter<S>,
) -> Router<S> {
    router.route(path, methods.clone()).route(&format!("/api{path}"), methods.clone())
}
