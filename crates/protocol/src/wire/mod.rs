//! How Rust types map to JSON objects, without losing anything.
//!
//! `serde`'s own derives are not enough here. A type on this wire has to keep the fields it does
//! not know, keep `null` apart from absent, find its tag wherever it stands, and accept the lone
//! surrogates that JavaScript writes. [`Extra`], [`RawJson`], [`Named`] and [`Num`] are the
//! values that carry what is not typed; the traits below do the reading and writing and are
//! implemented by the derive macros of `countersign-protocol-derive`.

mod extra;
mod fields;
mod named;
mod num;
mod place;
mod raw;
mod scalar;
mod text;

use std::fmt;
use std::marker::PhantomData;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};

pub use self::extra::Extra;
pub(crate) use self::extra::Nulls;
pub(crate) use self::fields::Fields;
pub use self::named::Named;
pub use self::num::Num;
pub(crate) use self::place::Place;
pub use self::raw::{MAX_DEPTH, RawJson, RawJsonError};
pub(crate) use self::scalar::TextOrList;
pub(crate) use self::text::{Text, has_raw_control_character};

/// A value that can be read from the wire.
///
/// It differs from [`serde::Deserialize`] in what it does with strings (see [`Text`]), and in
/// that everything it makes is owned.
pub trait FromWire: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// When it has another shape.
    fn from_wire<'de, D: Deserializer<'de>>(source: D, place: Place) -> Result<Self, D::Error>;
}

/// An object with named fields.
///
/// Fields arrive one by one and are put into slots, so that one object can serve two types (a
/// flattened base and what stands around it), and so that a tagged enum can hand over an object
/// it has begun to read.
pub(crate) trait WireObject: Sized {
    /// The fields seen so far.
    type Slots: Default;

    /// Takes the value of `key` if the type has such a field.
    fn accept<'de, A: MapAccess<'de>>(
        slots: &mut Self::Slots,
        key: &str,
        source: &mut Fields<'de, A>,
    ) -> Result<bool, A::Error>;

    /// Makes the object, or says which required field is missing.
    fn build<E: Error>(slots: Self::Slots, extra: Extra) -> Result<Self, E>;
}

/// What can be read from the fields of an object.
pub trait ReadFields: Sized {
    fn read_fields<'de, A: MapAccess<'de>>(fields: &mut Fields<'de, A>) -> Result<Self, A::Error>;
}

/// Whether this crate knows the kind of thing it has read.
pub trait Known {
    /// False for an object whose tag this crate has never heard of, or that is the envelope of
    /// such an object.
    fn is_known(&self) -> bool {
        true
    }
}

/// An enum of objects told apart by the value of one field.
pub trait WireTagged: ReadFields {
    const TAG: &'static str;

    fn read_variant<'de, A: MapAccess<'de>>(
        name: &str,
        fields: &mut Fields<'de, A>,
    ) -> Result<Self, A::Error>;
}

/// Writes the fields of an object into a map that may hold others already.
pub(crate) trait WriteFields {
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// Reads a [`WireObject`] from the fields of an object.
pub(crate) fn read_slots<'de, T: WireObject, A: MapAccess<'de>>(
    source: &mut Fields<'de, A>,
) -> Result<T, A::Error> {
    let mut slots = T::Slots::default();
    let mut extra = Extra::default();
    while let Some(key) = source.next_key()? {
        if !T::accept(&mut slots, &key, source)? {
            extra.push(&key, source.value(&key)?);
        }
    }
    T::build(slots, extra)
}

/// Reads a [`WireTagged`] from the fields of an object.
pub(crate) fn read_variant<'de, T: WireTagged, A: MapAccess<'de>>(
    fields: &mut Fields<'de, A>,
) -> Result<T, A::Error> {
    let name = fields.find_tag(T::TAG)?;
    T::read_variant(&name, fields)
}

/// Reads an object.
pub(crate) fn read_object<'de, T: ReadFields, D: Deserializer<'de>>(
    source: D,
    place: Place,
) -> Result<T, D::Error> {
    struct ObjectVisitor<T>(Place, PhantomData<T>);

    impl<'de, T: ReadFields> Visitor<'de> for ObjectVisitor<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::read_fields(&mut Fields::new(map, self.0))
        }
    }

    source.deserialize_map(ObjectVisitor(place.inside()?, PhantomData))
}

/// Reads an object whose tag is known already: one pass, wherever the tag stands.
///
/// The source must be one that can lend its text, as `serde_json` on a string can.
pub(crate) fn read_known_variant<'de, T: WireTagged, D: Deserializer<'de>>(
    name: &str,
    source: D,
) -> Result<T, D::Error> {
    struct VariantVisitor<'n, T>(&'n str, Place, PhantomData<T>);

    impl<'de, T: WireTagged> Visitor<'de> for VariantVisitor<'_, T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
            T::read_variant(self.0, &mut Fields::with_known_tag(map, self.1, T::TAG))
        }
    }

    let place = Place::OUTERMOST.lending().inside()?;
    source.deserialize_map(VariantVisitor(name, place, PhantomData))
}

/// Writes an object.
pub(crate) fn write_object<T: WriteFields, S: Serializer>(
    object: &T,
    sink: S,
) -> Result<S::Ok, S::Error> {
    let mut map = sink.serialize_map(None)?;
    object.write_fields(&mut map)?;
    map.end()
}

/// Reads a `T` where `serde` wants a seed.
pub(crate) struct Seed<T>(Place, PhantomData<T>);

impl<T> Seed<T> {
    pub(crate) fn at(place: Place) -> Self {
        Self(place, PhantomData)
    }
}

impl<'de, T: FromWire> DeserializeSeed<'de> for Seed<T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<T, D::Error> {
        T::from_wire(source, self.0)
    }
}
