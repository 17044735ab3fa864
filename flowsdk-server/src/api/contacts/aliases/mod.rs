//! `/contacts/{contactId}/aliases` (rulings C5).

pub(super) mod create;
pub(super) mod delete;
pub(super) mod list;
