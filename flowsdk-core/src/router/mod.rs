//! Routers: the root aggregate (spec A 2.2).

mod catalog;
mod fallback;
mod model;
mod phone;
mod reach;
mod repository;
mod time_zone;
mod view;

pub use catalog::{HasRouterCatalog, RouterCatalog};
pub use fallback::{Fallback, FallbackTexts, Wording};
pub use model::{DEFAULT_TZ, Router, StaticVariable, StaticVariables, VariableOwner};
pub use phone::PhoneOptions;
pub use reach::{Admitted, AdmittedRouter, AllRouters, OutOfReach, Reach, Reachable};
pub use repository::{HasRouters, Route, RouterRepository, RouterUnknown, router_gone};
pub use time_zone::{InvalidTimeZone, TimeZoneName};
pub use view::RouterView;
