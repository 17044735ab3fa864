use flowsdk_core::fault::Fault as _;
use flowsdk_core::id::RouterId;
use flowsdk_core::router::Admitted;

use super::*;
use crate::permission::Permission;

const ADMIN: Option<UserRole> = Some(UserRole::Admin);
const MEMBER: Option<UserRole> = Some(UserRole::Member);
const CLIENT: Option<UserRole> = None;

fn router(id: &str) -> RouterId {
    RouterId::parse(id).expect("an id")
}

fn grant(resource: Resource, actions: &[Action], routers: &[&str]) -> Grant {
    Grant {
        permissions: vec![Permission { resource, actions: actions.to_vec() }].into(),
        scope: RouterScope::of(routers.iter().map(|id| router(id)).collect()),
    }
}

#[test]
fn every_row_of_the_contract() {
    use Action::{Admin, Read, Write};
    use Resource::{Flows, Sessions, Settings, Users};
    let scoped = || RouterScope::Only(vec![router("r1")]);
    let none = || Grant::default();
    for (name, role, grant, resource, action, outcome) in [
        ("admin without a group", ADMIN, None, Flows, Write, Ok(RouterScope::All)),
        ("admin, group without the permission", ADMIN, Some(none()), Flows, Write, Ok(RouterScope::All)),
        (
            "admin, scoped group",
            ADMIN,
            Some(grant(Flows, &[Read], &["r1"])),
            Flows,
            Read,
            Ok(RouterScope::All),
        ),
        (
            "admin, scoped group, global",
            ADMIN,
            Some(grant(Users, &[Read], &["r1"])),
            Users,
            Admin,
            Ok(RouterScope::All),
        ),
        ("member without a group", MEMBER, None, Flows, Read, Err(Denied::NoGroup)),
        ("group without entries", MEMBER, Some(none()), Flows, Read, Err(Denied::Permission)),
        (
            "another resource",
            MEMBER,
            Some(grant(Sessions, &[Read], &[])),
            Flows,
            Read,
            Err(Denied::Permission),
        ),
        ("another action", MEMBER, Some(grant(Flows, &[Read], &[])), Flows, Write, Err(Denied::Permission)),
        (
            "admin action includes no other",
            MEMBER,
            Some(grant(Flows, &[Admin], &[])),
            Flows,
            Read,
            Err(Denied::Permission),
        ),
        ("entry without actions", MEMBER, Some(grant(Flows, &[], &[])), Flows, Read, Err(Denied::Permission)),
        ("granted", MEMBER, Some(grant(Flows, &[Read, Write], &[])), Flows, Write, Ok(RouterScope::All)),
        ("granted, scoped", MEMBER, Some(grant(Flows, &[Read], &["r1"])), Flows, Read, Ok(scoped())),
        ("global, unscoped", MEMBER, Some(grant(Users, &[Read], &[])), Users, Read, Ok(RouterScope::All)),
        ("users, scoped", MEMBER, Some(grant(Users, &[Read], &["r1"])), Users, Read, Err(Denied::Global)),
        (
            "settings, scoped",
            MEMBER,
            Some(grant(Settings, &[Write], &["r1"])),
            Settings,
            Write,
            Err(Denied::Global),
        ),
        ("users, scoped, not granted", MEMBER, Some(none()), Users, Read, Err(Denied::Permission)),
        ("API client, granted", CLIENT, Some(grant(Flows, &[Read], &[])), Flows, Read, Ok(RouterScope::All)),
        ("API client, scoped", CLIENT, Some(grant(Flows, &[Read], &["r1"])), Flows, Read, Ok(scoped())),
        ("API client, not granted", CLIENT, Some(none()), Flows, Read, Err(Denied::Permission)),
        (
            "API client, global",
            CLIENT,
            Some(grant(Users, &[Read], &["r1"])),
            Users,
            Read,
            Err(Denied::Global),
        ),
    ] {
        assert_eq!(require(role, grant.as_ref(), resource, action), outcome, "{name}");
    }
}

#[test]
fn only_two_resources_are_global() {
    for resource in Resource::ALL {
        let grant = grant(resource, &[Action::Read], &["r1"]);
        let global = matches!(resource, Resource::Users | Resource::Settings);
        assert_eq!(require(MEMBER, Some(&grant), resource, Action::Read).is_err(), global, "{resource:?}");
    }
}

#[test]
fn only_administrators_are_administrators() {
    assert_eq!(require_admin(ADMIN), Ok(()));
    assert_eq!(require_admin(MEMBER), Err(Denied::Admin));
    assert_eq!(require_admin(CLIENT), Err(Denied::Admin));
}

#[test]
fn a_scope_admits_its_routers_only() {
    let scope = RouterScope::of(vec![router("r1"), router("r2")]);
    assert_eq!(scope.admit(router("r2")).map(Admitted::into_inner), Ok(router("r2")));
    assert_eq!(scope.admit(router("r3")), Err(Denied::Router));
    assert_eq!(RouterScope::of(vec![]).admit(router("r3")).map(drop), Ok(()));
}

#[test]
fn a_group_confines_all_but_administrators() {
    let confined = grant(Resource::Flows, &[], &["r1"]);
    let only = [router("r1")];
    for (role, grant, routers) in [
        (MEMBER, None, Some(&[][..])),
        (CLIENT, None, Some(&[][..])),
        (ADMIN, None, None),
        (MEMBER, Some(&confined), Some(&only[..])),
        (CLIENT, Some(&confined), Some(&only[..])),
        (ADMIN, Some(&confined), None),
    ] {
        assert_eq!(reach(role, grant).routers(), routers);
    }
}

#[test]
fn codes_and_texts_are_the_contracts() {
    for (denied, code, text) in [
        (Denied::NoGroup, "permission_denied", "Sem permissão"),
        (Denied::Permission, "permission_denied", "Sem permissão"),
        (Denied::Admin, "admin_only", "Acesso restrito a administradores"),
        (Denied::Global, "resource_global", "Recurso global fora do escopo"),
        (Denied::Router, "router_out_of_scope", "Roteador fora do escopo"),
        (Denied::UserOnly, "user_only", "Acesso restrito a usuários"),
    ] {
        assert_eq!((denied.code(), denied.text().portuguese()), (code, text));
    }
}
