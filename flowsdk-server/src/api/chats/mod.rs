//! `/chats` (rulings H8), and `/messages` (spec A 2.5).

mod get;
mod list;
mod message;
mod messages;
mod view;

use super::routes::{Routes, endpoint};

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .tag("chats", "Chats and their messages")
        .add(endpoint!(list::list_chats))
        .add(endpoint!(get::get_chat))
        .add(endpoint!(messages::list_chat_messages))
        .add(endpoint!(message::get_message))
}
