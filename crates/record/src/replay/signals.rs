//! The signals that the client sends.

use std::io;
use std::time::Duration;

use signal_hook::iterator::Signals;

use super::inbox::Inbox;
use super::player::ENDING;

/// How long a signal may be left alone. After this the player does not read the signals because
/// the client does not read the output; then it ends like any other program.
const PATIENCE: Duration = Duration::from_secs(5);

/// Puts signals into the inbox instead of ending the process.
pub(crate) fn catch(inbox: &Inbox) -> io::Result<()> {
    let mut signals = Signals::new(ENDING)?;
    let inbox = inbox.clone();
    let work = move || {
        for number in signals.forever() {
            inbox.signal(number);
            if !inbox.is_attended(PATIENCE) {
                drop(signal_hook::low_level::emulate_default_handler(number));
            }
        }
    };
    std::thread::Builder::new().name("signals".into()).spawn(work).map(drop)
}
