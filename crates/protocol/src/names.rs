//! The two macros behind ids and open enums.

/// Makes a newtype over a string, so that one kind of id cannot stand in for another.
macro_rules! id {
    ($($(#[$meta:meta])* $name:ident;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Box<str>);

        impl $name {
            /// The id as it stands on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<T: Into<Box<str>>> From<T> for $name {
            fn from(id: T) -> Self {
                Self(id.into())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }

        impl crate::wire::FromWire for $name {
            fn from_wire<'de, D: serde::Deserializer<'de>>(
                source: D,
                place: crate::wire::Place,
            ) -> Result<Self, D::Error> {
                <String as crate::wire::FromWire>::from_wire(source, place).map(Self::from)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                crate::wire::FromWire::from_wire(source, crate::wire::Place::OUTERMOST)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
                sink.serialize_str(&self.0)
            }
        }
    )+};
}

/// Makes an enum of strings that keeps a member it does not know.
macro_rules! open_enum {
    ($($(#[$meta:meta])* $name:ident {
        $($(#[$variant_meta:meta])* $variant:ident = $text:literal,)+
    })+) => {$(
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_meta])* #[doc = concat!("\n\nOn the wire: `", $text, "`.")] $variant,)+
            /// A value that this crate does not know. Made with `From<&str>`, so that a value
            /// that is known never ends up here.
            #[non_exhaustive]
            Other(Box<str>),
        }

        impl $name {
            /// Every value that this crate knows, as it stands on the wire.
            pub const KNOWN: &'static [&'static str] = &[$($text),+];

            /// The value as it stands on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $text,)+
                    Self::Other(text) => text,
                }
            }

            /// Whether this crate knows the value.
            #[must_use]
            pub fn is_known(&self) -> bool {
                !matches!(self, Self::Other(_))
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                match text {
                    $($text => Self::$variant,)+
                    _ => Self::Other(text.into()),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl crate::wire::FromWire for $name {
            fn from_wire<'de, D: serde::Deserializer<'de>>(
                source: D,
                _: crate::wire::Place,
            ) -> Result<Self, D::Error> {
                let text = serde::de::DeserializeSeed::deserialize(crate::wire::Text, source)?;
                Ok(Self::from(&*text))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
                crate::wire::FromWire::from_wire(source, crate::wire::Place::OUTERMOST)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
                sink.serialize_str(self.as_str())
            }
        }
    )+};
}

pub(crate) use {id, open_enum};
