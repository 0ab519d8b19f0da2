//! The description of the API, as an OpenAPI document.
//!
//! Paths, bodies and answers come from the handlers. What holds for all of them alike is added here by
//! rule, so that no handler can forget it: who may do it, which problems there may be, and what the
//! events of the log look like.

use serde_json::{Map, Value, json};
use utoipa::OpenApi;

use crate::access::{self, Scope};
use crate::api;
use crate::session::Happening;
use crate::web::problem::Problem;
use crate::web::{health, metrics};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Countersign",
        description = "Sessions of Claude Code, watched and answered by people and programs."
    ),
    components(schemas(Problem))
)]
struct Document;

/// What the operations are about.
const TAGS: [(&str, &str); 7] = [
    ("sessions", "Sessions: made, changed, stopped, brought back, deleted."),
    ("messages", "What is said in a session, as long as it waits for the CLI."),
    ("approvals", "What people are asked, and what they answer."),
    ("audit", "Who decided what."),
    ("server", "The server itself."),
    ("access", "Tokens, and browsers that are signed in."),
    ("operation", "For whoever runs the server."),
];

/// The operations that are for everybody.
const OPEN: [&str; 4] = ["getHealth", "getReadiness", "getLoginPage", "login"];

/// The operations that are for those who may do everything.
const ADMIN: [&str; 7] = [
    "deleteSession",
    "createBackup",
    "listTokens",
    "createToken",
    "revokeToken",
    "listBrowsers",
    "signOutBrowser",
];

/// The operations that change something, and are for those who may only read all the same: what they
/// change is how whoever asks is signed in.
const OWN: [&str; 2] = ["createLoginLink", "logout"];

/// The commands that need no body.
const WITHOUT_BODY: [&str; 3] = ["stopSession", "resumeSession", "forkSession"];

/// The problems that there may be: status, name, and what it is.
const PROBLEMS: [(&str, &str, &str); 11] = [
    (
        "400",
        "BadRequest",
        "A parameter or header is not what it should be, or the body is not JSON.",
    ),
    ("401", "NotSignedIn", "There is no valid token or cookie."),
    (
        "403",
        "NotAllowed",
        "The token is not good for this, or the request comes from a foreign page.",
    ),
    ("404", "NotFound", "There is no such thing."),
    (
        "409",
        "Conflict",
        "It cannot be done as things are now: somebody was first, a turn is over, a \
      message is gone. The problem says which; `approval` has the approval as it is.",
    ),
    ("413", "TooLarge", "The body is too large."),
    ("415", "UnsupportedMediaType", "The body is not said to be JSON."),
    ("421", "ForeignHost", "The request names a host that is not this server."),
    (
        "422",
        "Unprocessable",
        "The body is JSON and not what this needs, or the `Idempotency-Key` was \
      used for another command.",
    ),
    ("429", "TooManyFailures", "Too many requests without a valid token came from there."),
    (
        "503",
        "Unavailable",
        "The server cannot do this at the moment. `Retry-After` says when it may.",
    ),
];

const REPLAYED: &str = "It is `true` when the command was carried out before, under the same key; this is \
                        what was answered then.";

/// The OpenAPI document of the whole server. It does not depend on how a server is configured.
#[must_use]
pub fn document() -> Value {
    let mut all = Document::openapi();
    all.merge(health::Operations::openapi());
    all.merge(access::login::Operations::openapi());
    all.merge(access::api::Operations::openapi());
    all.merge(metrics::Operations::openapi());
    let all = all.nest("/api/v1", api::Operations::openapi());
    let mut document = serde_json::to_value(&all).unwrap_or_default();
    let mut events = String::new();
    if let Some(schemas) =
        document.pointer_mut("/components/schemas").and_then(Value::as_object_mut)
    {
        events = describe_events(schemas);
    }
    for (path, operations) in members(document.get_mut("paths")) {
        for (method, operation) in members(Some(operations)) {
            if let Some(operation) = operation.as_object_mut() {
                complete(&path.clone(), method, operation);
            }
        }
    }
    if let Some(components) = document.get_mut("components").and_then(Value::as_object_mut) {
        share(components);
    }
    if let Some(document) = document.as_object_mut() {
        let tags = TAGS.map(|(name, about)| json!({"name": name, "description": about}));
        let mut tags = Vec::from(tags);
        tags.push(json!({"name": "events", "description": events}));
        document.insert("tags".to_owned(), tags.into());
        document.insert("security".to_owned(), json!([{"token": []}, {"browser": []}]));
    }
    tidy(&mut document);
    document
}

