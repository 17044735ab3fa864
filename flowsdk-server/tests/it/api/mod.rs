//! The administrative API (spec A 4.1, 4.2, 4.10, 5, 6, 7).

mod accounts;
mod attacks;
mod audit;
mod authentication;
mod building;
mod channel_numbers;
mod client;
mod conventions;
mod document;
mod flows;
mod fuzz;
mod immediate;
mod integrations;
mod llm_credentials;
mod login;
mod observability;
mod recovery;
mod routers;
mod templates;
mod transfer;
mod variables;
mod webchat_channels;
