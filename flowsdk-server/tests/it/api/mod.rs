//! The administrative API (spec A 4.1, 4.2, 4.10, 5, 6, 7).

mod accounts;
mod attacks;
mod audit;
mod authentication;
mod building;
mod client;
mod conventions;
mod document;
mod flows;
mod fuzz;
mod hostile;
mod immediate;
mod login;
mod recovery;
mod routers;
mod tokens;
mod transfer;
mod variables;
mod webchat_channels;