/// The members of an object, of which there are none if it is no object.
fn members(value: Option<&mut Value>) -> impl Iterator<Item = (&String, &mut Value)> {
    value.and_then(Value::as_object_mut).into_iter().flatten()
}

/// Which scope an operation needs; none if it is for everybody.
fn scope(id: &str, method: &str) -> Option<Scope> {
    if OPEN.contains(&id) {
        None
    } else if ADMIN.contains(&id) {
        Some(Scope::Admin)
    } else if method == "get" || OWN.contains(&id) {
        Some(Scope::Read)
    } else {
        Some(Scope::Decide)
    }
}

/// Adds to an operation what follows from what it is.
fn complete(path: &str, method: &str, operation: &mut Map<String, Value>) {
    let id = operation.get("operationId").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut statuses = Vec::new();
    match scope(&id, method) {
        Some(scope) => {
            statuses.extend(["401", "403", "421", "429", "503"]);
            operation.insert("x-scope".to_owned(), scope.name().into());
        }
        None => {
            statuses.push("421");
            operation.insert("security".to_owned(), json!([]));
        }
    }
    if id == "login" {
        statuses.extend(["401", "403", "429", "503"]);
    }
    let mut is_command = false;
    if let Some(parameters) = operation.get_mut("parameters").and_then(Value::as_array_mut) {
        statuses.push("400");
        for parameter in parameters {
            if parameter.get("name").is_some_and(|name| name == "Idempotency-Key") {
                is_command = true;
                *parameter = json!({"$ref": "#/components/parameters/IdempotencyKey"});
            }
        }
    }
    if let Some(body) = operation.get_mut("requestBody").and_then(Value::as_object_mut) {
        statuses.extend(["400", "413", "415", "422"]);
        body.insert("required".to_owned(), (!WITHOUT_BODY.contains(&&*id)).into());
    }
    if path.contains('{') {
        statuses.push("404");
    }
    if is_command {
        statuses.extend(["409", "413", "415", "422"]);
    }
    if id == "logout" {
        statuses.push("400");
    }
    let Some(responses) = operation.get_mut("responses").and_then(Value::as_object_mut) else {
        return;
    };
    for (status, response) in &mut *responses {
        let about = match &**status {
            "201" => "It was made.",
            "202" => "It was noted, and is carried out.",
            _ => "This is it.",
        };
        if let Some(response) = response.as_object_mut() {
            let said = response.entry("description").or_insert_with(|| "".into());
            if *said == "" {
                *said = about.into();
            }
        }
    }
    if is_command {
        for response in responses.values_mut().filter_map(Value::as_object_mut) {
            let header = json!({"description": REPLAYED, "schema": {"type": "string"}});
            response.insert("headers".to_owned(), json!({"Idempotent-Replayed": header}));
        }
    }
    for (status, name, _) in PROBLEMS {
        if statuses.contains(&status) {
            let shared = json!({"$ref": format!("#/components/responses/{name}")});
            responses.entry(status).or_insert(shared);
        }
    }
}

/// Adds what operations have in common.
fn share(components: &mut Map<String, Value>) {
    let schema = json!({"$ref": "#/components/schemas/Problem"});
    let problem = |(status, name, about): (&str, &str, &str)| {
        let content = json!({"application/problem+json": {"schema": schema}});
        let mut response = json!({"description": about, "content": content});
        if let ("429" | "503", Some(response)) = (status, response.as_object_mut()) {
            let header =
                json!({"description": "After how many seconds.", "schema": {"type": "integer"}});
            response.insert("headers".to_owned(), json!({"Retry-After": header}));
        }
        (name.to_owned(), response)
    };
    let problems: Map<_, _> = PROBLEMS.into_iter().map(problem).collect();
    components.insert("responses".to_owned(), problems.into());
    let key = json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "description": "Names the command. The same key with the same command is carried out once, and \
                        answered alike; with another command it is refused. It is kept for as long as \
                        `retention.idempotency_keys` of the server says: a day, unless it is set.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    });
    components.insert("parameters".to_owned(), json!({"IdempotencyKey": key}));
    let schemes = json!({
        "token": {
            "type": "http", "scheme": "bearer",
            "description": "A token: `cst_…`. Which scope an operation needs is in its `x-scope`; \
                            `decide` includes `read`, and `admin` includes both.",
        },
        "browser": {
            "type": "apiKey", "in": "cookie", "name": "countersign-{port}",
            "description": "The cookie of a browser that was let in with a link. The port of the server \
                            is part of its name, which begins with `__Host-` over TLS. Requests that \
                            change something have to come from a page of the server.",
        },
    });
    components.insert("securitySchemes".to_owned(), schemes);
}

