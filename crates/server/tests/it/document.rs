//! The OpenAPI document is committed, complete, and refers to nothing that is not there.

use std::collections::BTreeSet;
use std::path::Path;

use countersign_server::api::document;
use countersign_server::api::view::GiveAnswer;
use countersign_server::session::Happening;
use serde_json::Value;

/// Where it is committed.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");

/// An operation of the document.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) id: String,
    pub(crate) method: String,
    pub(crate) path: String,
    /// Which scope it needs; none if it is for everybody.
    pub(crate) scope: Option<String>,
    pub(crate) described: Value,
}

impl Operation {
    /// Whether it has this tag.
    pub(crate) fn is(&self, tag: &str) -> bool {
        self.described.pointer("/tags/0").is_some_and(|first| first == tag)
    }
}

/// All operations.
pub(crate) fn operations() -> Vec<Operation> {
    let document = document();
    let paths = document.get("paths").and_then(Value::as_object).unwrap();
    let mut all = Vec::new();
    for (path, methods) in paths {
        for (method, described) in methods.as_object().unwrap() {
            let text = |name: &str| described.get(name).and_then(Value::as_str).map(str::to_owned);
            all.push(Operation {
                id: text("operationId").unwrap(),
                method: method.to_uppercase(),
                path: path.clone(),
                scope: text("x-scope"),
                described: described.clone(),
            });
        }
    }
    all
}

/// `COUNTERSIGN_UPDATE=1` writes it anew.
#[test]
fn the_document_is_the_committed_one() {
    let now = format!("{:#}\n", document());
    if std::env::var_os("COUNTERSIGN_UPDATE").is_some() {
        std::fs::write(FILE, &now).unwrap();
    }
    let committed = std::fs::read_to_string(Path::new(FILE)).unwrap();
    assert!(
        now == committed,
        "openapi.json is out of date: run this test with COUNTERSIGN_UPDATE=1"
    );
}

fn each(value: &Value, see: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                see(name, member);
                each(member, see);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| each(item, see)),
        _ => {}
    }
}

#[test]
fn every_reference_leads_somewhere_and_every_schema_is_used() {
    let document = document();
    let mut used = BTreeSet::new();
    each(&document, &mut |name, value| {
        if let ("$ref", Some(to)) = (name, value.as_str()) {
            let pointer = to.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{to} is not there");
            used.insert(to.to_owned());
        }
    });
    let schemas = document.pointer("/components/schemas").and_then(Value::as_object).unwrap();
    for name in schemas.keys() {
        assert!(used.contains(&format!("#/components/schemas/{name}")), "{name} is not used");
        assert!(name.chars().all(|letter| letter.is_ascii_alphanumeric()), "{name}");
    }
}

#[test]
fn every_operation_is_complete() {
    let mut ids = BTreeSet::new();
    for operation in operations() {
        let Operation { id, method, path, scope, described } = &operation;
        assert!(ids.insert(id.clone()), "{id} is there twice");
        assert_eq!(described.pointer("/tags").and_then(Value::as_array).unwrap().len(), 1, "{id}");
        assert!(described.get("summary").or(described.get("description")).is_some(), "{id}");
        let has = |status: &str| described.pointer(&format!("/responses/{status}")).is_some();
        if scope.is_some() {
            assert!(["401", "403", "503"].into_iter().all(has), "{id}");
        }
        if described.get("requestBody").is_some() {
            assert!(["400", "413", "415", "422"].into_iter().all(has), "{id}");
        }
        let in_path = path.matches('{').count();
        let none = Vec::new();
        let parameters = described.get("parameters").and_then(Value::as_array).unwrap_or(&none);
        let described_in_path =
            parameters.iter().filter(|parameter| parameter.get("in") == Some(&"path".into()));
        assert_eq!(in_path, described_in_path.count(), "{id}");
        assert!(in_path == 0 || has("404"), "{id}");
        // All commands can be sent again, but for those that are about a browser's own cookie.
        let is_command = method != "GET" && !["login", "logout"].contains(&&**id);
        let key = serde_json::json!({"$ref": "#/components/parameters/IdempotencyKey"});
        assert_eq!(parameters.contains(&key), is_command, "{id}");
        assert!(!is_command || has("409"), "{id}");
    }
}

#[test]
fn streams_say_so_and_take_up_where_they_were_left() {
    for operation in operations().iter().filter(|operation| operation.path.ends_with("/stream")) {
        let content = operation.described.pointer("/responses/200/content/text~1event-stream");
        assert!(content.is_some(), "{}", operation.id);
        assert!(operation.described.to_string().contains("\"Last-Event-ID\""), "{}", operation.id);
    }
}

#[test]
fn every_kind_of_event_has_its_body() {
    let document = document();
    let kinds = document.pointer("/components/schemas/EventView/oneOf").and_then(Value::as_array);
    let named: Vec<_> = kinds.unwrap().iter().map(|kind| kind.get("title").unwrap()).collect();
    assert_eq!(named, Happening::KINDS);
    let table = document.get("tags").unwrap().to_string();
    assert!(Happening::KINDS.iter().all(|kind| table.contains(&format!("`{kind}`"))));
}

/// One for each kind of answer, and all of them can be read.
#[test]
fn the_examples_of_answers_are_answers() {
    let operations = operations();
    let answer = operations.iter().find(|operation| operation.id == "answerApproval").unwrap();
    let examples = "/requestBody/content/application~1json/examples";
    let examples = answer.described.pointer(examples).and_then(Value::as_object).unwrap();
    let mut kinds = BTreeSet::new();
    for (name, example) in examples {
        let value = example.get("value").unwrap().clone();
        let given: GiveAnswer = serde_json::from_value(value).unwrap_or_else(|_| unreachable(name));
        kinds.insert(given.answer.name());
    }
    assert_eq!(kinds.len(), 8, "{kinds:?}");
}

#[expect(clippy::panic, reason = "a test that cannot go on has failed")]
fn unreachable(name: &str) -> GiveAnswer {
    panic!("the example {name} cannot be read")
}
