//! Schemas of types that the CLI takes.

use countersign_protocol::RawJson;
use schemars::JsonSchema;
use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};

/// What the CLI knows in a schema: draft 7, without `format`, which only 2.1.325 knows.
///
/// A schema with anything else in it is passed over without a word, `$schema` of a later draft
/// included, and the model may then answer what it likes.
const KNOWN: [&str; 40] = [
    "$comment",
    "$ref",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "default",
    "definitions",
    "dependencies",
    "description",
    "else",
    "enum",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "uniqueItems",
];

/// The schema of a type, such that the CLI takes it. What it does not say any more is seen when the
/// answer is read as the type.
pub(crate) fn schema_of<T: JsonSchema>() -> RawJson {
    let settings = SchemaSettings::draft07().with(|settings| settings.meta_schema = None);
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(only_what_is_known).transform(&mut schema);
    // A schema is an object of plain values, which can always be written.
    RawJson::from_value(&schema).unwrap_or_else(|_| RawJson::empty_object())
}

fn only_what_is_known(schema: &mut Schema) {
    if let Some(keywords) = schema.as_object_mut() {
        keywords.retain(|keyword, _| KNOWN.contains(&&**keyword));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::Value;

    use super::*;

    #[derive(JsonSchema)]
    #[schemars(extend("x-shown" = true))]
    #[expect(dead_code, reason = "only its schema is of interest")]
    struct Everything {
        /// What it is called.
        format: String,
        born: u16,
        pair: (u8, String),
        inner: Option<Box<Self>>,
        by_name: BTreeMap<String, Kind>,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is of interest")]
    enum Kind {
        Plain,
        With { size: u64 },
    }

    /// The keywords of a schema, wherever they are.
    fn keywords(schema: &Value, found: &mut Vec<String>) {
        let Value::Object(schema) = schema else { return };
        for (keyword, value) in schema {
            found.push(keyword.clone());
            match (&**keyword, value) {
                ("properties" | "definitions" | "patternProperties", Value::Object(named)) => {
                    named.values().for_each(|schema| keywords(schema, found));
                }
                (_, Value::Array(several)) => {
                    several.iter().for_each(|schema| keywords(schema, found));
                }
                ("const" | "default", _) => {}
                (_, schema) => keywords(schema, found),
            }
        }
    }

    #[test]
    fn nothing_is_in_a_schema_that_the_cli_does_not_know() {
        let schema: Value = schema_of::<Everything>().decode().unwrap();
        let mut found = Vec::new();
        keywords(&schema, &mut found);
        assert!(found.iter().all(|keyword| KNOWN.contains(&&**keyword)), "{schema:#}");
        // A field may be called like a keyword.
        assert_eq!(schema["properties"]["format"]["description"], "What it is called.");
        assert_eq!(schema["properties"]["born"]["type"], "integer");
        assert_eq!(schema["required"].as_array().map(Vec::len), Some(4));
        assert!(schema["properties"]["pair"]["items"].is_array(), "{schema:#}");
    }
}
