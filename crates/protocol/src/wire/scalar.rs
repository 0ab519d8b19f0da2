//! [`FromWire`] for what JSON is made of.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize as _, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};

use super::{FromWire, Seed, Text};

impl FromWire for bool {
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::deserialize(source)
    }
}

impl FromWire for String {
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Text::read_owned(source)
    }
}

impl FromWire for u64 {
    /// A count. JavaScript may write it as `5.0`, which is five.
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct CountVisitor;

        impl Visitor<'_> for CountVisitor {
            type Value = u64;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number that is not negative")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<u64, E> {
                Ok(value)
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<u64, E> {
                // The largest float below which every whole number can be told from the next.
                const EXACT: f64 = 9_007_199_254_740_992.0;
                if value.fract() == 0.0 && (0.0..EXACT).contains(&value) {
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "it is whole and within range"
                    )]
                    return Ok(value as u64);
                }
                Err(E::invalid_value(Unexpected::Float(value), &self))
            }
        }

        source.deserialize_u64(CountVisitor)
    }
}

impl<T: FromWire> FromWire for Option<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct OptionVisitor<T>(PhantomData<T>);

        impl<'de, T: FromWire> Visitor<'de> for OptionVisitor<T> {
            type Value = Option<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value or null")
            }

            fn visit_none<E: Error>(self) -> Result<Option<T>, E> {
                Ok(None)
            }

            fn visit_unit<E: Error>(self) -> Result<Option<T>, E> {
                Ok(None)
            }

            fn visit_some<D: Deserializer<'de>>(self, source: D) -> Result<Option<T>, D::Error> {
                T::from_wire(source).map(Some)
            }
        }

        source.deserialize_option(OptionVisitor(PhantomData))
    }
}

impl<T: FromWire> FromWire for Box<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        T::from_wire(source).map(Self::new)
    }
}

impl<T: FromWire> FromWire for Vec<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct ListVisitor<T>(PhantomData<T>);

        impl<'de, T: FromWire> Visitor<'de> for ListVisitor<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Vec<T>, A::Error> {
                read_items(items)
            }
        }

        source.deserialize_seq(ListVisitor(PhantomData))
    }
}

/// A string or an array: the form in which the API takes contents.
pub(crate) enum TextOrList<T> {
    Text(String),
    List(Vec<T>),
}

impl<T: FromWire> FromWire for TextOrList<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct EitherVisitor<T>(PhantomData<T>);

        impl<'de, T: FromWire> Visitor<'de> for EitherVisitor<T> {
            type Value = TextOrList<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or an array")
            }

            fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<TextOrList<T>, E> {
                Ok(TextOrList::Text(Text.visit_bytes(bytes)?.into_owned()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<TextOrList<T>, E> {
                Ok(TextOrList::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<TextOrList<T>, A::Error> {
                Ok(TextOrList::List(read_items(items)?))
            }
        }

        // Of all types `serde_json` can be asked for, bytes are the one that takes both.
        source.deserialize_bytes(EitherVisitor(PhantomData))
    }
}

/// The items of an array.
pub(crate) fn read_items<'de, T: FromWire, A: SeqAccess<'de>>(
    mut items: A,
) -> Result<Vec<T>, A::Error> {
    let mut list = Vec::new();
    while let Some(item) = items.next_element_seed(Seed::new())? {
        list.push(item);
    }
    Ok(list)
}

impl<T: FromWire> FromWire for BTreeMap<String, T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        struct TableVisitor<T>(PhantomData<T>);

        impl<'de, T: FromWire> Visitor<'de> for TableVisitor<T> {
            type Value = BTreeMap<String, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut table = BTreeMap::new();
                while let Some(key) = map.next_key_seed(Text)? {
                    let key = key.into_owned();
                    if table.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
                    }
                    table.insert(key, map.next_value_seed(Seed::new())?);
                }
                Ok(table)
            }
        }

        source.deserialize_map(TableVisitor(PhantomData))
    }
}
