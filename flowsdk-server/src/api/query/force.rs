//! `?force=true` (rulings S13).

use utoipa::IntoParams;

use super::{FromQuery, QueryReader};
use crate::api::error::ApiError;
use crate::api::guard::Caller;

/// Whether dependants go too.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "the document is made of it")]
pub struct ForceParams {
    /// Ends and detaches everything that depends on it, in one transaction; for administrators.
    #[param(required = false)]
    force: bool,
}

/// Whether dependants are to go too.
#[derive(Debug, Clone, Copy)]
pub struct Force(bool);

impl Force {
    /// The wish, if it is one of an administrator or none.
    ///
    /// # Errors
    /// 403 `admin_only`.
    pub fn of(self, caller: &Caller) -> Result<bool, ApiError> {
        if self.0 {
            caller.authenticated().require_admin()?;
        }
        Ok(self.0)
    }
}

impl FromQuery for Force {
    fn read(query: &mut QueryReader) -> Self {
        Self(query.flag("force"))
    }
}
