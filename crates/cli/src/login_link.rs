//! `countersign login-link`: lets a browser in.

use std::io::Write as _;
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use serde_json::json;
use tempfile::NamedTempFile;
use tokio::process::Command;

use crate::failure::Failure;
use crate::output::{Output, plain};
use crate::remote::told::told;
use crate::remote::{Remote, next};

/// Make a link that lets one browser in, once, with the rights of the token
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Open it in a browser, in the place of printing it
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| {
            let link = client.create_login_link().await.map_err(told)?;
            let (url, until) = (link.url.expose(), link.expires_at);
            if self.open {
                let page = page(url)?;
                open(page.path()).await?;
                // The browser may read it a moment after it was told to.
                tokio::time::sleep(KEPT).await;
                next("the browser is told to open the page", output);
                if output.is_json() {
                    output.json(&json!({"opened": true, "expires_at": until}))?;
                }
                return Ok(());
            }
            if output.is_json() {
                return output.json(&json!({"url": url, "expires_at": until}));
            }
            output.line(plain(url))?;
            output.flush()?;
            next(&format!("it lets one browser in, once, until {until}"), output);
            Ok(())
        })?;
        Ok(ExitCode::SUCCESS)
    }
}

/// How long the page is kept for a browser.
const KEPT: Duration = Duration::from_secs(3);

/// A page that sends the browser on, in a file that only its owner can read: what is on a command line,
/// all users of the machine can read.
fn page(url: &str) -> Result<NamedTempFile, Failure> {
    let url = url.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;");
    let mut page = tempfile::Builder::new().prefix("countersign-").suffix(".html").tempfile()?;
    writeln!(
        page,
        "<!DOCTYPE html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">\
         <meta http-equiv=\"refresh\" content=\"0;url={url}\"><a href=\"{url}\">Countersign</a>"
    )?;
    page.flush()?;
    Ok(page)
}

/// Has the desktop open a page.
#[expect(
    clippy::disallowed_methods,
    reason = "the program only tells a browser, and is waited for"
)]
async fn open(page: &Path) -> Result<(), Failure> {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let mut command = Command::new(program);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let failed = |why: String| {
        Failure::new(format!("{program} does not open a browser: {why}"))
            .hint("Without --open the link is printed, to be opened by hand.")
    };
    let status = command.status().await.map_err(|error| failed(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(failed(format!("it ended with {status}"))) }
}
