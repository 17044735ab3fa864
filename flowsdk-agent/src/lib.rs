//! AI agents: they have a conversation where language is needed, and work with tools.
//!
//! Nothing here names SQL. [`agent`] has the agents of routers, beside which stand their [system prompts](prompt),
//! [guardrails](guardrail) and [routes](route). [`model`] has the ports of model providers; [`openai`] speaks to OpenAI and to
//! servers like it; [`scripted`] answers by rules, without a network. What a model said is [`recorded`], and said
//! again. A [`set`] has agents with all that they need. [`tool`] has the tools of an agent, [`turn`] the course
//! of a turn. What is said to agents waits in the [`inbox`]; the [`executor`] runs their turns, by what [`configuration`]
//! reads, and writes each step into the [`ledger`]. [`knowledge`] has the documents that agents search. Of what is over a
//! [`summary`] is written. How a contact feels is judged on demand, too ([`sentiment`]). What their models used is counted as [`usage`], with the [prices](price) of routers, and limited
//! by their [budgets](budget).

pub mod agent;
pub mod budget;
pub mod configuration;
pub mod executor;
pub mod guardrail;
pub mod inbox;
pub mod knowledge;
pub mod ledger;
pub mod model;
pub mod money;
pub mod openai;
pub mod part;
pub mod price;
pub mod prompt;
pub mod recorded;
pub mod route;
pub mod scripted;
pub mod sentiment;
pub mod set;
pub mod summary;
pub mod tool;
pub mod turn;
pub mod usage;

/// Compiles the samples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
