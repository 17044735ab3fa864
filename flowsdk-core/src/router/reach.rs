//! The routers whose records a caller may access, and the proof that this was checked.

use std::ops::Deref;

use super::VariableOwner;
use crate::id::RouterId;

/// The routers within a caller's reach: all of them, or these only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reach<'a>(Option<&'a [RouterId]>);

/// A router, or a command that names one, is out of the caller's reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("router out of reach")]
pub struct OutOfReach;

impl<'a> Reach<'a> {
    /// Every router: the reach of code that acts for nobody in particular.
    pub const ALL: Self = Self(None);

    /// Returns a reach of these routers only.
    pub fn only(routers: &'a [RouterId]) -> Self {
        Self(Some(routers))
    }

    /// Returns the routers, if there is a restriction.
    pub fn routers(self) -> Option<&'a [RouterId]> {
        self.0
    }

    /// Returns the router of a caller who is confined to one.
    pub fn only_router(self) -> Option<&'a RouterId> {
        match self.0 {
            Some([router]) => Some(router),
            _ => None,
        }
    }

    /// Returns whether every router is within reach.
    pub fn is_all(self) -> bool {
        self.0.is_none()
    }

    /// Returns whether records of `router` are within reach.
    pub fn contains(self, router: &RouterId) -> bool {
        self.0.is_none_or(|only| only.contains(router))
    }

    /// Returns whether records of `router` are within reach. A record without a router is visible only to callers
    /// without a restriction.
    pub fn contains_record(self, router: Option<&RouterId>) -> bool {
        router.map_or(self.is_all(), |router| self.contains(router))
    }

    /// Returns the proof that `it` names nothing out of reach.
    ///
    /// # Errors
    /// [`OutOfReach`].
    pub fn admit<T: Reachable>(self, it: T) -> Result<Admitted<T>, OutOfReach> {
        if it.is_within(self) { Ok(Admitted(it)) } else { Err(OutOfReach) }
    }

    /// Returns a reach of `router` only, if it is given and within this one; none if it is beyond; else this one.
    pub fn narrowed(self, router: Option<&'a AdmittedRouter>) -> Self {
        match router {
            Some(router) if self.contains(router) => Self::only(std::slice::from_ref(router.id())),
            Some(_) => Self::only(&[]),
            None => self,
        }
    }
}

/// A value that says whose records it is about: a router's id, a command, a filter of a list.
pub trait Reachable {
    /// Returns whether these records are within `reach`, as far as the value itself tells.
    fn is_within(&self, reach: Reach<'_>) -> bool;
}

impl Reachable for RouterId {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        reach.contains(self)
    }
}

/// The optional router of a filter: without one, a list shows what is within reach.
impl Reachable for Option<RouterId> {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        self.as_ref().is_none_or(|router| reach.contains(router))
    }
}

/// The router of a flow is looked up by the service.
impl Reachable for VariableOwner {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        match self {
            Self::Router(router) => reach.contains(router),
            Self::Flow(_) => true,
        }
    }
}

/// Every router, also those to come. A caller who is confined to some may not create one: it would be out of reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllRouters;

impl Reachable for AllRouters {
    fn is_within(&self, reach: Reach<'_>) -> bool {
        reach.is_all()
    }
}

/// A value that was checked against the reach of its caller. [`Reach::admit`] makes it, and services require it, so a
/// use case cannot be called without the check:
///
/// ```
/// use flowsdk_core::admin::chat::Chats;
/// use flowsdk_core::chat::{Chat, ChatFilter, HasChatCatalog};
/// use flowsdk_core::fault::BoxError;
/// use flowsdk_core::media::HasMedia;
/// use flowsdk_core::message::HasMessages;
/// use flowsdk_core::page::{Page, PageRequest};
/// use flowsdk_core::router::Reach;
/// use flowsdk_core::store::Store;
///
/// async fn list<S: Store<Tx: HasChatCatalog + HasMessages + HasMedia>>(
///     chats: &Chats<S>,
///     reach: Reach<'_>,
///     filter: ChatFilter,
///     page: &PageRequest,
/// ) -> Result<Page<Chat>, BoxError> {
///     let filter = reach.admit(filter)?;
///     Ok(chats.list(reach, &filter, page).await?)
/// }
/// ```
///
/// ```compile_fail,E0308
/// # use flowsdk_core::admin::chat::Chats;
/// # use flowsdk_core::chat::{Chat, ChatFilter, HasChatCatalog};
/// # use flowsdk_core::fault::BoxError;
/// # use flowsdk_core::media::HasMedia;
/// # use flowsdk_core::message::HasMessages;
/// # use flowsdk_core::page::{Page, PageRequest};
/// # use flowsdk_core::router::Reach;
/// # use flowsdk_core::store::Store;
/// #
/// # async fn list<S: Store<Tx: HasChatCatalog + HasMessages + HasMedia>>(
/// #     chats: &Chats<S>,
/// #     reach: Reach<'_>,
/// #     filter: ChatFilter,
/// #     page: &PageRequest,
/// # ) -> Result<Page<Chat>, BoxError> {
/// Ok(chats.list(reach, &filter, page).await?) // not admitted
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admitted<T>(T);

/// A router within the caller's reach.
pub type AdmittedRouter = Admitted<RouterId>;

impl<T> Admitted<T> {
    /// Creates the proof without a check, for code that acts for nobody in particular: seeds, examples, programs with
    /// an authorisation of their own.
    pub fn trusted(it: T) -> Self {
        Self(it)
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl AdmittedRouter {
    /// Returns the id of the router.
    pub fn id(&self) -> &RouterId {
        &self.0
    }
}

impl<T> Deref for Admitted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::FlowId;

    fn router(id: &str) -> RouterId {
        RouterId::parse(id).expect("an id")
    }

    #[test]
    fn a_value_is_admitted_by_the_routers_that_it_names() {
        let only = [router("r1"), router("r2")];
        let flow = VariableOwner::Flow(FlowId::parse("f1").expect("an id"));
        for (reach, of_r1, of_r3, all) in [
            (Reach::ALL, true, true, true),
            (Reach::only(&only), true, false, false),
            (Reach::only(&[]), false, false, false),
        ] {
            assert_eq!(reach.admit(router("r1")).is_ok(), of_r1);
            assert_eq!(reach.admit(router("r3")).is_ok(), of_r3);
            assert_eq!(reach.admit(Some(router("r3"))).is_ok(), of_r3);
            assert_eq!(reach.admit(VariableOwner::Router(router("r3"))).is_ok(), of_r3);
            assert_eq!(reach.admit(AllRouters).is_ok(), all);
            assert_eq!(reach.contains_record(Some(&router("r3"))), of_r3);
            assert_eq!(reach.contains_record(None), all);
            assert!(reach.admit(None::<RouterId>).is_ok());
            assert!(reach.admit(flow.clone()).is_ok());
        }
    }

    #[test]
    fn a_reach_narrows_to_an_admitted_router() {
        let admitted = Reach::ALL.admit(router("r1")).expect("admitted");
        assert_eq!(Reach::ALL.narrowed(Some(&admitted)).routers(), Some(&[router("r1")][..]));
        assert_eq!(Reach::ALL.narrowed(None), Reach::ALL);
        let only = [router("r2")];
        let of_another_reach = Reach::only(&only).narrowed(Some(&admitted));
        assert_eq!(of_another_reach.routers(), Some(&[][..]), "a proof of another reach widens nothing");
    }
}
