//! Requests that are sent as the text that they are.

use std::collections::BTreeMap;

use countersign_protocol::RawJson;
use countersign_protocol::ids::RequestId;
use serde::Serialize;
use serde::de::IgnoredAny;

use crate::error::ControlError;

/// What stands in the `request` field of a control request.
pub(in crate::session) struct RawRequest(pub(in crate::session) RawJson);

/// A control request as it goes over the wire.
#[derive(Serialize)]
pub(in crate::session) struct Frame<'a> {
    r#type: &'static str,
    request_id: &'a str,
    request: &'a RawJson,
}

impl RawRequest {
    /// A request of this kind, whose fields stay the text that they are.
    pub(in crate::session) fn new(subtype: &str, fields: &RawJson) -> Result<Self, ControlError> {
        let failed = |reason| ControlError::NotARequest { subtype: subtype.to_owned(), reason };
        let names = fields.decode::<BTreeMap<String, IgnoredAny>>();
        let names = names.map_err(|error| failed(error.to_string()))?;
        // Two readers could disagree on which one counts.
        if names.contains_key("subtype") {
            return Err(failed("its fields have another `subtype`".to_owned()));
        }
        let name = serde_json::Value::from(subtype);
        let comma = if names.is_empty() { "" } else { "," };
        let rest = fields.as_str().trim_start().strip_prefix('{').unwrap_or_default();
        let request = format!("{{\"subtype\":{name}{comma}{rest}").parse::<RawJson>();
        request.map(Self).map_err(|error| failed(error.to_string()))
    }

    /// The whole frame.
    pub(in crate::session) fn within<'a>(&'a self, id: &'a RequestId) -> Frame<'a> {
        Frame { r#type: "control_request", request_id: id.as_str(), request: &self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: &str) -> Result<String, String> {
        let request = RawRequest::new("do \"it\"", &fields.parse().unwrap());
        request.map(|request| request.0.as_str().to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn fields_stay_as_they_are() {
        let fields = r#" { "b": 1e400, "a": 12345678901234567890123, "c": "\ud800" }"#;
        let expected =
            r#"{"subtype":"do \"it\"", "b": 1e400, "a": 12345678901234567890123, "c": "\ud800" }"#;
        assert_eq!(request(fields).unwrap(), expected);
        assert_eq!(request("{ }").unwrap(), r#"{"subtype":"do \"it\"" }"#);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for fields in ["[1]", "1", r#"{"\u0073ubtype": "other"}"#] {
            assert!(request(fields).unwrap_err().contains("cannot be made"), "{fields}");
        }
    }
}
