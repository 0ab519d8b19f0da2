//! Objects are read from objects, at every level.
//!
//! Types that are derived can be read from a list of their fields as well, in their order. Nobody means
//! that, and no description says it: `["no", true]` in the place of `{"message": "no", "stop": true}`
//! would be an answer that nobody has looked at. Everything is passed on as it is but for that.

use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// A deserializer that reads structs from objects only.
pub(crate) struct Strict<D>(pub(crate) D);

/// What is read, with everything in it read strictly.
struct Strictly<V>(V);

macro_rules! pass_on {
    ($($method:ident($($name:ident: $type:ty),*);)+) => {$(
        fn $method<V: Visitor<'de>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            self.0.$method($($name,)* Strictly(visitor))
        }
    )+};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Strict<D> {
    type Error = D::Error;

    pass_on! {
        deserialize_any();
        deserialize_bool();
        deserialize_i8();
        deserialize_i16();
        deserialize_i32();
        deserialize_i64();
        deserialize_i128();
        deserialize_u8();
        deserialize_u16();
        deserialize_u32();
        deserialize_u64();
        deserialize_u128();
        deserialize_f32();
        deserialize_f64();
        deserialize_char();
        deserialize_str();
        deserialize_string();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_option();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_newtype_struct(name: &'static str);
        deserialize_seq();
        deserialize_tuple(length: usize);
        deserialize_tuple_struct(name: &'static str, length: usize);
        deserialize_map();
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
        deserialize_identifier();
        deserialize_ignored_any();
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_map(Strictly(visitor))
    }

    fn is_human_readable(&self) -> bool {
        self.0.is_human_readable()
    }
}

macro_rules! visit {
    ($($method:ident($type:ty);)+) => {$(
        fn $method<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.0.$method(value)
        }
    )+};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Strictly<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    visit! {
        visit_bool(bool);
        visit_i8(i8);
        visit_i16(i16);
        visit_i32(i32);
        visit_i64(i64);
        visit_i128(i128);
        visit_u8(u8);
        visit_u16(u16);
        visit_u32(u32);
        visit_u64(u64);
        visit_u128(u128);
        visit_f32(f32);
        visit_f64(f64);
        visit_char(char);
        visit_str(&str);
        visit_borrowed_str(&'de str);
        visit_string(String);
        visit_bytes(&[u8]);
        visit_borrowed_bytes(&'de [u8]);
        visit_byte_buf(Vec<u8>);
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_some(Strict(inner))
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.0.visit_newtype_struct(Strict(inner))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.0.visit_seq(Strict(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.0.visit_map(Strict(members))
    }

    fn visit_enum<A: EnumAccess<'de>>(self, variant: A) -> Result<V::Value, A::Error> {
        self.0.visit_enum(Strict(variant))
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Strictly<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Strict(inner))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_element_seed(Strictly(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, A::Error> {
        self.0.next_key_seed(seed)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(Strictly(seed))
    }

    fn size_hint(&self) -> Option<usize> {
        self.0.size_hint()
    }
}

impl<'de, A: EnumAccess<'de>> EnumAccess<'de> for Strict<A> {
    type Error = A::Error;
    type Variant = Strict<A::Variant>;

    fn variant_seed<S: DeserializeSeed<'de>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Self::Variant), A::Error> {
        let (name, variant) = self.0.variant_seed(seed)?;
        Ok((name, Strict(variant)))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Strict<A> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.unit_variant()
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.newtype_variant_seed(Strictly(seed))
    }

    fn tuple_variant<V: Visitor<'de>>(
        self,
        length: usize,
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.tuple_variant(length, Strictly(visitor))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        self.0.newtype_variant_seed(Members(visitor))
    }
}

/// The members of a variant, from an object.
struct Members<V>(V);

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Members<V> {
    type Value = V::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        inner.deserialize_map(Strictly(self.0))
    }
}

#[cfg(test)]
mod tests {
    use countersign_protocol::RawJson;
    use serde::Deserialize;

    use super::Strict;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "snake_case")]
    enum Way {
        Plain,
        Inner(Inner),
        Named { number: u32 },
        Several(Vec<Inner>),
    }

    #[derive(Debug, Default, Deserialize, PartialEq)]
    #[serde(default)]
    struct Inner {
        text: String,
        some: Option<Box<Self>>,
        raw: Option<RawJson>,
    }

    fn read(text: &str) -> Result<Way, String> {
        let mut reader = serde_json::Deserializer::from_str(text);
        Way::deserialize(Strict(&mut reader)).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_an_object_is_read_as_ever() {
        assert_eq!(read(r#""plain""#), Ok(Way::Plain));
        assert_eq!(read(r#"{"named":{"number":1}}"#), Ok(Way::Named { number: 1 }));
        let raw = r#"{"n": 1.10, "list":  [1]}"#;
        let text = format!(r#"{{"inner":{{"text":"a","some":{{"text":"b"}},"raw":{raw}}}}}"#);
        let Ok(Way::Inner(inner)) = read(&text) else { panic!("{:?}", read(&text)) };
        assert_eq!(inner.raw.unwrap().as_str(), raw, "letter for letter");
        assert_eq!(inner.some.unwrap().text, "b");
        assert!(matches!(read(r#"{"several":[{"text":"a"},{}]}"#), Ok(Way::Several(_))));
    }

    #[test]
    fn a_list_is_no_object_at_any_level() {
        for wrong in [
            r#"{"inner":["a",null,null]}"#,
            r#"{"inner":{"some":["a",null,null]}}"#,
            r#"{"named":[1]}"#,
            r#"{"several":[["a",null,null]]}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
