//! Places on the map.

use serde::{Deserialize, Serialize};

/// The node of a location message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Location {
    /// Degrees to the north.
    pub latitude: f64,
    /// Degrees to the east.
    pub longitude: f64,
    /// The name of the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

impl Location {
    pub(super) fn texts_mut(&mut self) -> Vec<&mut String> {
        self.name.iter_mut().chain(self.address.as_mut()).collect()
    }
}
