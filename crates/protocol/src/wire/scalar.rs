//! [`FromWire`] for what JSON is made of.

use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize as _, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::{FromWire, Place, Seed, Text};

impl FromWire for bool {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, _: Place) -> Result<Self, D::Error> {
        Self::deserialize(source)
    }
}

impl FromWire for String {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, _: Place) -> Result<Self, D::Error> {
        Text::read_owned(source)
    }
}

impl FromWire for u64 {
    /// A count. JavaScript writes whole numbers without a fraction, so one with a fraction is
    /// something else than a count.
    fn from_wire<'de, D: Deserializer<'de>>(source: D, _: Place) -> Result<Self, D::Error> {
        Self::deserialize(source)
    }
}

impl<T: FromWire> FromWire for Option<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        struct OptionVisitor<T>(Place, PhantomData<T>);

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
                T::from_wire(source, self.0).map(Some)
            }
        }

        source.deserialize_option(OptionVisitor(place, PhantomData))
    }
}

impl<T: FromWire> FromWire for Box<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        T::from_wire(source, place).map(Self::new)
    }
}

impl<T: FromWire> FromWire for Vec<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        struct ListVisitor<T>(Place, PhantomData<T>);

        impl<'de, T: FromWire> Visitor<'de> for ListVisitor<T> {
            type Value = Vec<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an array")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<Vec<T>, A::Error> {
                read_items(items, self.0)
            }
        }

        source.deserialize_seq(ListVisitor(place.inside()?, PhantomData))
    }
}

/// A string or an array: the form in which the API takes contents.
pub(crate) enum TextOrList<T> {
    Text(String),
    List(Vec<T>),
}

impl<T: FromWire> FromWire for TextOrList<T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        struct EitherVisitor<T>(Place, PhantomData<T>);

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
                Ok(TextOrList::List(read_items(items, self.0)?))
            }
        }

        // Of all types `serde_json` can be asked for, bytes are the one that takes both.
        source.deserialize_bytes(EitherVisitor(place.inside()?, PhantomData))
    }
}

/// The items of an array.
fn read_items<'de, T: FromWire, A: SeqAccess<'de>>(
    mut items: A,
    place: Place,
) -> Result<Vec<T>, A::Error> {
    let mut list = Vec::new();
    while let Some(item) = items.next_element_seed(Seed::at(place))? {
        list.push(item);
    }
    Ok(list)
}

impl<K: FromWire + Ord + fmt::Display, T: FromWire> FromWire for BTreeMap<K, T> {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error> {
        struct TableVisitor<K, T>(Place, PhantomData<(K, T)>);

        impl<'de, K: FromWire + Ord + fmt::Display, T: FromWire> Visitor<'de> for TableVisitor<K, T> {
            type Value = BTreeMap<K, T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut table = BTreeMap::new();
                while let Some(key) = map.next_key_seed(Seed::<K>::at(self.0))? {
                    if table.contains_key(&key) {
                        return Err(A::Error::custom(format_args!("duplicate field `{key}`")));
                    }
                    table.insert(key, map.next_value_seed(Seed::at(self.0))?);
                }
                Ok(table)
            }
        }

        source.deserialize_map(TableVisitor(place.inside()?, PhantomData))
    }
}
