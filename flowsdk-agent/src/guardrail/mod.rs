//! Guardrails: what an agent must not do, as its model is told (spec B 2.5), and rules that are enforced whatever the model
//! writes. Of [personal data](PersonalData) that it is not to know it is told placeholders.

mod enforced;
mod links;
mod masking;
mod model;
mod personal;
mod rules;

use crate::part::AgentParts;

pub use enforced::{EnforcedRules, KnownRules, Violation};
pub use masking::Masking;
pub use model::{Guardrail, GuardrailChange, GuardrailId, NewGuardrail};
pub use personal::PersonalData;
pub use rules::GuardrailRules;

/// The use cases of guardrails.
pub type Guardrails<S> = AgentParts<S, Guardrail>;
