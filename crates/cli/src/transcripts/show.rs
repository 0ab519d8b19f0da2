//! `transcripts show`.

use anstyle::{AnsiColor, Style};
use countersign::transcript::{MessageOptions, Sessions, StoredMessage};
use jiff::Timestamp;

use super::words::{info_json, parts};
use super::{list, named};
use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::words::one_line;

/// Show the conversation of a session
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session: its id, the beginning of it, or `latest`
    session: String,
    /// Tool calls, results and thoughts whole, not on one line
    #[arg(long)]
    full: bool,
    /// At most so many messages, from the beginning
    #[arg(long, short = 'n', value_name = "NUMBER")]
    limit: Option<usize>,
}

impl Args {
    pub(super) fn run(&self, output: &mut Output) -> Result<(), Failure> {
        let info = named(&self.session)?;
        let mut options = MessageOptions::new().with_system_messages();
        if let Some(limit) = self.limit {
            options = options.limit(limit);
        }
        let messages = Sessions::of_user()?.messages(&info.session_id, &options)?;
        if output.is_json() {
            output.json(&info_json(&info))?;
            for message in messages {
                // The line of the transcript, as it is.
                output.line(message?.raw.as_str())?;
            }
            return Ok(());
        }
        output.line(list::line(&info, Timestamp::now()))?;
        for message in messages {
            self.show(&message?, output)?;
        }
        Ok(())
    }

    fn show(&self, message: &StoredMessage, output: &mut Output) -> Result<(), Failure> {
        const LENGTH: usize = 100;
        for (who, text) in parts(message) {
            let spoken = matches!(who, "you" | "claude");
            let style = match who {
                "you" => AnsiColor::Green.on_default().bold(),
                "claude" => AnsiColor::Cyan.on_default().bold(),
                "error" => AnsiColor::Red.on_default(),
                _ => Style::new().dimmed(),
            };
            if spoken || self.full {
                output.line(format_args!("\n{style}{who}{style:#}\n{}", plain(text.trim_end())))?;
            } else {
                output
                    .line(format_args!("  {style}{who}  {}{style:#}", one_line(&text, LENGTH)))?;
            }
        }
        Ok(())
    }
}
