//! JSON pointers (RFC 6901).

/// Returns the pointer of the field `name` of the object at `object`.
pub(in crate::flow) fn field(object: &str, name: &str) -> String {
    let mut pointer = object.to_owned();
    push_field(&mut pointer, name);
    pointer
}

/// Makes the pointer of an object the one of its field `name`.
pub(in crate::flow) fn push_field(object: &mut String, name: &str) {
    object.push('/');
    object.push_str(&name.replace('~', "~0").replace('/', "~1"));
}