/// Adds the kinds of events with their bodies, and says in a table what they are.
fn describe_events(schemas: &mut Map<String, Value>) -> String {
    let mut kinds = Vec::new();
    let mut table = String::from(
        "What happened, as a list and as it happens. The data of each event of a stream is an \
         `EventView`, and its name is the kind.\n\n| kind | what happened | body |\n|---|---|---|\n",
    );
    for described in Happening::schemas() {
        let (kind, about) = (described.kind, described.about.trim());
        let name = component(kind);
        let mut body = serde_json::to_value(&described.body).unwrap_or_default();
        if let Some(body) = body.as_object_mut() {
            body.insert("description".to_owned(), about.into());
        }
        schemas.insert(name.clone(), body);
        for (name, needed) in described.needs {
            let needed = serde_json::to_value(&needed).unwrap_or_default();
            schemas.entry(name).or_insert(needed);
        }
        table.extend(["| `", kind, "` | ", about, " | `", &name, "` |\n"]);
        let body = json!({"$ref": format!("#/components/schemas/{name}")});
        let properties = json!({"kind": {"const": kind}, "body": body});
        kinds.push(json!({"title": kind, "properties": properties}));
    }
    if let Some(event) = schemas.get_mut("EventView").and_then(Value::as_object_mut) {
        event.insert("oneOf".to_owned(), kinds.into());
    }
    table
}

/// The name of the schema of a kind: `TurnInterruptAsked` for `turn.interrupt_asked`.
fn component(kind: &str) -> String {
    let mut name = String::new();
    for word in kind.split(['.', '_']) {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        name.push_str(letters.as_str());
    }
    name
}

/// Gives what was generated names that can be read, and takes out what only Rust understands.
fn tidy(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((front, of)) = text.split_once("/schemas/Page_") {
                *text = format!("{front}/schemas/{}", page(of));
            } else if text.contains("[`") {
                *text = without_links(text);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Object(members) => {
            unsigned(members);
            let pages: Vec<_> =
                members.keys().filter(|key| key.starts_with("Page_")).cloned().collect();
            for old in pages {
                let of = old.trim_start_matches("Page_");
                if let Some(mut schema) = members.remove(&old) {
                    if let Some(item) = schema.pointer_mut("/properties/items/items") {
                        *item = json!({"$ref": format!("#/components/schemas/{of}")});
                    }
                    members.insert(page(of), schema);
                }
            }
            members.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

/// Says that a number has no sign, where it was only said that it is not below zero.
fn unsigned(schema: &mut Map<String, Value>) {
    let format = match schema.get("format").and_then(Value::as_str) {
        Some("int32") => "uint32",
        Some("int64") => "uint64",
        _ => return,
    };
    if schema.get("minimum").and_then(Value::as_f64) == Some(0.0) {
        schema.insert("format".to_owned(), format.into());
    }
}

/// `SessionPage`, for pages of `SessionView`.
fn page(of: &str) -> String {
    format!("{}Page", of.trim_end_matches("View"))
}

/// A text without links to Rust's documentation: what they say stays.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("[`") {
        plain.push_str(before);
        let Some((name, after)) = after.split_once("`]") else {
            plain.push_str("[`");
            rest = after;
            continue;
        };
        plain.extend(["`", name, "`"]);
        rest = match after.strip_prefix('(').and_then(|link| link.split_once(')')) {
            Some((_, after)) => after,
            None => after,
        };
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::{component, page, without_links};

    #[test]
    fn names_can_be_read() {
        assert_eq!(component("turn.interrupt_asked"), "TurnInterruptAsked");
        assert_eq!(page("SessionView"), "SessionPage");
        assert_eq!(page("AuditEntry"), "AuditEntryPage");
    }

    #[test]
    fn links_become_what_they_say() {
        let text = "see [`Head::state`](super::Head::state), a [`Turn`] and [`this";
        assert_eq!(without_links(text), "see `Head::state`, a `Turn` and [`this");
    }
}
