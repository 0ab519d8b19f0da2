//! Numbers of which JavaScript does not say what they are.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, Visitor};
use serde::ser::{Serialize, Serializer};

use super::{FromWire, Place};

/// A JSON number: a whole one stays whole, a fraction stays a fraction.
///
/// A whole number beyond 64 bits is read as the nearest float, as JavaScript reads it.
///
/// JavaScript has one kind of number, so a duration is `599` in one version of the CLI and
/// `599.389474778129` in the next. A field that may be either is a `Num`.
///
/// ```
/// use countersign_protocol::Num;
///
/// let cost: Num = serde_json::from_str("0.1234")?;
/// assert_eq!(cost.as_f64(), 0.1234);
/// assert_eq!(Num::from(5u64).as_u64(), Some(5));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq)]
pub struct Num(Repr);

#[derive(Clone, Copy, PartialEq)]
enum Repr {
    Unsigned(u64),
    Negative(i64),
    Float(f64),
}

impl Num {
    /// The nearest floating-point number.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "the nearest is what is asked for")]
        match self.0 {
            Repr::Unsigned(value) => value as f64,
            Repr::Negative(value) => value as f64,
            Repr::Float(value) => value,
        }
    }

    /// The value, if it is a whole number that is not negative and was written as one.
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        match self.0 {
            Repr::Unsigned(value) => Some(value),
            Repr::Negative(_) | Repr::Float(_) => None,
        }
    }

    /// A number from a float; infinities and NaN do not exist on the wire.
    #[must_use]
    pub fn from_f64(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self(Repr::Float(value)))
    }
}

impl From<u64> for Num {
    fn from(value: u64) -> Self {
        Self(Repr::Unsigned(value))
    }
}

impl From<u32> for Num {
    fn from(value: u32) -> Self {
        Self(Repr::Unsigned(value.into()))
    }
}

impl From<i32> for Num {
    fn from(value: i32) -> Self {
        Self::from(i64::from(value))
    }
}

impl From<i64> for Num {
    fn from(value: i64) -> Self {
        match u64::try_from(value) {
            Ok(value) => Self(Repr::Unsigned(value)),
            Err(_) => Self(Repr::Negative(value)),
        }
    }
}

impl fmt::Debug for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Repr::Unsigned(value) => fmt::Display::fmt(&value, f),
            Repr::Negative(value) => fmt::Display::fmt(&value, f),
            Repr::Float(value) => fmt::Display::fmt(&value, f),
        }
    }
}

impl FromWire for Num {
    fn from_wire<'de, D: Deserializer<'de>>(source: D, _: Place) -> Result<Self, D::Error> {
        struct NumVisitor;

        impl Visitor<'_> for NumVisitor {
            type Value = Num;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number")
            }

            fn visit_u64<E: Error>(self, value: u64) -> Result<Num, E> {
                Ok(Num(Repr::Unsigned(value)))
            }

            fn visit_i64<E: Error>(self, value: i64) -> Result<Num, E> {
                Ok(Num::from(value))
            }

            fn visit_f64<E: Error>(self, value: f64) -> Result<Num, E> {
                Ok(Num(Repr::Float(value)))
            }
        }

        source.deserialize_f64(NumVisitor)
    }
}

impl<'de> Deserialize<'de> for Num {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        Self::from_wire(source, Place::OUTERMOST)
    }
}

impl Serialize for Num {
    fn serialize<S: Serializer>(&self, sink: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Repr::Unsigned(value) => sink.serialize_u64(value),
            Repr::Negative(value) => sink.serialize_i64(value),
            Repr::Float(value) => sink.serialize_f64(value),
        }
    }
}
