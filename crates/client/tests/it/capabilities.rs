//! The table of what came with which version.

use std::collections::BTreeSet;

use countersign::cli::{Capability, CapabilityKind, Version};
use countersign::protocol::hook::HookEvent;
use countersign::protocol::permission::PermissionMode;

/// The source of a type whose members have to be in the table.
fn names_in(source: &str, begins: &str, between: [&str; 2]) -> BTreeSet<String> {
    let part = source.split_once(begins).unwrap().1;
    let lines = part.lines().skip(1).take_while(|line| !line.starts_with('}') && *line != "    }");
    let names = lines.filter_map(|line| {
        let name = line.trim().split_once(between[0])?.1.split_once(between[1])?.0;
        Some(name.to_owned())
    });
    names.collect()
}

#[test]
fn every_request_of_the_protocol_is_in_the_table() {
    let source = include_str!("../../../protocol/src/request/mod.rs");
    let lines = source.split_once("\nclient_requests! {").unwrap().1.lines();
    let subtypes: Vec<_> = lines
        .filter_map(|line| line.strip_prefix("    \"")?.split_once("\":"))
        .map(|(subtype, _)| subtype)
        .collect();
    assert!(subtypes.len() > 50, "{subtypes:?}");
    for subtype in subtypes {
        // No tested version answers it over standard input and output.
        let expected = subtype != "set_color";
        assert_eq!(Capability::request(subtype).is_some(), expected, "{subtype}");
    }
}

#[test]
fn every_hook_event_of_the_protocol_is_in_the_table() {
    let source = include_str!("../../../protocol/src/hook/event.rs");
    let events = names_in(source, "HookEvent {", ["= \"", "\""]);
    assert!(events.len() > 30, "{events:?}");
    for event in events {
        assert!(Capability::hook_event(&HookEvent::from(&*event)).is_some(), "{event}");
    }
}

#[test]
fn every_permission_mode_of_the_protocol_is_in_the_table() {
    let source = include_str!("../../../protocol/src/permission.rs");
    let modes = names_in(source, "PermissionMode {", ["= \"", "\""]);
    assert_eq!(modes.len(), 7, "{modes:?}");
    for mode in modes {
        assert!(Capability::permission_mode(&PermissionMode::from(&*mode)).is_some(), "{mode}");
    }
}

#[test]
fn every_field_of_initialize_is_in_the_table() {
    let source = include_str!("../../../protocol/src/request/initialize.rs");
    let fields = names_in(source, "pub struct Initialize {", ["pub ", ":"]);
    assert!(fields.len() > 20, "{fields:?}");
    for field in fields.iter().filter(|field| *field != "extra") {
        let mut words = field.split('_');
        let mut name = words.next().unwrap().to_owned();
        for word in words {
            name.push_str(&word[..1].to_uppercase());
            name.push_str(&word[1..]);
        }
        assert!(Capability::initialize_field(&name).is_some(), "{name}");
    }
}

#[test]
fn nothing_is_in_the_table_twice() {
    let mut seen = BTreeSet::new();
    for capability in Capability::all() {
        assert!(seen.insert((capability.kind(), capability.name())), "{capability}");
        assert!(capability.since() <= Version::TESTED[0], "{capability}");
    }
}

#[test]
fn a_version_has_what_came_before_it() {
    let defer = Capability::DEFER;
    assert_eq!(defer.kind(), CapabilityKind::Behavior);
    assert!(defer.in_version(defer.since()));
    assert!(!defer.in_version(Version::new(2, 1, 196)));
    let error = defer.check(Version::new(2, 1, 62)).unwrap_err();
    assert_eq!((error.since, error.version), (defer.since(), Version::new(2, 1, 62)));
}
