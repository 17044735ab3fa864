//! The budget.

use std::sync::Arc;

use flowsdk_core::id::{Id, IdSource, RouterId};
use flowsdk_core::record::{NewRecord, RecordChange, RouterRecord};
use flowsdk_core::router::{Reach, Reachable};
use flowsdk_core::schema::SchemaAttributes;
#[cfg(feature = "schema")]
use flowsdk_core::time::IsoTime;
use flowsdk_core::time::{Timestamp, as_iso};
use serde::{Deserialize, Serialize};

use super::BudgetError;
use crate::money::Money;

/// Identifier of a budget.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Id)]
pub struct BudgetId(Arc<str>);

/// What the models of a router may cost in a month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, RouterRecord, SchemaAttributes)]
#[router_record(kind = AiBudget, error = BudgetError, search = router_id, unique = Taken)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiBudgetRecord)]
pub struct Budget {
    /// The id of the budget.
    pub id: BudgetId,
    /// The router whose agents it is for. It never changes, and has no other budget.
    pub router_id: RouterId,
    /// What models may cost in a month of the calendar in UTC, in the currency of the router's prices.
    #[schema(value_type = f64, example = 200)]
    pub monthly_amount: Money,
    /// Whether turns are refused when it is used up.
    pub is_active: bool,
    /// When it was created.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub created_at: Timestamp,
    /// When it was last changed.
    #[serde(serialize_with = "as_iso")]
    #[schema(value_type = IsoTime)]
    pub updated_at: Timestamp,
}

/// A budget, and what is spent of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, SchemaAttributes)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = AiBudget)]
pub struct BudgetView {
    /// The budget.
    #[serde(flatten)]
    pub budget: Budget,
    /// What models have cost in this month, as it was counted some seconds ago.
    #[schema(value_type = f64, example = 12.5)]
    pub spent: Money,
}

/// A budget that is active, with what is known of its month.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetInForce {
    /// The id of the budget.
    pub id: BudgetId,
    /// The router.
    pub router_id: RouterId,
    /// What may be spent.
    pub monthly_amount: Money,
    /// What is spent.
    pub spent: Money,
    /// The month, as `2026-11`, of which it was warned last.
    pub warned_of: Option<String>,
}

impl BudgetInForce {
    /// Returns whether nothing is left.
    pub fn is_used_up(&self) -> bool {
        self.spent >= self.monthly_amount
    }

    /// Returns whether four fifths are spent.
    pub fn is_nearly_used_up(&self) -> bool {
        let (spent, amount) =
            (i128::from(self.spent.as_micros()), i128::from(self.monthly_amount.as_micros()));
        spent * 5 >= amount * 4
    }

    /// Returns the part that is spent: 1 is all of it.
    pub fn used(&self) -> f64 {
        if self.monthly_amount == Money::ZERO {
            1.0
        } else {
            self.spent.as_units() / self.monthly_amount.as_units()
        }
    }
}

/// A new budget.
#[derive(Debug, Clone, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = CreateAiBudget)]
pub struct NewBudget {
    /// The router whose agents it is for. It cannot be changed later.
    pub router_id: RouterId,
    /// What models may cost in a month of the calendar in UTC, in the currency of the router's prices; at most six decimals.
    #[schema(value_type = f64, minimum = 0, maximum = 1_000_000_000, example = 200)]
    pub monthly_amount: Money,
    /// Whether turns are refused when it is used up.
    #[serde(default = "flowsdk_core::default::yes")]
    #[schema(required = false)]
    pub is_active: bool,
}

impl Reachable for NewBudget {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.router_id.is_within(reach)
    }
}

impl NewRecord for NewBudget {
    type Record = Budget;

    fn into_record(self, ids: &dyn IdSource, now: Timestamp) -> Budget {
        Budget {
            id: BudgetId::generate(ids),
            router_id: self.router_id,
            monthly_amount: self.monthly_amount,
            is_active: self.is_active,
            created_at: now,
            updated_at: now,
        }
    }
}

/// The changes to make to a budget; an absent field stays.
#[derive(Debug, Clone, Default, Deserialize, SchemaAttributes)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[schema(as = PatchAiBudget)]
pub struct BudgetChange {
    /// What models may cost in a month of the calendar in UTC, in the currency of the router's prices; at most six decimals.
    #[schema(value_type = f64, required = false, minimum = 0, maximum = 1_000_000_000)]
    pub monthly_amount: Option<Money>,
    /// Whether turns are refused when it is used up.
    #[schema(value_type = bool, required = false)]
    pub is_active: Option<bool>,
}

impl RecordChange for BudgetChange {
    type Record = Budget;

    fn apply(self, budget: Budget) -> Budget {
        Budget {
            monthly_amount: self.monthly_amount.unwrap_or(budget.monthly_amount),
            is_active: self.is_active.unwrap_or(budget.is_active),
            ..budget
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_fifths_are_nearly_all() {
        for (amount, spent, is_nearly, is_used_up) in [
            (100, 79, false, false),
            (100, 80, true, false),
            (100, 99, true, false),
            (100, 100, true, true),
            (100, 250, true, true),
            (0, 0, true, true),
            (i64::MAX, i64::MAX, true, true),
        ] {
            let budget = BudgetInForce {
                id: "b".parse().expect("an id"),
                router_id: "r".parse().expect("an id"),
                monthly_amount: Money::from_micros(amount),
                spent: Money::from_micros(spent),
                warned_of: None,
            };
            let found = (budget.is_nearly_used_up(), budget.is_used_up());
            assert_eq!(found, (is_nearly, is_used_up), "{spent} of {amount}");
            assert_eq!(budget.used() >= 1.0, is_used_up, "{spent} of {amount}");
        }
    }
}
