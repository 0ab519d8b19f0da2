//! How a receiver knows that a request is ours and was not changed on the way.
//!
//! Every request has the header `Countersign-Signature: t=<time>,v1=<signature>`. The time is that of
//! this request, in seconds since 1970; the signature is the HMAC-SHA256 of `<time>.<body>` with the
//! secret of the webhook, in hexadecimal digits. The time is part of what is signed, so a receiver
//! that takes nothing old cannot be given the same request again by somebody who has overheard it.

use std::time::Duration;

use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::{SignedDuration, Timestamp};
use sha2::Sha256;
use thiserror::Error;

/// The name of the header.
pub const SIGNATURE: &str = "countersign-signature";

/// How old a request may be, or how much of the future, for a receiver who has no opinion of it.
pub const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// Why a request is not to be believed.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadSignature {
    /// The header cannot be read.
    #[error("the signature has to be `t=<seconds since 1970>,v1=<64 hexadecimal digits>`")]
    Malformed,
    /// It was signed at another time.
    #[error("the request was signed at another time; is the clock right?")]
    Time,
    /// It was not signed with this secret, or was changed.
    #[error("the request was not signed with this secret, or was changed")]
    Wrong,
}

/// The value of the header for a body that is sent now.
#[must_use]
pub fn sign(secret: &str, now: Timestamp, body: &[u8]) -> String {
    let time = now.as_second();
    let Some(mac) = mac(secret, time, body) else { return String::new() };
    let digits: String =
        mac.finalize().into_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("t={time},v1={digits}")
}

/// Looks whether a request is ours: its header `Countersign-Signature` and its body, byte for byte as
/// it came. Gives the time at which it was signed.
///
/// There may be several signatures, of which one has to fit: so a secret can be changed.
///
/// ```
/// use countersign_server::webhook::{TOLERANCE, sign, verify};
///
/// let (secret, body) = ("0123456789abcdef", br#"{"type":"session.failed"}"#);
/// let now = "2026-11-18T08:00:00Z".parse()?;
/// let header = sign(secret, now, body);
/// verify(secret, &header, body, now, TOLERANCE)?;
/// assert!(verify(secret, &header, b"{}", now, TOLERANCE).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// It is not.
pub fn verify(
    secret: &str,
    header: &str,
    body: &[u8],
    now: Timestamp,
    tolerance: Duration,
) -> Result<Timestamp, BadSignature> {
    let (mut time, mut signatures) = (None, Vec::new());
    for part in header.split(',') {
        match part.trim().split_once('=').ok_or(BadSignature::Malformed)? {
            ("t", _) if time.is_some() => return Err(BadSignature::Malformed),
            ("t", digits) => time = Some(digits.parse().map_err(|_| BadSignature::Malformed)?),
            ("v1", digits) => signatures.push(bytes(digits).ok_or(BadSignature::Malformed)?),
            // A way to sign that is to come.
            _ => {}
        }
    }
    let time: i64 = time.ok_or(BadSignature::Malformed)?;
    let signed_at = Timestamp::from_second(time).map_err(|_| BadSignature::Malformed)?;
    if signatures.is_empty() {
        return Err(BadSignature::Malformed);
    }
    let fits = signatures.iter().any(|signature| {
        // Compared in a time that does not depend on where they differ.
        mac(secret, time, body).is_some_and(|mac| mac.verify_slice(signature).is_ok())
    });
    if !fits {
        return Err(BadSignature::Wrong);
    }
    let tolerance = SignedDuration::try_from(tolerance).unwrap_or(SignedDuration::MAX);
    if now.duration_since(signed_at).abs() > tolerance {
        return Err(BadSignature::Time);
    }
    Ok(signed_at)
}

fn mac(secret: &str, time: i64, body: &[u8]) -> Option<Hmac<Sha256>> {
    // A key of this kind may be of any length, so there is one.
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
    mac.update(format!("{time}.").as_bytes());
    mac.update(body);
    Some(mac)
}

/// The bytes of a signature.
fn bytes(digits: &str) -> Option<[u8; 32]> {
    let digits = digits.as_bytes();
    let mut bytes = [0; 32];
    if digits.len() != 2 * bytes.len() {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        let digit =
            |digit: &u8| char::from(*digit).to_digit(16).and_then(|it| u8::try_from(it).ok());
        let [high, low] = pair else { return None };
        *byte = digit(high)? << 4 | digit(low)?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use jiff::{SignedDuration, Timestamp};

    use super::{BadSignature, TOLERANCE, sign, verify};

    const SECRET: &str = "0123456789abcdef";
    const BODY: &[u8] = "{\"title\":\"é\"}".as_bytes();

    fn now() -> Timestamp {
        "2026-11-18T08:00:00.9Z".parse().unwrap()
    }

    #[test]
    fn a_signature_is_what_others_make_it_too() {
        // printf '%s.%s' 1794988800 '{"title":"é"}' | openssl dgst -sha256 -hmac 0123456789abcdef
        let digits = "fb7bf74b54fcdcf4f8c0888cb7950306b296c8980512f65b244cc6fcded399dd";
        assert_eq!(sign(SECRET, now(), BODY), format!("t=1794988800,v1={digits}"));
    }

    #[test]
    fn only_the_same_body_secret_and_time_are_taken() {
        let header = sign(SECRET, now(), BODY);
        let check = |secret, header: &str, body, now| verify(secret, header, body, now, TOLERANCE);
        assert_eq!(check(SECRET, &header, BODY, now()).unwrap().as_second(), now().as_second());
        assert_eq!(check("0123456789abcdeF", &header, BODY, now()), Err(BadSignature::Wrong));
        assert_eq!(check(SECRET, &header, b"{}", now()), Err(BadSignature::Wrong));
        let later = header.replace("t=1794988800", "t=1794988801");
        assert_eq!(check(SECRET, &later, BODY, now()), Err(BadSignature::Wrong));
        for (seconds, good) in [(0, true), (299, true), (301, false), (-299, true), (-301, false)] {
            let now = now() + SignedDuration::from_secs(seconds);
            assert_eq!(check(SECRET, &header, BODY, now).is_ok(), good, "{seconds}");
        }
        assert!(verify(SECRET, &header, BODY, Timestamp::MAX, Duration::MAX).is_ok());
    }

    #[test]
    fn one_of_several_signatures_is_enough() {
        let (new, old) = (sign(SECRET, now(), BODY), sign("fedcba9876543210", now(), BODY));
        let (_, old) = old.split_once(',').unwrap();
        let both = format!("{new}, {old}, v2=something");
        for secret in [SECRET, "fedcba9876543210"] {
            assert!(verify(secret, &both, BODY, now(), TOLERANCE).is_ok());
        }
    }

    #[test]
    fn what_is_no_signature_is_refused() {
        let good = sign(SECRET, now(), BODY);
        let (time, signature) = good.split_once(',').unwrap();
        for bad in [
            "",
            ",",
            "v1",
            time,
            signature,
            &format!("t=x,{signature}"),
            &format!("t=99999999999999999,{signature}"),
            &format!("{time},{time},{signature}"),
            &format!("{time},v1="),
            &format!("{time},{signature}0"),
            &format!("{time},v1={}", "é".repeat(32)),
        ] {
            let refused = verify(SECRET, bad, BODY, now(), TOLERANCE);
            assert_eq!(refused, Err(BadSignature::Malformed), "{bad:?}");
        }
    }
}
