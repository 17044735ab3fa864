//! JSON pointers (RFC 6901).

/// Returns the pointer of the field `name` of the object at `object`.
pub(in crate::flow) fn field(object: &str, name: &str) -> String {
    format!("{object}/{}", name.replace('~', "~0").replace('/', "~1"))
}
