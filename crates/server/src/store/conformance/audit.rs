//! Who did what.

use super::sample::{allowed, closed, delivered, labels, person, raw, said};
use super::tester::{Reason, Tester, same, some};
use crate::access::Clock as _;
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{
    ApprovalEnd, ApprovalKind, By, CallOutcome, Happening, Labelled, ModelWanted, Refused, Renamed,
    StopAsked, ToolCalled, ToolDecided,
};
use crate::store::{AuditEntry, AuditFilter, Write};

/// All entries that fit, read in pages of two.
async fn read(tester: &Tester, filter: AuditFilter) -> Result<Vec<AuditEntry>, Reason> {
    let mut filter = AuditFilter { limit: 2, ..filter };
    let mut all = Vec::new();
    loop {
        let page = tester.store.audit(filter.clone()).await?;
        same("whether a page is as long as it may be", &true, &(page.items.len() <= 2))?;
        all.extend(page.items);
        let Some(next) = page.next else { return Ok(all) };
        filter.after = Some(next);
    }
}

async fn kinds(tester: &Tester, filter: AuditFilter) -> Result<Vec<String>, Reason> {
    Ok(read(tester, filter).await?.into_iter().map(|entry| entry.kind).collect())
}

pub(super) async fn decisions(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let (session, id) = (running.session, ApprovalId::new());
    let request =
        r#"{ "input": {"n": 12345678901234567890123, "half": "\ud800", "nul": "\u0000"} }"#;
    let mut asks = running.asks_for(id, ApprovalKind::Tool);
    asks.request = raw(request);
    tester.happen(session, vec![asks.into()]).await?;
    let answer = allowed(id);
    tester.happen(session, vec![answer.clone()]).await?;
    let answered_at = tester.time.last();
    tester.happen(session, vec![delivered(id), closed(id, ApprovalEnd::Done)]).await?;
    let filter = AuditFilter { approval: Some(id), ..AuditFilter::default() };
    let entries = read(tester, filter).await?;
    same("how many entries there are", &1, &entries.len())?;
    let entry = some("the entry", entries.into_iter().next())?;
    same("what it is about", &(Some(session), Some(id)), &(entry.session, entry.approval))?;
    let about = (answered_at, "approval.answered".to_owned());
    same("when and what", &about, &(entry.at, entry.kind))?;
    same("who", "Ada", entry.by.name())?;
    same("whether it has what was asked", &true, &entry.detail.as_str().contains(request))?;
    let body = answer.body().unwrap_or_default();
    same("whether it has the answer", &true, &entry.detail.as_str().contains(&body))
}

/// What nobody was asked about, and what people do beside answering.
pub(super) async fn unasked(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let (session, input) = (running.session, r#"{"command": "ls  -l", "n": 1.10}"#);
    let (tool_use_id, tool) = ("call".to_owned(), "Bash".to_owned());
    let called = ToolCalled {
        tool_use_id: tool_use_id.clone(),
        tool: tool.clone(),
        mode: None,
        agent: None,
        folder: None,
        input: Some(raw(input)),
    };
    let (outcome, by) = (CallOutcome::Ran, By::Rule { rule: "Bash(ls:*)".into() });
    let input = Some(raw(input));
    let decided = ToolDecided { tool_use_id, tool, agent: None, input, outcome, by: by.clone() };
    tester.happen(session, vec![called.into(), decided.clone().into()]).await?;
    let write = Write::to(session, vec![decided.clone().into()]);
    let again = tester.refused(write).await?;
    same("decided again", &Refused::NoCall("call".to_owned()), &again)?;
    let decided = Happening::from(decided).body().unwrap_or_default();
    let filter = AuditFilter { kind: Some("tool.decided".into()), ..AuditFilter::default() };
    let entries = read(tester, filter).await?;
    let exact: Vec<_> = entries.iter().map(|e| e.detail.as_str().contains(&decided)).collect();
    same("whether it is there once and exactly", &vec![true], &exact)?;
    same("what decided", &Some(&by), &entries.first().map(|entry| &entry.by))?;
    let long = "word ".repeat(1000);
    tester
        .happen(
            session,
            vec![
                Renamed { title: "b".into(), by: person() }.into(),
                Labelled { labels: labels(&["l"]), by: person() }.into(),
                ModelWanted { model: None, by: person() }.into(),
                said(MessageId::new(), &long),
            ],
        )
        .await?;
    let filter = AuditFilter { session: Some(session), ..AuditFilter::default() };
    let entries = read(tester, filter).await?;
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind.as_str()).take(4).collect();
    let expected = ["message.queued", "model.wanted", "session.labelled", "session.renamed"];
    same("what people did", &expected.to_vec(), &kinds)?;
    let detail = entries.first().map_or(usize::MAX, |entry| entry.detail.as_str().len());
    same("whether a long text is short in the audit", &true, &(detail < 1000))
}

pub(super) async fn forgotten(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("audited").await?;
    let between = tester.time.now();
    tester.happen(session, vec![StopAsked { by: person() }.into()]).await?;
    same("how many are forgotten", &1, &tester.store.forget_audit(between).await?)?;
    same("how many are forgotten then", &0, &tester.store.forget_audit(between).await?)?;
    let left = kinds(tester, AuditFilter::default()).await?;
    same("what is left", &vec!["session.stop_asked".to_owned()], &left)?;
    let events = tester.store.events(session, 0, 10).await?;
    same("how many events there still are", &2, &events.len())
}

pub(super) async fn listed(tester: &Tester) -> Result<(), Reason> {
    let session = tester.create("audited").await?;
    let stop = || vec![StopAsked { by: person() }.into()];
    tester.happen(session, stop()).await?;
    let between = tester.time.now();
    let other = tester.create("another").await?;
    tester.happen(session, stop()).await?;
    let note = AuditEntry {
        at: "2020-02-02T02:02:02.123456789Z".parse().unwrap_or_default(),
        kind: "token.created".into(),
        session: None,
        approval: None,
        by: By::Server,
        detail: raw(r#"{ "name": "\u0000", "n": 1.10 }"#),
    };
    tester.store.note_in_audit(note.clone()).await?;
    let filter = AuditFilter::default;
    let (made, stopped, noted) = ("session.created", "session.stop_asked", "token.created");
    let all = [noted, stopped, made, stopped, made].map(str::to_owned).to_vec();
    same("all", &all, &kinds(tester, filter()).await?)?;
    same("the first", &Some(note), &read(tester, filter()).await?.into_iter().next())?;
    let checks = [
        (AuditFilter { session: Some(session), ..filter() }, vec![stopped, stopped, made]),
        (AuditFilter { session: Some(other), ..filter() }, vec![made]),
        (AuditFilter { session: Some(SessionId::new()), ..filter() }, vec![]),
        (AuditFilter { approval: Some(ApprovalId::new()), ..filter() }, vec![]),
        (AuditFilter { kind: Some(made.into()), ..filter() }, vec![made, made]),
        (AuditFilter { kind: Some("' OR TRUE --\0".into()), ..filter() }, vec![]),
        (AuditFilter { since: Some(between), ..filter() }, vec![stopped, made]),
        (AuditFilter { until: Some(between), ..filter() }, vec![noted, stopped, made]),
        (
            AuditFilter {
                session: Some(session),
                kind: Some(stopped.into()),
                since: Some(between),
                ..filter()
            },
            vec![stopped],
        ),
    ];
    for (filter, expected) in checks {
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        same("those that fit", &expected, &kinds(tester, filter).await?)?;
    }
    Ok(())
}
