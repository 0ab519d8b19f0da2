//! Parking: a session that waits for a person without a process.
//!
//! A session that asks for one call can be ended while it waits: [`Session::park`] gives a
//! [`ParkingToken`] that can be kept anywhere for any time. [`SessionBuilder::resume_parked`]
//! starts the session again and gives the answer to exactly that call. A token can be had without
//! parking, too ([`SessionHandle::parking_tokens`]), in case the process does not live to be
//! parked.
//!
//! How: the transcript of a session says which call was put off, and the CLI asks for it again when
//! it resumes the session. That is not a documented format, so it is checked whether it does; when
//! it does not, and with versions that cannot do it (before 2.1.197), the model is told what was
//! decided, and may make the same call once without asking. [`Raised`] says which it was. Whoever
//! can write to the transcript could have the CLI ask for something else under the name of that call:
//! the answer is not given to that.
//!
//! [`Session::park`]: crate::Session::park
//! [`SessionBuilder::resume_parked`]: crate::SessionBuilder::resume_parked
//! [`SessionHandle::parking_tokens`]: crate::SessionHandle::parking_tokens

mod bring;
mod gate;
mod grant;
mod mark;
mod resume;
mod same;
mod scan;
mod tell;
mod token;

pub use self::mark::MarkError;
pub use self::resume::{Raised, ResumeError, Resumed};
pub use self::same::canonical_input;
pub use self::token::{ParkError, Parkable, ParkingToken};
