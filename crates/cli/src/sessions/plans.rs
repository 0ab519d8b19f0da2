//! `sessions plans`.

use countersign_server::api::view::PlanRound;
use countersign_server::client::Client;
use countersign_server::session::Stage;

use crate::failure::Failure;
use crate::output::Output;
use crate::remote::happening::said;
use crate::remote::told::told;
use crate::remote::{named, next, print};
use crate::run::view::line::{Line, Tone};
use crate::run::view::markdown::Markdown;
use crate::words::short;

/// Show the plans of a session, round by round
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The session: its id, the beginning or the end of it, or `latest`
    session: String,
    /// Of later rounds, what changed since the one before
    #[arg(long)]
    diff: bool,
}

impl Args {
    pub(super) async fn run(&self, client: &Client, output: &mut Output) -> Result<(), Failure> {
        let id = named::session(client, &self.session).await?.head.id;
        let rounds = client.plans(id).await.map_err(told)?;
        for round in &rounds {
            if output.is_json() {
                output.json(round)?;
            } else {
                print(&self.lines(round), output)?;
            }
        }
        output.flush()?;
        if rounds.is_empty() {
            next("no plan was made in it", output);
        }
        Ok(())
    }

    fn lines(&self, round: &PlanRound) -> Vec<Line> {
        let approval = short(round.approval.uuid());
        let title = format!("Round {}", round.round);
        let about = format!("  {}  {}  {approval}", round.at, round.stage.name());
        let mut shown = vec![Line::of(Tone::Bold, &title).and(Tone::Dim, &about)];
        match round.diff.as_ref().filter(|_| self.diff) {
            Some(diff) => shown.extend(diff.lines().map(|line| {
                let tone = match line.chars().next() {
                    Some('+') => Tone::Added,
                    Some('-') => Tone::Removed,
                    Some('@') => Tone::Dim,
                    _ => Tone::Plain,
                };
                Line::of(tone, line).indented(2)
            })),
            None => {
                let plan = Markdown::text(&round.plan);
                shown.extend(plan.into_iter().map(|line| line.indented(2)));
            }
        }
        match &round.answer {
            Some(answer) => shown.push(Line::of(Tone::Good, &format!("⇒ {}", said(answer)))),
            None if round.stage == Stage::Open => {
                let command = format!("countersign answer {approval} --plan accept-edits");
                shown.push(Line::of(Tone::Code, &command));
            }
            None => {}
        }
        shown
    }
}
