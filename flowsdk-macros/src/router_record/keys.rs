//! The keys of `#[router_record(..)]`.

use syn::meta::ParseNestedMeta;
use syn::{DeriveInput, Error, Ident, Path, Result, Token, Type};

use crate::key::set;

/// Everything that the attribute says.
pub(super) struct Keys {
    pub(super) kind: Ident,
    pub(super) error: Path,
    /// The fields whose words are searched.
    pub(super) search: Vec<Ident>,
    pub(super) filter: Option<Type>,
    pub(super) not_found: Option<Ident>,
    pub(super) unique: Option<Ident>,
    pub(super) orphan: Vec<Orphan>,
    pub(super) view: Option<Path>,
    pub(super) secrets: Option<Path>,
    pub(super) may_be_deleted: Option<Path>,
}

/// A case in which a row is gone that the record refers to.
pub(super) struct Orphan {
    /// The field that has a value in this case; `None` is every case.
    pub(super) field: Option<Ident>,
    /// The variant of the error.
    pub(super) variant: Ident,
}

impl Keys {
    /// Reads the attribute.
    ///
    /// # Errors
    /// It is not understood, names a key twice, or lacks one.
    pub(super) fn of(input: &DeriveInput) -> Result<Self> {
        let (mut kind, mut error, mut search, mut orphan) = (None, None, None, None);
        let (mut filter, mut not_found, mut unique) = (None, None, None);
        let (mut view, mut secrets, mut may_be_deleted) = (None, None, None);
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("router_record")) {
            attribute.parse_nested_meta(|meta| {
                let key = meta.path.require_ident()?;
                match key.to_string().as_str() {
                    "kind" => set(&mut kind, key, meta.value()?.parse()?),
                    "error" => set(&mut error, key, meta.value()?.parse()?),
                    "search" => set(&mut search, key, fields(&meta)?),
                    "filter" => set(&mut filter, key, meta.value()?.parse()?),
                    "not_found" => set(&mut not_found, key, meta.value()?.parse()?),
                    "unique" => set(&mut unique, key, meta.value()?.parse()?),
                    "orphan" => set(&mut orphan, key, orphans(&meta)?),
                    "view" => set(&mut view, key, meta.value()?.parse()?),
                    "secrets" => set(&mut secrets, key, meta.value()?.parse()?),
                    "may_be_deleted" => set(&mut may_be_deleted, key, meta.value()?.parse()?),
                    _ => Err(meta.error(format!(
                        "unknown key `{key}`: expected kind, error, search, filter, not_found, unique, orphan, view, \
                         secrets or may_be_deleted"
                    ))),
                }
            })?;
        }
        let missing = |key: &str| {
            let ident = &input.ident;
            Error::new_spanned(ident, format!("{ident} needs #[router_record({key} = ..)]"))
        };
        Ok(Self {
            kind: kind.ok_or_else(|| missing("kind"))?,
            error: error.ok_or_else(|| missing("error"))?,
            search: search.ok_or_else(|| missing("search"))?,
            filter,
            not_found,
            unique,
            orphan: orphan.unwrap_or_default(),
            view,
            secrets,
            may_be_deleted,
        })
    }

    /// Returns every field that the attribute names.
    pub(super) fn fields(&self) -> impl Iterator<Item = &Ident> {
        self.search.iter().chain(self.orphan.iter().filter_map(|orphan| orphan.field.as_ref()))
    }
}

/// Reads `search = field` or `search(field, ..)`.
fn fields(meta: &ParseNestedMeta<'_>) -> Result<Vec<Ident>> {
    if meta.input.peek(Token![=]) {
        return Ok(vec![meta.value()?.parse()?]);
    }
    listed(meta, |field| field.path.require_ident().cloned())
}

/// Reads `orphan = Variant` or `orphan(field = Variant, ..)`.
fn orphans(meta: &ParseNestedMeta<'_>) -> Result<Vec<Orphan>> {
    if meta.input.peek(Token![=]) {
        return Ok(vec![Orphan { field: None, variant: meta.value()?.parse()? }]);
    }
    listed(meta, |field| {
        Ok(Orphan { field: Some(field.path.require_ident()?.clone()), variant: field.value()?.parse()? })
    })
}

/// Reads a list in parentheses.
fn listed<T>(meta: &ParseNestedMeta<'_>, read: impl Fn(&ParseNestedMeta<'_>) -> Result<T>) -> Result<Vec<T>> {
    let mut list = Vec::new();
    meta.parse_nested_meta(|item| {
        list.push(read(&item)?);
        Ok(())
    })?;
    Ok(list)
}
