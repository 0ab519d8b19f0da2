//! Durations, as a script writes them.

use std::time::Duration;

/// The units of a duration, in seconds. `ms` goes before `m` and `s`, which it ends with.
const UNITS: [(&str, f64); 3] = [("ms", 0.001), ("s", 1.0), ("m", 60.0)];
/// Nobody waits longer than this for a script.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// What a duration looks like.
pub(super) const DURATION: &str = "a duration such as \"20ms\", \"1.5s\" or \"2m\"";

/// Reads a duration such as `20ms`, `1.5s` or `2m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let found = UNITS.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (number, factor) =
        found.ok_or_else(|| format!("{text:?} has no unit; expected {DURATION}"))?;
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let number: Option<f64> = if plain { number.parse().ok() } else { None };
    let number =
        number.ok_or_else(|| format!("{text:?} is not a duration; expected {DURATION}"))?;
    let duration = Duration::try_from_secs_f64(number * factor).ok();
    match duration {
        // Whole microseconds, so that 0.001 seconds are what one expects.
        Some(duration) if duration <= LONGEST => Ok(Duration::from_micros(
            u64::try_from((duration.as_nanos() + 500) / 1000).unwrap_or(0),
        )),
        _ => Err(format!("{text:?} is longer than a day; expected {DURATION}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_number_and_a_unit() {
        let good = [("20ms", 20), ("1.5s", 1500), ("0s", 0), ("2m", 120_000), ("0.001s", 1)];
        for (text, milliseconds) in good {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "20", "-1s", "1e9s", "1 s", "1h", "nans", "1.2.3s", "1441m", "²s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
