//! The public form of an API client.

use flowsdk_core::change::View;
use flowsdk_core::id::{ApiClientId, RouterId};
use flowsdk_core::schema::SchemaAttributes;
use flowsdk_core::time::IsoTime;
use serde::Serialize;

use super::ApiClient;
use crate::permission::Permissions;

/// A machine that administers. Its token is shown only when it is made.
#[derive(Debug, Serialize, View, SchemaAttributes)]
#[view(of = ApiClient)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = ApiClient)]
pub struct ApiClientView {
    /// The id of the client.
    pub id: ApiClientId,
    #[schema(example = "CRM")]
    name: String,
    /// The permissions of the client.
    #[schema(value_type = Vec<crate::permission::Permission>)]
    permissions: Permissions,
    /// The routers it is confined to; empty means no restriction.
    router_ids: Vec<RouterId>,
    /// An inactive one is not let in.
    active: bool,
    /// From this moment on it is not let in.
    #[schema(required = true)]
    expires_at: Option<IsoTime>,
    /// To the minute.
    #[schema(required = true)]
    last_used_at: Option<IsoTime>,
    created_at: IsoTime,
    updated_at: IsoTime,
}

#[cfg(test)]
mod tests {
    use flowsdk_core::change::Recorded as _;
    use flowsdk_core::time::Timestamp;
    use serde_json::json;

    use super::super::TokenHash;
    use super::*;

    #[test]
    fn neither_answer_nor_audit_shows_the_hash_of_the_token() {
        let client = ApiClient {
            id: ApiClientId::parse("c1").expect("an id"),
            name: "CRM".to_owned(),
            token_hash: TokenHash::from_stored("secret".to_owned()),
            permissions: Permissions::default(),
            router_ids: Vec::new(),
            active: true,
            expires_at: Some(Timestamp::from_millis(2)),
            last_used_at: None,
            created_at: Timestamp::from_millis(0),
            updated_at: Timestamp::from_millis(1),
        };
        assert_eq!(
            client.to_json(),
            json!({ "id": "c1", "name": "CRM", "permissions": [], "routerIds": [], "active": true,
                "expiresAt": "1970-01-01T00:00:00.002Z", "lastUsedAt": null,
                "createdAt": "1970-01-01T00:00:00.000Z", "updatedAt": "1970-01-01T00:00:00.001Z" })
        );
    }
}
