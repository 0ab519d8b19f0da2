//! Every operation of the document asks for the scope that the document says.

use std::collections::{BTreeMap, BTreeSet};

use countersign_server::access::Scope;
use countersign_server::api::document;
use countersign_server::id::SessionId;
use serde_json::Value;

use crate::document::{Operation, operations};
use crate::running::{JSON, Running};

/// The line of a request for an operation, about things that are not there.
fn line(operation: &Operation) -> String {
    request(&operation.method, &operation.path)
}

/// The line of a request for the path of an operation, about things that are not there.
fn request(method: &str, pattern: &str) -> String {
    let mut path = pattern.to_owned();
    while let Some((before, rest)) = path.split_once('{') {
        let (_, after) = rest.split_once('}').unwrap();
        path = format!("{before}{}{after}", SessionId::new());
    }
    format!("{method} {path}")
}

/// An empty object, for operations that have a body.
fn body(operation: &Operation) -> &'static str {
    if operation.described.get("requestBody").is_some() { "{}" } else { "" }
}

#[tokio::test]
async fn without_a_token_everything_is_closed_but_what_is_for_everybody() {
    let server = Running::new().await;
    let mut open = Vec::new();
    for operation in operations() {
        let answer = server.ask(&line(&operation), &[JSON], body(&operation)).await;
        if operation.scope.is_none() {
            assert_ne!(answer.status, 401, "{}: {answer:?}", operation.id);
            open.push(operation.id);
        } else {
            assert_eq!(answer.status, 401, "{}: {answer:?}", operation.id);
            assert_eq!(answer.problem(), "not-signed-in", "{}", operation.id);
        }
    }
    assert_eq!(open, ["getHealth", "getLoginPage", "login", "getReadiness"]);
    server.end().await;
}

#[tokio::test]
async fn each_scope_is_good_for_what_the_document_says_and_nothing_more() {
    let server = Running::new().await;
    let read = server.bearer(Scope::Read).await;
    let decide = server.bearer(Scope::Decide).await;
    let admin = server.bearer(Scope::Admin).await;
    let mut refused = (0, 0);
    for operation in operations() {
        let Some(scope) = &operation.scope else { continue };
        let (line, body) = (line(&operation), body(&operation));
        let may_read = server.ask(&line, &[&read, JSON], body).await;
        let may_decide = server.ask(&line, &[&decide, JSON], body).await;
        let may_all = server.ask(&line, &[&admin, JSON], body).await;
        let id = &operation.id;
        assert_eq!(may_read.status == 403, scope != "read", "{id}: {may_read:?}");
        assert_eq!(may_decide.status == 403, scope == "admin", "{id}: {may_decide:?}");
        assert!(![401, 403].contains(&may_all.status), "{id}: {may_all:?}");
        assert!(may_all.status < 500, "{id}: {may_all:?}");
        for answer in [may_read, may_decide].iter().filter(|answer| answer.status == 403) {
            assert_eq!(answer.problem(), "scope-too-low", "{id}");
        }
        refused.0 += u32::from(scope != "read");
        refused.1 += u32::from(scope == "admin");
    }
    assert!(refused.0 > 20 && refused.1 > 5, "{refused:?}");
    server.end().await;
}

/// What changes something is nothing for those who may only read, but for how they are signed in.
#[test]
fn only_signing_in_and_out_is_a_change_for_those_who_may_only_read() {
    let changes = operations().into_iter().filter(|operation| operation.method != "GET");
    let read: Vec<_> = changes
        .filter(|operation| operation.scope.as_deref() == Some("read"))
        .map(|operation| operation.id)
        .collect();
    assert_eq!(read, ["createLoginLink", "logout"]);
}

#[tokio::test]
async fn each_path_takes_the_documented_methods_and_no_others() {
    let server = Running::new().await;
    let admin = server.bearer(Scope::Admin).await;
    let mut documented = BTreeMap::<_, BTreeSet<_>>::new();
    for operation in operations() {
        let methods = documented.entry(operation.path).or_default();
        if operation.method == "GET" {
            methods.insert("HEAD".to_owned());
        }
        methods.insert(operation.method);
    }
    for (pattern, methods) in documented {
        let answer = server.ask(&request("PATCH", &pattern), &[&admin], "").await;
        assert_eq!(answer.status, 405, "{pattern}: {answer:?}");
        let allowed = answer.header("allow").unwrap().split(',').map(|one| one.trim().to_owned());
        assert_eq!(allowed.collect::<BTreeSet<_>>(), methods, "{pattern}");
    }
    server.end().await;
}

#[tokio::test]
async fn the_server_sends_the_document() {
    let server = Running::new().await;
    let read = server.bearer(Scope::Read).await;
    let answer = server.ask("GET /api/v1/openapi.json", &[&read], "").await;
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(serde_json::from_str::<Value>(&answer.body).unwrap(), document());
    server.end().await;
}
