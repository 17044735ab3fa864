//! The variables of a file: those of its router and of its flows.

use std::collections::HashMap;

use secrecy::SecretString;

use super::Import;
use crate::change::Change;
use crate::fault::StorageError;
use crate::id::VariableId;
use crate::page::{MAX_PAGE, PageRequest};
use crate::router::VariableOwner;
use crate::store::Store;
use crate::text::Text;
use crate::transfer::plan::OnConflict;
use crate::transfer::{
    ImportedVariable, Landed, Missing, TransferError, TransferTx, TransferredVariable, Transfers,
};
use crate::variable::{HasVariables as _, Variable, VariableKey, VariableValue};

impl<S: Store> Transfers<S>
where
    S::Tx: TransferTx,
{
    pub(super) async fn router_variables(
        &self,
        import: &mut Import<'_, S::Tx>,
        sent: &[TransferredVariable],
        on_conflict: OnConflict,
    ) -> Result<(), TransferError> {
        let owner = VariableOwner::Router(import.router.clone());
        let landed = self.variables(import, &owner, sent, on_conflict, "").await?;
        import.report.variables = landed;
        Ok(())
    }

    /// Imports the variables of one owner. A key cannot be another one, so with `Rename` an existing variable
    /// stays; the value of an existing secret always does.
    pub(super) async fn variables(
        &self,
        import: &mut Import<'_, S::Tx>,
        owner: &VariableOwner,
        sent: &[TransferredVariable],
        on_conflict: OnConflict,
        place: &str,
    ) -> Result<Vec<ImportedVariable>, TransferError> {
        if sent.is_empty() {
            return Ok(Vec::new());
        }
        let stored = variables_of(import.tx, owner).await?;
        let (mut done, mut conflicts) = (Vec::with_capacity(sent.len()), Vec::new());
        for (index, variable) in sent.iter().enumerate() {
            let dot = if place.is_empty() { "" } else { "." };
            let at = format!("{place}{dot}variables[{index}]");
            let known = stored.get(variable.key.as_str());
            let landed = match (known, on_conflict) {
                (None, _) => Landed::Created,
                (Some(_), OnConflict::Refuse) => {
                    let key = variable.key.clone();
                    conflicts.push((format!("{at}.key"), Text::of(key.clone(), key)));
                    continue;
                }
                (Some(known), OnConflict::Replace) if !known.value.is_secret() && !variable.is_secret => {
                    Landed::Replaced
                }
                (Some(_), _) => Landed::Kept,
            };
            let id = match known.filter(|_| landed == Landed::Kept) {
                Some(kept) => kept.id.clone(),
                None => self.put_variable(import, owner, variable, known).await?,
            };
            // A secret arrives empty, and one that was there may still be.
            let empty = match known.filter(|_| landed == Landed::Kept) {
                Some(kept) => kept.value.is_blank_secret(&self.master_key),
                None => variable.is_secret,
            };
            if empty {
                let name = Some(variable.key.clone());
                let id = id.to_string();
                import.report.missing.push(Missing { kind: "secretVariable", place: at, name, id });
            }
            done.push(ImportedVariable { key: variable.key.clone(), landed });
        }
        conflicts.truncate(100);
        if conflicts.is_empty() { Ok(done) } else { Err(TransferError::NameTaken(conflicts)) }
    }

    async fn put_variable(
        &self,
        import: &mut Import<'_, S::Tx>,
        owner: &VariableOwner,
        variable: &TransferredVariable,
        known: Option<&Variable>,
    ) -> Result<VariableId, StorageError> {
        let sent = SecretString::from(variable.value.clone().unwrap_or_default());
        let value = VariableValue::of(&sent, variable.is_secret, &self.master_key);
        let now = import.now;
        let (stored, change) = match known {
            Some(known) => {
                let stored = Variable { value, updated_at: now, ..known.clone() };
                import.tx.variables().save(&stored).await?;
                let change = stored.change_from(known);
                (stored, change)
            }
            None => {
                let key = VariableKey::parse(&variable.key).map_err(|error| StorageError::Corrupt {
                    entity: "variable",
                    reason: error.to_string(),
                })?;
                let id = VariableId::generate(self.cx.ids());
                let owner = owner.clone();
                let stored = Variable { id, owner, key, value, created_at: now, updated_at: now };
                import.tx.variables().insert_if_absent(&stored).await?;
                let change = Change::Created(stored.to_json());
                (stored, change)
            }
        };
        import.note(owner.variable_kind(), stored.id.to_string(), change);
        Ok(stored.id)
    }
}

/// The variables of an owner, by their keys.
pub(in crate::transfer) async fn variables_of<X: TransferTx>(
    tx: &mut X,
    owner: &VariableOwner,
) -> Result<HashMap<String, Variable>, StorageError> {
    let mut request = PageRequest { limit: MAX_PAGE, after: None };
    let mut found = HashMap::new();
    loop {
        let page = tx.variables().list(owner, &request).await?;
        found.extend(page.items.into_iter().map(|variable| (variable.key.to_string(), variable)));
        match page.next {
            Some(next) => request.after = Some(next),
            None => return Ok(found),
        }
    }
}
