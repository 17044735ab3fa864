//! Looking through a file before any transaction: its parts, and the scripts of what it publishes.

use super::plan::{MOST, check_file, finding};
use super::{TransferError, TransferFile, Transfers};
use crate::aside::aside;
use crate::fault::StorageError;
use crate::flow::{PlacedScript, scripts_of};

impl<S> Transfers<S> {
    /// Returns the file and whether it can be imported, as [`check_file`] says. It works where no other task waits for
    /// it: a file may be large.
    ///
    /// # Errors
    /// Nobody could parse the scripts now.
    pub(in crate::transfer) async fn look_through(
        &self,
        file: TransferFile,
    ) -> Result<(TransferFile, Result<(), TransferError>), StorageError> {
        let (checked, scripts, file) = aside(move || (check_file(&file), scripts(&file), file)).await?;
        let mut findings = match checked {
            Ok(()) => Vec::new(),
            Err(TransferError::Invalid(findings)) => findings,
            Err(other) => return Ok((file, Err(other))),
        };
        for problem in self.checker.script_problems(&scripts).await? {
            findings.push(finding("", &problem));
        }
        findings.truncate(MOST);
        let checked = if findings.is_empty() { Ok(()) } else { Err(TransferError::Invalid(findings)) };
        Ok((file, checked))
    }
}

/// Returns the scripts of the definitions that the file publishes, with their places in the file.
fn scripts(file: &TransferFile) -> Vec<PlacedScript> {
    let mut found = Vec::new();
    for (index, flow) in file.flows.iter().enumerate() {
        let scripts = flow.published.as_ref().map(scripts_of).unwrap_or_default();
        let placed = scripts.into_iter().map(|placed| PlacedScript {
            pointer: format!("flows[{index}].published{}", placed.pointer),
            ..placed
        });
        found.extend(placed);
    }
    found
}
