//! The administrative API (spec A 4.1, 4.2, 4.10, 5, 6, 7).

mod accounts;
mod attacks;
mod audit;
mod authentication;
mod building;
mod chats;
mod client;
mod contacts;
mod conventions;
mod document;
mod flows;
mod fuzz;
mod immediate;
mod login;
mod opt_ins;
mod recovery;
mod routers;
mod sessions;
mod test_channel;
mod transfer;
mod variables;
mod webchat_channels;
