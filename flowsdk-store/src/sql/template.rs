//! Message templates.

use flowsdk_channels::template::{Template, TemplateFilter};

use super::list::{Filter, asked};
use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    Template in "message_template" {
        id, router_id, business_account_id, name, language, created_at;
        category, status, components: json, provider_id, quality, rejected_reason, updated_at
    }
}

/// A business account has a few hundred templates at most, so SQLite looks at them one by one, newest first.
pub(super) static TABLE: RecordSql<TemplateFilter> = RecordSql::of::<Template>(&[
    Filter::per("+business_account_id = {}", "business_account_id = {}", |filter| {
        asked(&filter.business_account_id)
    }),
    Filter::of("status = {}", |filter| asked(&filter.status)),
    Filter::per("+name = {}", "name = {}", |filter| asked(&filter.name)),
]);

super::statement::statements! { ; TABLE }

impl RouterTable for Template {
    fn sql() -> &'static RecordSql<TemplateFilter> {
        &TABLE
    }
}
