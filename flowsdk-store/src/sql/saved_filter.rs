//! Saved filters of contacts.

use flowsdk_core::saved_filter::SavedFilter;

use super::record::record;
use super::router_record::{RecordSql, RouterTable};

record! {
    SavedFilter in "contact_filter" {
        id, router_id, created_at;
        name, q, origin, updated_at
    }
}

pub(super) static TABLE: RecordSql = RecordSql::of::<SavedFilter>(&[]);

super::statement::statements! { ; TABLE }

impl RouterTable for SavedFilter {
    fn sql() -> &'static RecordSql {
        &TABLE
    }
}
