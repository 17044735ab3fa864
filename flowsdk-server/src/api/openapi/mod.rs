//! The document of the API (OpenAPI 3.1): the common parts of all operations are added here, once.

mod complete;
mod definitions;
mod free_form;
mod pages;
mod responses;

pub(super) use complete::complete;
pub(super) use definitions::describe_definitions;
pub(super) use free_form::allow_any_fields;
pub(super) use pages::refer_to_items;

use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{
    Components, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, PathsBuilder, ServerBuilder,
};

/// Users' access tokens.
const USER_TOKEN: &str = "userToken";
/// Tokens of API clients.
const API_TOKEN: &str = "apiToken";
/// Users' refresh tokens.
const REFRESH_TOKEN: &str = "refreshToken";

const DESCRIPTION: &str = "\
Administration of conversations. Bodies are JSON, times ISO 8601 in UTC with milliseconds.\n\n\
Every answer has the header `x-request-id`. An error is `{ code, message, details?, requestId }`: `code` is stable, \
`message` follows `Accept-Language` (Portuguese, or English). Lists are pages, newest first: `nextCursor` of one leads \
to the next. An operation names the permission that it requires in `x-permission`: `public`, `authenticated`, `user` (a person), \
`admin`, or `resource:action` of the user's group or API client.";

/// The document without tags and paths.
pub(super) fn base() -> OpenApi {
    let mut components = Components::new();
    components.responses.extend(responses::common());
    components.schemas.extend(responses::schemas());
    for (name, format, description) in [
        (USER_TOKEN, "JWT", "`accessToken` of a login."),
        (API_TOKEN, "fai_*", "The token of an API client."),
        (REFRESH_TOKEN, "JWT", "`refreshToken` of a login."),
    ] {
        let mut http = Http::new(HttpAuthScheme::Bearer);
        http.bearer_format = Some(format.to_owned());
        http.description = Some(description.to_owned());
        components.add_security_scheme(name, SecurityScheme::Http(http));
    }
    let license =
        LicenseBuilder::new().name("MIT OR Apache-2.0").identifier(Some("MIT OR Apache-2.0")).build();
    OpenApiBuilder::new()
        .info(
            InfoBuilder::new()
                .title("FlowSDK")
                .version(env!("CARGO_PKG_VERSION"))
                .description(Some(DESCRIPTION))
                .license(Some(license))
                .build(),
        )
        .servers(Some(["/api", "/"].map(|url| ServerBuilder::new().url(url).build())))
        .paths(PathsBuilder::new().build())
        .components(Some(components))
        .build()
}
