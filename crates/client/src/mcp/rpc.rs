//! JSON-RPC, as far as a server needs it: what a message is, and how it is answered.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use countersign_protocol::RawJson;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

/// What came over the wire. Ids and parameters are the text they came in.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    /// Wants an answer.
    Request { id: &'a RawValue, method: Cow<'a, str>, params: Params<'a> },
    /// Wants none.
    Notification { method: Cow<'a, str>, params: Params<'a> },
    /// Answers a request of the server.
    Response,
}

impl<'a> Incoming<'a> {
    /// Tells what a message is.
    ///
    /// # Errors
    /// The answer to a message that is none of these.
    pub(super) fn parse(message: &'a RawJson) -> Result<Self, RawJson> {
        let invalid = |id, problem: &str| error(id, ErrorCode::INVALID_REQUEST, problem);
        let envelope = serde_json::from_str(message.as_str()).map_err(|problem| {
            let id = serde_json::from_str::<Keyed<JustId<'a>>>(message.as_str()).ok();
            let id = id.and_then(|Keyed(envelope)| envelope.id).filter(|id| is_id(id));
            invalid(id, &format!("not a JSON-RPC message: {problem}"))
        })?;
        let Keyed::<Envelope<'a>>(envelope) = envelope;
        let Keyed(params) = envelope.params.unwrap_or_default();
        let id = envelope.id.filter(|id| is_id(id));
        if envelope.jsonrpc.as_deref() != Some("2.0") {
            return Err(invalid(id, r#"not JSON-RPC 2.0: say "jsonrpc":"2.0""#));
        }
        let answers = envelope.result.is_some() || envelope.error.is_some();
        match (envelope.method, envelope.id, id) {
            (Some(_), _, _) if answers => Err(invalid(id, "both a request and an answer")),
            (_, Some(_), None) if !answers => {
                Err(invalid(None, "the id is neither a string nor a number"))
            }
            (Some(method), _, Some(id)) => Ok(Self::Request { id, method, params }),
            (Some(method), _, None) => Ok(Self::Notification { method, params }),
            (None, ..) if answers => Ok(Self::Response),
            (None, ..) => Err(invalid(id, "neither a method nor an answer")),
        }
    }
}

/// The keys of a message. One that stands twice is an error.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow)]
    jsonrpc: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<Keyed<Params<'a>>>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// What of a message that is none can still be answered.
#[derive(Deserialize)]
struct JustId<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
}

/// The parameters that somebody here looks at, of whatever method. They are found while the message
/// is read, so that it is read once.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params<'a> {
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
    #[serde(borrow, rename = "_meta")]
    pub(super) meta: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) protocol_version: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) request_id: Option<&'a RawValue>,
}

/// An object. `serde` alone takes a list for a struct, too, whose fields are in their order.
#[derive(Default)]
struct Keyed<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Keyed<T> {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct Fields<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
            type Value = Keyed<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields)).map(Keyed)
            }
        }

        source.deserialize_map(Fields(PhantomData))
    }
}

/// A text that is borrowed if it has no escapes.
#[derive(Deserialize)]
pub(super) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'a> Text<'a> {
    /// Reads a value that should be a text.
    pub(super) fn of(value: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
        let Text(text) = serde_json::from_str(value?.get()).ok()?;
        Some(text)
    }
}

/// Tells `null` and absent apart.
fn present<'de, D: Deserializer<'de>>(source: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(source).map(Some)
}

fn is_id(value: &RawValue) -> bool {
    value.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit())
}

/// The codes of JSON-RPC errors.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct ErrorCode(i32);

impl ErrorCode {
    pub(super) const INVALID_REQUEST: Self = Self(-32600);
    pub(super) const METHOD_NOT_FOUND: Self = Self(-32601);
    pub(super) const INVALID_PARAMS: Self = Self(-32602);
    pub(super) const INTERNAL: Self = Self(-32603);
    /// There is nobody who could answer. The number is the one that MCP libraries use.
    pub(super) const CLOSED: Self = Self(-32000);
    /// The request was withdrawn. The number is that of the Language Server Protocol; MCP has none,
    /// as it does not want an answer, but a control request does.
    #[cfg(feature = "rmcp")]
    pub(super) const CANCELLED: Self = Self(-32800);
}

/// The answer to what wants none. The control request that it came in does.
pub(super) fn acknowledgement() -> RawJson {
    #[derive(Serialize)]
    struct Empty {}
    #[derive(Serialize)]
    struct Acknowledgement {
        jsonrpc: &'static str,
        result: Empty,
        id: u8,
    }
    written(&Acknowledgement { jsonrpc: "2.0", result: Empty {}, id: 0 })
}

/// The answer to a request that was served.
pub(super) fn result<T: Serialize + ?Sized>(id: &RawValue, result: &T) -> RawJson {
    #[derive(Serialize)]
    struct Answer<'a, T: ?Sized> {
        jsonrpc: &'static str,
        id: &'a RawValue,
        result: &'a T,
    }
    match RawJson::from_value(&Answer { jsonrpc: "2.0", id, result }) {
        Ok(answer) => answer,
        Err(problem) => error(
            Some(id),
            ErrorCode::INTERNAL,
            &format!("the result cannot be written: {problem}"),
        ),
    }
}

/// The answer to a message that was not served.
pub(super) fn error(id: Option<&RawValue>, code: ErrorCode, message: &str) -> RawJson {
    #[derive(Serialize)]
    struct Problem<'a> {
        code: ErrorCode,
        message: &'a str,
    }
    #[derive(Serialize)]
    struct Answer<'a> {
        jsonrpc: &'static str,
        id: Option<&'a RawValue>,
        error: Problem<'a>,
    }
    written(&Answer { jsonrpc: "2.0", id, error: Problem { code, message } })
}

/// A message that the server begins with, and that wants no answer.
pub(super) fn notification<T: Serialize>(method: &str, params: Option<&T>) -> RawJson {
    #[derive(Serialize)]
    struct Notification<'a, T> {
        jsonrpc: &'static str,
        method: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        params: Option<&'a T>,
    }
    written(&Notification { jsonrpc: "2.0", method, params })
}

/// Writes what can always be written: strings, numbers, and JSON that was read before.
fn written<T: Serialize>(value: &T) -> RawJson {
    RawJson::from_value(value).unwrap_or_else(|_| RawJson::empty_object())
}
