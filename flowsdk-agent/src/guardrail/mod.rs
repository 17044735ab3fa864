//! Guardrails: what an agent must not do, as its model is told (spec B 2.5).

mod model;

use crate::part::AgentParts;

pub use model::{Guardrail, GuardrailChange, GuardrailId, NewGuardrail};

/// The use cases of guardrails.
pub type Guardrails<S> = AgentParts<S, Guardrail>;
