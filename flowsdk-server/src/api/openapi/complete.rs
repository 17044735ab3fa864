//! Additions that follow from an operation's form: its id, its callers, the errors that all of its kind can return.

use utoipa::openapi::path::Operation;
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{Ref, RefOr};

use super::{API_TOKEN, USER_TOKEN, responses};
use crate::api::guard::Access;

/// Completes the operation of a handler.
pub(in crate::api) fn complete(path: &str, operation: &mut Operation, access: Access) {
    operation.operation_id = operation.operation_id.take().map(|name| camel_case(&name));
    let extensions = operation.extensions.get_or_insert_default();
    extensions.insert("x-permission".to_owned(), access.to_string().into());
    // An operation that asks for another token says so itself.
    let schemes: &[&str] = match access {
        Access::Public => &[],
        Access::User | Access::Admin => &[USER_TOKEN],
        Access::Authenticated | Access::Permission(..) => &[USER_TOKEN, API_TOKEN],
    };
    let requirement = |name: &&str| SecurityRequirement::new::<_, [&str; 0], _>(*name, []);
    operation.security.get_or_insert_with(|| schemes.iter().map(requirement).collect());

    let mut statuses = vec![500, 503];
    match access {
        Access::Public => {}
        Access::Authenticated => statuses.extend([401, 429]),
        Access::User | Access::Admin | Access::Permission(..) => statuses.extend([401, 403, 429]),
    }
    if operation.request_body.is_some() {
        statuses.extend([400, 413, 415]);
    }
    let parameters = operation.parameters.iter().flatten();
    if parameters.filter(|one| matches!(one, RefOr::T(one) if is_checked(one))).count() > 0 {
        statuses.push(400);
    }
    if path.contains('{') {
        statuses.push(404);
    }
    let responses = &mut operation.responses.responses;
    for status in statuses {
        let common = || RefOr::Ref(Ref::from_response_name(responses::name(status)));
        responses.entry(status.to_string()).or_insert_with(common);
    }
    // An operation describes when an error of its own happens; the body is that of every error.
    for (status, response) in responses {
        if let RefOr::T(response) = response
            && matches!(status.as_bytes()[0], b'4' | b'5')
            && response.content.is_empty()
        {
            response.content.insert("application/json".to_owned(), RefOr::T(responses::content()));
        }
    }
}

/// Query and headers are checked; a path that fits nothing is not found.
fn is_checked(parameter: &utoipa::openapi::path::Parameter) -> bool {
    !matches!(parameter.parameter_in, utoipa::openapi::path::ParameterIn::Path)
}

/// `list_users` as `listUsers`.
fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut text, word| {
        let mut letters = word.chars();
        text.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        text.push_str(letters.as_str());
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_operations() {
        assert_eq!(camel_case("list_api_clients"), "listApiClients");
        assert_eq!(camel_case("login"), "login");
    }
}
