//! Values of fields that are left out, for `#[serde(default = "…")]`.

/// Returns `true`, of which serde has no path.
pub const fn yes() -> bool {
    true
}
