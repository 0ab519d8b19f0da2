//! `transcripts list`.

use anstyle::{AnsiColor, Style};
use countersign::transcript::{ListOptions, SessionInfo};
use jiff::Timestamp;

use super::Where;
use super::words::info_json;
use crate::failure::Failure;
use crate::output::Output;
use crate::words::{ago, one_line};

/// List sessions, those that were written last first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    place: Where,
    /// At most so many
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    /// Without those that a program started
    #[arg(long)]
    by_hand: bool,
    /// Also those in the archive
    #[arg(long)]
    archived: bool,
}

impl Args {
    pub(super) fn run(&self, output: &mut Output) -> Result<(), Failure> {
        let sessions = self.place.sessions()?;
        let mut options = ListOptions::new();
        if self.by_hand {
            options = options.without_programmatic();
        }
        let looking = output.progress("looking through the sessions");
        let all = sessions.list(&options)?;
        drop(looking);
        let shown: Vec<_> =
            all.into_iter().filter(|info| self.archived || !info.archived).collect();
        if shown.is_empty() {
            output.note(self.place.none(&sessions));
        }
        let now = Timestamp::now();
        for info in shown.iter().take(self.limit) {
            if output.is_json() {
                output.json(&info_json(info))?;
            } else {
                output.line(line(info, now))?;
            }
        }
        if shown.len() > self.limit && !output.is_json() {
            let more = shown.len() - self.limit;
            output.note(format_args!("{more} more; -n {} shows them", shown.len()));
        }
        Ok(())
    }
}

/// A session on two lines: what it is about, and where it was.
pub(super) fn line(info: &SessionInfo, now: Timestamp) -> String {
    const LENGTH: usize = 90;
    let (id, dim) = (AnsiColor::Cyan.on_default(), Style::new().dimmed());
    let (when, summary) = (ago(info.last_modified, now), one_line(&info.summary, LENGTH));
    let folder = info.cwd.as_ref().map(|cwd| one_line(&cwd.to_string_lossy(), LENGTH));
    let branch = info.git_branch.as_deref().map(|branch| one_line(branch, LENGTH));
    let tag = info.tag.as_deref().map(|tag| format!("#{}", one_line(tag, LENGTH)));
    let archived = info.archived.then(|| "archived".to_owned());
    let parts = [Some(when), folder, branch, tag, archived];
    let details = parts.into_iter().flatten().collect::<Vec<_>>().join("  ");
    format!("{id}{}{id:#}  {summary}\n    {dim}{details}{dim:#}", info.session_id)
}
