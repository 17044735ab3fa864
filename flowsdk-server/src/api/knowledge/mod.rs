//! `/knowledge-documents` and `/knowledge`: what AI agents know.

mod content;
mod create;
mod delete;
mod file;
mod file_content;
mod get;
mod list;
mod patch;
mod retry;
mod search;
mod upload;

use super::routes::{Routes, endpoint};

/// Where documents are.
const COLLECTION: &str = "/knowledge-documents";
/// Most bytes of a body with a content: each character of it may take two in JSON.
const CONTENT_LIMIT: usize = 11 << 20;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("knowledge", "What AI agents know")
        .add(endpoint!(list::list_knowledge_documents))
        .add(endpoint!(create::create_knowledge_document))
        .add(endpoint!(upload::upload_knowledge_document))
        .add(endpoint!(get::get_knowledge_document))
        .add(endpoint!(patch::patch_knowledge_document))
        .add(endpoint!(content::replace_knowledge_content))
        .add(endpoint!(file_content::upload_knowledge_content))
        .add(endpoint!(retry::retry_knowledge_document))
        .add(endpoint!(delete::delete_knowledge_document))
        .add(endpoint!(search::search_knowledge))
}
