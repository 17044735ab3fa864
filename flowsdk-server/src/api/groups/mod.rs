//! `/groups`. Reading asks for `users:read`. Writing is for administrators: whoever may write a group could grant
//! himself everything.

mod view;

pub(super) use view::GroupView;
