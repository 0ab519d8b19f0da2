//! Durations and sizes, as people write them.

/// Durations such as `10s`, `2m` and `1h30m`.
pub(crate) mod duration {
    use std::time::Duration;

    use serde::de::Error;
    use serde::{Deserialize as _, Deserializer, Serializer};

    /// Units with their length in milliseconds, the longest first.
    const UNITS: [(&str, u64); 5] =
        [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

    /// Reads a duration; nothing for text that is not one.
    pub(crate) fn parse(text: &str) -> Option<Duration> {
        let mut rest = text.trim();
        let mut total: Option<u64> = None;
        while !rest.is_empty() {
            let (number, after) = super::split(rest, |byte| byte.is_ascii_digit());
            let (unit, after) = super::split(after, |byte| byte.is_ascii_alphabetic());
            let (_, length) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
            let part = number.parse::<u64>().ok()?.checked_mul(length)?;
            total = Some(part.checked_add(total.unwrap_or(0))?);
            rest = after.trim_start();
        }
        total.map(Duration::from_millis)
    }

    /// The text that [`parse`] reads as this duration, to the millisecond.
    pub(crate) fn text(duration: Duration) -> String {
        let mut rest = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        if rest == 0 {
            return "0s".to_owned();
        }
        let mut text = String::new();
        for (unit, length) in UNITS {
            if rest >= length {
                text.push_str(&(rest / length).to_string());
                text.push_str(unit);
                rest %= length;
            }
        }
        text
    }

    fn wrong<E: Error>(text: &str) -> E {
        E::custom(format_args!(
            "`{text}` is not a duration; write numbers with ms, s, m, h or d, as in \"2m\" or \"1h30m\""
        ))
    }

    pub(crate) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&text(*value))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| wrong(&text))
    }

    /// Durations that can also be `off`.
    pub(crate) mod or_off {
        use std::time::Duration;

        use serde::{Deserialize as _, Deserializer, Serializer};

        #[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
        pub(crate) fn serialize<S: Serializer>(
            value: &Option<Duration>,
            to: S,
        ) -> Result<S::Ok, S::Error> {
            match value {
                Some(value) => super::serialize(value, to),
                None => to.serialize_str("off"),
            }
        }

        pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
            from: D,
        ) -> Result<Option<Duration>, D::Error> {
            let text = String::deserialize(from)?;
            if text == "off" {
                return Ok(None);
            }
            super::parse(&text).map(Some).ok_or_else(|| super::wrong(&text))
        }
    }
}

/// Sizes such as `32MiB`, `512KiB` and `4096`.
pub(crate) mod size {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    const UNITS: [(&str, usize); 4] =
        [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("", 1)];

    /// Reads a number of bytes; nothing for text that is none.
    pub(crate) fn parse(text: &str) -> Option<usize> {
        let (number, unit) = super::split(text.trim(), |byte| byte.is_ascii_digit());
        let (_, length) = UNITS.into_iter().find(|(name, _)| *name == unit.trim())?;
        number.parse::<usize>().ok()?.checked_mul(length)
    }

    /// The text that [`parse`] reads as this number.
    pub(crate) fn text(size: usize) -> String {
        let (unit, length) = UNITS
            .into_iter()
            .find(|(_, length)| size > 0 && size.is_multiple_of(*length))
            .unwrap_or(("", 1));
        format!("{}{unit}", size / length)
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference to the field")]
    pub(crate) fn serialize<S: Serializer>(value: &usize, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&text(*value))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<usize, D::Error> {
        let text = String::deserialize(from)?;
        parse(&text).ok_or_else(|| {
            D::Error::custom(format_args!(
                "`{text}` is not a size; write a number with KiB, MiB or GiB, as in \"32MiB\""
            ))
        })
    }
}

/// What belongs at the front of the text, and the rest.
fn split(text: &str, belongs: impl Fn(u8) -> bool) -> (&str, &str) {
    let end = text.bytes().position(|byte| !belongs(byte)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{duration, size};

    #[test]
    fn durations_are_sums_of_numbers_with_units() {
        for (text, milliseconds) in [
            ("2m", 120_000),
            ("10s", 10_000),
            ("1h30m", 5_400_000),
            ("1h 30m", 5_400_000),
            ("250ms", 250),
            ("30d", 2_592_000_000),
            ("0s", 0),
        ] {
            assert_eq!(duration::parse(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused() {
        for text in
            ["", " ", "10", "m", "2 m", "-1s", "1.5h", "2M", "1y", "é", "99999999999999999999s"]
        {
            assert_eq!(duration::parse(text), None, "{text}");
        }
        // Too many milliseconds to count.
        assert_eq!(duration::parse("999999999999999999d"), None);
    }

    #[test]
    fn a_duration_is_written_as_it_is_read() {
        for text in ["2m", "1h30m", "250ms", "30d", "0s", "1d1s"] {
            assert_eq!(duration::text(duration::parse(text).unwrap()), text);
        }
    }

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        for (text, bytes) in
            [("32MiB", 32 << 20), ("1 KiB", 1024), ("4097", 4097), ("2GiB", 2 << 30)]
        {
            assert_eq!(size::parse(text), Some(bytes), "{text}");
            assert_eq!(size::parse(&size::text(bytes)), Some(bytes));
        }
        for text in ["", "MiB", "1.5MiB", "32MB", "32mib", "-1", "é"] {
            assert_eq!(size::parse(text), None, "{text}");
        }
        assert_eq!(size::text(32 << 20), "32MiB");
        assert_eq!(size::text(0), "0");
    }
}
