//! `countersign audit`: who decided what.

use std::io::{BufWriter, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use countersign_server::api::view::ListAudit;
use countersign_server::client::Client;
use countersign_server::session::{Answer, By};
use countersign_server::store::AuditEntry;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::json;

use crate::failure::{Exit, Failure};
use crate::file::create_private;
use crate::output::Output;
use crate::remote::happening::said;
use crate::remote::told::told;
use crate::remote::{Remote, named, next, print};
use crate::run::view::line::{Line, Tone};
use crate::words::{count, one_line, short};

/// Show who decided what, when, from where and exactly how, newest first
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// About this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// About this approval
    #[arg(long, value_name = "APPROVAL")]
    approval: Option<String>,
    /// What was done, such as approval.answered
    #[arg(long)]
    kind: Option<String>,
    /// Not before this time, as 2026-11-18T08:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Before this time
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// At most so many
    #[arg(long, short = 'n', value_name = "NUMBER", default_value_t = 50)]
    limit: usize,
    /// Write all of it to this file, one JSON object a line
    #[arg(long, value_name = "FILE", conflicts_with = "limit")]
    export: Option<PathBuf>,
    /// Write over the file
    #[arg(long, requires = "export")]
    force: bool,
    #[command(flatten)]
    remote: Remote,
}

impl Args {
    pub(crate) fn run(self, output: &mut Output) -> Result<ExitCode, Failure> {
        self.remote.with(async |client| {
            let wanted = self.wanted(client).await?;
            match &self.export {
                Some(path) => self.export(client, wanted, path, output).await,
                None => self.list(client, wanted, output).await,
            }
        })?;
        Ok(ExitCode::SUCCESS)
    }

    async fn wanted(&self, client: &Client) -> Result<ListAudit, Failure> {
        // What was decided outlives a session, so a whole id is not asked for.
        let session = match self.session.as_deref().map(|text| (text, text.parse())) {
            Some((_, Ok(id))) => Some(id),
            Some((text, Err(_))) => Some(named::session(client, text).await?.head.id),
            None => None,
        };
        let approval = match self.approval.as_deref().map(|text| (text, text.parse())) {
            Some((_, Ok(id))) => Some(id),
            Some((text, Err(_))) => Some(named::approval(client, text).await?.id),
            None => None,
        };
        let (kind, since, until) = (self.kind.clone(), self.since, self.until);
        Ok(ListAudit { session, approval, kind, since, until, after: None, limit: None })
    }

    async fn list(
        &self,
        client: &Client,
        mut wanted: ListAudit,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let mut left = self.limit;
        while left > 0 {
            wanted.limit = Some(left.min(500));
            let page = client.audit(&wanted).await.map_err(told)?;
            for entry in page.items.iter().take(left) {
                if output.is_json() {
                    output.json(entry)?;
                } else {
                    print(&[line(entry)], output)?;
                }
            }
            left = left.saturating_sub(page.items.len());
            wanted.after = page.next;
            if wanted.after.is_none() {
                break;
            }
        }
        output.flush()?;
        if wanted.after.is_some() {
            next("there is more; --export FILE writes all of it", output);
        }
        Ok(())
    }

    async fn export(
        &self,
        client: &Client,
        wanted: ListAudit,
        path: &PathBuf,
        output: &mut Output,
    ) -> Result<(), Failure> {
        let failed = |error| {
            Failure::new(format!("cannot write {}: {error}", path.display())).code(Exit::Failed)
        };
        let mut export = client.export_audit(&wanted).await.map_err(told)?;
        let mut file = BufWriter::new(create_private(path, self.force)?);
        let writing = output.progress("writing the audit");
        let mut entries = 0;
        while let Some(entry) = export.next().await.map_err(told)? {
            serde_json::to_writer(&mut file, &entry)?;
            file.write_all(b"\n").map_err(failed)?;
            entries += 1;
        }
        file.flush().map_err(failed)?;
        file.get_ref().sync_all().map_err(failed)?;
        drop(writing);
        if output.is_json() {
            return output.json(&json!({"file": path, "entries": entries}));
        }
        let entries = count(entries, "entry is", "entries are");
        next(&format!("{entries} in {}", path.display()), output);
        Ok(())
    }
}

/// An entry on one line.
fn line(entry: &AuditEntry) -> Line {
    let session = entry.session.map(|id| format!("  {}", short(id.uuid()))).unwrap_or_default();
    let approval = entry.approval.map(|id| format!("  {}", short(id.uuid()))).unwrap_or_default();
    let from = match &entry.by {
        By::Person { from: Some(from), .. } => format!(" ({from})"),
        _ => String::new(),
    };
    Line::of(Tone::Dim, &entry.at.to_string())
        .and(Tone::Plain, &format!("  {}", entry.kind))
        .and(Tone::Accent, &format!("  {}{from}", entry.by.name()))
        .and(Tone::Dim, &format!("{session}{approval}"))
        .and(Tone::Plain, &format!("  {}", detail(entry)))
        .hanging(2)
}

/// What was decided, in words where there are some. `--json` has all of it.
fn detail(entry: &AuditEntry) -> String {
    #[derive(Deserialize)]
    struct Detail {
        what: Answered,
    }
    #[derive(Deserialize)]
    struct Answered {
        answer: Answer,
    }
    const LENGTH: usize = 200;
    match entry.detail.decode::<Detail>() {
        Ok(Detail { what: Answered { answer } }) => said(&answer),
        Err(_) => one_line(entry.detail.as_str(), LENGTH),
    }
}
