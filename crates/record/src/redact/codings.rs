//! A value as other programs write it down: in base64, and with the escapes of URLs.
//!
//! Nobody can tell from base64 alone that a secret is in it. But once a value is known it can be
//! looked for in these forms as well.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};

/// A longer value is not looked for in other codings: it is a whole private key, or a cookie jar.
const MAX_LENGTH: usize = 1024;

const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, NO_PAD);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, NO_PAD);

/// The other forms of a value, each of them once.
pub(super) fn codings(value: &[u8]) -> Vec<Vec<u8>> {
    if value.len() > MAX_LENGTH {
        return Vec::new();
    }
    let mut forms: Vec<Vec<u8>> = Vec::new();
    for upper in [true, false] {
        for kept in [&b""[..], b"/"] {
            forms.push(url_escaped(value, kept, upper));
        }
    }
    for engine in [&STANDARD, &URL_SAFE] {
        forms.extend((0..3).map(|before| in_base64(engine, value, before)));
    }
    forms.sort_unstable();
    forms.dedup();
    forms.retain(|form| form != value && !form.is_empty());
    forms
}

/// The value as part of a URL. Some leave slashes as they are, and some write small digits.
fn url_escaped(value: &[u8], kept: &[u8], upper: bool) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(value.len());
    for byte in value {
        let plain = byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~')
            || kept.contains(byte);
        if plain {
            escaped.push(*byte);
        } else {
            let code = if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") };
            escaped.extend_from_slice(code.as_bytes());
        }
    }
    escaped
}

/// What base64 makes of the value for certain, where `before` bytes more than a multiple of three
/// stand before it. The characters that it shares with its neighbours are not part of this.
fn in_base64(engine: &GeneralPurpose, value: &[u8], before: usize) -> Vec<u8> {
    let mut text = vec![0; before];
    text.extend_from_slice(value);
    let mut coded = engine.encode(&text).into_bytes();
    if !text.len().is_multiple_of(3) {
        coded.pop();
    }
    let shared = if before == 0 { 0 } else { before + 1 };
    coded.split_off(shared.min(coded.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_in_base64_whatever_stands_around_it() {
        let value = b"h?nter\xff22>";
        let forms = codings(value);
        for (before, after) in (0..5).flat_map(|before| (0..5).map(move |after| (before, after))) {
            let text = [vec![b'a'; before], value.to_vec(), vec![b'z'; after]].concat();
            for engine in [&STANDARD, &URL_SAFE] {
                let coded = engine.encode(&text).into_bytes();
                let is_in =
                    |form: &Vec<u8>| coded.windows(form.len()).any(|part| part == form.as_slice());
                assert!(forms.iter().any(is_in), "{before} {after}");
            }
        }
    }

    #[test]
    fn a_value_has_the_escapes_of_urls() {
        let forms = codings(b"p@s/w");
        for form in [&b"p%40s%2Fw"[..], b"p%40s%2fw", b"p%40s/w"] {
            assert!(forms.iter().any(|found| found == form));
        }
        // Without anything to escape it is the value itself, which is looked for anyway.
        assert!(!codings(b"hunter22").contains(&b"hunter22".to_vec()));
    }
}
