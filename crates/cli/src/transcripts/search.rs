//! `transcripts search`.

use countersign::transcript::{ListOptions, MessageOptions, SessionInfo, Sessions};
use jiff::Timestamp;
use serde_json::json;

use super::words::{info_json, parts};
use super::{Where, list};
use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::words::one_line;

/// Search what was said in sessions
///
/// Looks for the text in titles, in what people, the model and tools said, without regard to upper
/// and lower case. Sessions that were written last come first.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The text
    text: String,
    #[command(flatten)]
    place: Where,
    /// At most so many sessions
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
}

/// A place in a session where the text stands.
struct Hit {
    message: Option<String>,
    who: &'static str,
    text: String,
}

/// How many places of a session are shown.
const PLACES: usize = 3;

impl Args {
    pub(super) fn run(&self, output: &mut Output) -> Result<(), Failure> {
        let wanted = self.text.to_lowercase();
        if wanted.trim().is_empty() {
            return Err(Failure::new("there is nothing to search for").code(Exit::Usage));
        }
        let sessions = self.place.sessions()?;
        let all = sessions.list(&ListOptions::new())?;
        let searching = output.progress("searching").of(all.len());
        let (mut found, mut unreadable) = (0, 0);
        for info in &all {
            if found == self.limit {
                break;
            }
            match hits(&sessions, info, &wanted) {
                Ok(hits) if hits.is_empty() => {}
                Ok(hits) => {
                    found += 1;
                    searching.hidden(|| show(info, &hits, output))?;
                }
                Err(_) => unreadable += 1,
            }
            searching.done();
        }
        drop(searching);
        if unreadable > 0 {
            output.note(format_args!("{unreadable} sessions could not be read"));
        }
        if found == 0 {
            output.note(format_args!("no session says {:?}", self.text));
        }
        Ok(())
    }
}

fn hits(sessions: &Sessions, info: &SessionInfo, wanted: &str) -> Result<Vec<Hit>, Failure> {
    let mut hits = Vec::new();
    if let Some(title) = info.custom_title.as_ref().filter(|title| fits(title, wanted)) {
        hits.push(Hit { message: None, who: "title", text: title.clone() });
    }
    for message in sessions.messages(&info.session_id, &MessageOptions::new())? {
        let message = message?;
        for (who, text) in parts(&message) {
            if fits(&text, wanted) {
                let text = around(&text, wanted);
                hits.push(Hit { message: Some(message.uuid.as_str().to_owned()), who, text });
            }
        }
    }
    Ok(hits)
}

fn fits(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(wanted)
}

/// The line in which the text stands first.
fn around(text: &str, wanted: &str) -> String {
    text.lines().find(|line| fits(line, wanted)).unwrap_or(text).to_owned()
}

fn show(info: &SessionInfo, hits: &[Hit], output: &mut Output) -> Result<(), Failure> {
    const LENGTH: usize = 90;
    if output.is_json() {
        let hits: Vec<_> = hits
            .iter()
            .map(|hit| json!({"message": hit.message, "who": hit.who, "text": hit.text}))
            .collect();
        output.json(&json!({"session": info_json(info), "hits": hits}))?;
        return output.flush();
    }
    output.line(list::line(info, Timestamp::now()))?;
    for Hit { who, text, .. } in hits.iter().take(PLACES) {
        output.line(format_args!("    {who}: {}", one_line(text, LENGTH)))?;
    }
    if hits.len() > PLACES {
        output.line(format_args!("    and {} more", hits.len() - PLACES))?;
    }
    output.flush()
}
