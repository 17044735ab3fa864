//! The use cases of the administrative API over the models of conversations (spec A 2 to 4).
//!
//! A service here is given the caller's reach with each command, acts in one transaction and notes the change. The
//! models and repositories it works with stand in the module of their noun, for instance [`crate::contact`], and know
//! nothing of it.

pub mod chat;
pub mod contact;
pub mod flow;
pub mod router;
pub mod session;
pub mod variable;
