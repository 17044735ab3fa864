//! Derives of FlowSDK. `flowsdk-core` exports each beside the trait that it implements, and the code that they write
//! names that crate as `flowsdk_core`. A crate that derives needs no other dependency: serde and utoipa are reached
//! through `flowsdk-core`. It needs no feature either: schemas are written if `flowsdk-core` has the feature `schema`.

mod case;
mod fault;
mod id;
mod key;
mod named;
mod router_record;
mod schema;
mod text;
mod view;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `flowsdk_core::fault::Fault`, where every key is explained.
#[proc_macro_derive(Fault, attributes(fault))]
pub fn fault(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    fault::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Names the variants of an enum without fields, as serde does: it reads `#[serde(rename_all = "..")]` of the enum and
/// `#[serde(rename = "..")]` of its variants.
///
/// It writes `ALL`, `name`, `parse` and the trait `Named`. If `flowsdk-core` has the feature `schema`, it also writes a
/// schema, which has the name of the enum followed by `Name`. `#[named(schema = "..", description = "..")]` changes the
/// name of the schema and describes it. The rules of `rename_all` are `lowercase`, `UPPERCASE`, `snake_case`,
/// `SCREAMING_SNAKE_CASE` and `kebab-case`.
///
/// ```
/// use flowsdk_core::cell::Named;
/// use serde::{Deserialize, Serialize};
///
/// /// How urgent a ticket is.
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Named)]
/// #[serde(rename_all = "snake_case")]
/// pub enum Priority {
///     /// Before all others.
///     VeryHigh,
///     /// In the order of arrival.
///     Normal,
/// }
///
/// assert_eq!(Priority::VeryHigh.name(), "very_high");
/// assert_eq!(Priority::parse("normal"), Some(Priority::Normal));
/// assert_eq!(Priority::ALL.len(), 2);
/// ```
#[proc_macro_derive(Named, attributes(named, serde))]
pub fn named(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    named::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct around a text a type of its own: on the wire, in a column and in the document.
///
/// It writes `TextCell`, `Serialize`, `Deserialize`, `Display`, `FromStr` and the conversions from and into `String`. If
/// `flowsdk-core` has the feature `schema`, it also writes the schema of the type. Keys of `#[text(..)]`:
///
/// | Key | Value |
/// |---|---|
/// | `error` | the error of a text that does not fit: a unit struct. Required |
/// | `rule` | a function from `&str` to `bool`; writes `parse` and `as_str` |
/// | `normalize` | instead of `rule`, a function from `&str` to `Option<String>`, the text to keep |
/// | `schema` | the name of the schema, if it is not that of the type |
/// | `pattern`, `min_length`, `max_length`, `format`, `example`, `description` | keywords of the schema |
///
/// Without `rule` and `normalize` the type has `parse` and `as_str` of its own.
///
/// ```
/// use flowsdk_core::cell::TextType;
///
/// #[derive(Debug, thiserror::Error)]
/// #[error("must be digits")]
/// pub struct NotDigits;
///
/// fn is_digits(text: &str) -> bool {
///     !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
/// }
///
/// /// The number of an order.
/// #[derive(Debug, Clone, PartialEq, Eq, TextType)]
/// #[text(rule = is_digits, error = NotDigits, pattern = "^[0-9]+$", example = "1027")]
/// pub struct OrderNumber(String);
///
/// assert_eq!(OrderNumber::parse("1027")?.as_str(), "1027");
/// assert!("a".parse::<OrderNumber>().is_err());
/// # Ok::<(), NotDigits>(())
/// ```
#[proc_macro_derive(TextType, attributes(text))]
pub fn text_type(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    text::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct around an `Arc<str>` an identifier: a text type by the rule of all ids, with `generate`. All of them
/// have the schema `Id`.
///
/// ```
/// use std::sync::Arc;
///
/// use flowsdk_core::id::Id;
///
/// /// Identifier of a campaign.
/// #[derive(Debug, Clone, PartialEq, Eq, Hash, Id)]
/// pub struct CampaignId(Arc<str>);
///
/// assert!(CampaignId::parse("cmi7w0q2p00000qx1b3k9z5ra").is_ok());
/// assert!(CampaignId::parse("a b").is_err());
/// ```
#[proc_macro_derive(Id)]
pub fn id(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    id::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct a record of a router: writes `flowsdk_core::record::RouterRecord`, with `Recorded` for the log of changes
/// and `Searched` for its list. The struct has the fields `id`, `router_id`, `created_at` and `updated_at`.
///
/// | Key of `#[router_record(..)]` | Value |
/// |---|---|
/// | `kind` | the variant of `EntityKind` by which the log of changes names it. Required |
/// | `error` | the enum of the reasons why its use cases fail. Required |
/// | `search` | the field whose words are searched, or several: `search(label, key)`. They have `as_str`. Required |
/// | `filter` | the filter of its list; `Option<RouterId>`, if it is absent |
/// | `not_found` | the variant of the error where there is no such record; `NotFound`, if it is absent |
/// | `unique` | the variant where another record has its name or the like |
/// | `orphan` | the variant where a row that it refers to is gone |
/// | `view` | its public form, made by `View`; the struct is its own, if it is absent |
/// | `secrets` | a function that takes a reference and returns its secrets, as `Recorded::secrets` does |
/// | `may_be_deleted` | a function that takes a reference and checks it, as `RouterRecord::may_be_deleted` does |
///
/// Without `orphan` the row that is gone is the router. `orphan(queue_id = QueueUnknown)` takes it to be the queue if the
/// field `queue_id` has a value, and otherwise the router. Several such fields are asked in their order.
///
/// ```
/// use std::sync::Arc;
///
/// use flowsdk_core::change::{EntityKind, Recorded};
/// use flowsdk_core::fault::StorageError;
/// use flowsdk_core::id::{Id, RouterId};
/// use flowsdk_core::idempotency::IdempotencyConflict;
/// use flowsdk_core::page::Searched;
/// use flowsdk_core::record::RouterRecord;
/// use flowsdk_core::router::RouterUnknown;
/// use flowsdk_core::time::{Timestamp, as_iso};
/// use serde::Serialize;
///
/// /// Identifier of a tag.
/// #[derive(Clone, Id)]
/// pub struct TagId(Arc<str>);
///
/// /// The reason why a use case of tags fails.
/// #[derive(Debug, thiserror::Error)]
/// pub enum TagError {
///     #[error("no such tag")]
///     NotFound,
///     #[error("name taken")]
///     NameTaken,
///     #[error(transparent)]
///     RouterUnknown(#[from] RouterUnknown),
///     #[error(transparent)]
///     Idempotency(#[from] IdempotencyConflict),
///     #[error(transparent)]
///     Storage(#[from] StorageError),
/// }
///
/// /// A tag of a router.
/// #[derive(Clone, Serialize, RouterRecord)]
/// #[router_record(kind = Tag, error = TagError, search = name, unique = NameTaken)]
/// #[serde(rename_all = "camelCase")]
/// pub struct Tag {
///     id: TagId,
///     router_id: RouterId,
///     name: String,
///     #[serde(serialize_with = "as_iso")]
///     created_at: Timestamp,
///     #[serde(serialize_with = "as_iso")]
///     updated_at: Timestamp,
/// }
///
/// let now = Timestamp::from_millis(0);
/// let (id, router_id) = ("t1".parse()?, "r1".parse()?);
/// let tag = Tag { id, router_id, name: "VIP".to_owned(), created_at: now, updated_at: now };
/// assert_eq!(tag.search_text(), "VIP");
/// assert_eq!((tag.entity().kind, tag.entity().id), (EntityKind::Tag, "t1"));
/// assert_eq!(tag.to_json()["routerId"], "r1");
/// let taken = StorageError::Unique { constraint: "tags_name".to_owned() };
/// assert!(matches!(tag.not_stored(taken), TagError::NameTaken));
/// let gone = StorageError::Orphan { constraint: "tags_router".to_owned() };
/// assert!(matches!(tag.not_stored(gone), TagError::RouterUnknown(_)));
/// # Ok::<(), flowsdk_core::id::InvalidId>(())
/// ```
#[proc_macro_derive(RouterRecord, attributes(router_record))]
pub fn router_record(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    router_record::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Admits `#[schema(..)]` on a type and its fields, and does nothing else.
///
/// A type whose schema stands behind a feature derives `utoipa::ToSchema` under that feature only. With this derive
/// beside it the attributes need no `cfg_attr` of their own.
///
/// ```
/// use flowsdk_core::schema::SchemaAttributes;
/// use serde::Deserialize;
///
/// /// The order of a customer.
/// #[derive(Debug, Deserialize, SchemaAttributes)]
/// #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
/// #[schema(as = CreateOrder)]
/// pub struct NewOrder {
///     /// How many pieces.
///     #[schema(minimum = 1)]
///     pub pieces: u32,
/// }
/// ```
#[proc_macro_derive(SchemaAttributes, attributes(schema))]
pub fn schema_attributes(_input: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// Makes a struct the public form of an aggregate, which `#[view(of = ..)]` names: writes `From` of the aggregate and
/// `From` of a reference to it. The latter clones the fields that the view shows, and no others.
///
/// A field is the field of the same name, converted by `Into`. If its type is an `Option`, its content is converted.
/// `#[view(some = field)]` says whether that field has a value. `#[view(with = function)]` calls a function with a
/// reference to the aggregate. A field of the aggregate that the view does not name is not public.
///
/// ```
/// use flowsdk_core::change::View;
/// use flowsdk_core::time::{IsoTime, Timestamp};
/// use serde::Serialize;
///
/// struct Order {
///     number: u32,
///     items: Vec<String>,
///     card: Option<String>,
///     paid_at: Option<Timestamp>,
/// }
///
/// /// An order. Its card is never shown.
/// #[derive(Serialize, View)]
/// #[view(of = Order)]
/// struct OrderView {
///     number: u32,
///     #[view(with = count)]
///     items: usize,
///     #[view(some = card)]
///     has_card: bool,
///     paid_at: Option<IsoTime>,
/// }
///
/// fn count(order: &Order) -> usize {
///     order.items.len()
/// }
///
/// let paid_at = Some(Timestamp::from_millis(0));
/// let order = Order { number: 7, items: vec!["a".to_owned()], card: Some("4000".to_owned()), paid_at };
/// let view = OrderView::from(&order);
/// assert_eq!((view.number, view.items, view.has_card), (7, 1, true));
/// assert_eq!(OrderView::from(order).paid_at, paid_at.map(IsoTime));
/// ```
#[proc_macro_derive(View, attributes(view))]
pub fn view(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    view::derive(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
