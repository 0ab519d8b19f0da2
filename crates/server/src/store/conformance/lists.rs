//! Lists of sessions.

use jiff::SignedDuration;

use super::sample::{self, Running, created, noted, person, said};
use super::tester::{Reason, Tester, same, wrong};
use crate::access::Clock as _;
use crate::id::{ApprovalId, MessageId, SessionId};
use crate::session::{
    Archived, AwaitsProcess, Created, Failed, Happening, Labelled, Parent, ProcessEnded, State,
    StopAsked,
};
use crate::store::{
    ApprovalFilter, AuditFilter, SessionFilter, SessionOrder, StoreError, Totals, Write,
};

/// All sessions that fit, read in pages.
pub(super) async fn all(
    tester: &Tester,
    filter: SessionFilter,
    size: usize,
) -> Result<Vec<SessionId>, Reason> {
    let mut filter = SessionFilter { limit: size, ..filter };
    let mut found = Vec::new();
    loop {
        let page = tester.store.sessions(filter.clone()).await?;
        same("whether a page is as long as it may be", &true, &(page.items.len() <= size))?;
        found.extend(page.items.iter().map(|head| head.id));
        let Some(next) = page.next else { return Ok(found) };
        filter.after = Some(next);
    }
}

/// Which of these sessions are listed, in whatever order.
async fn fitting(
    tester: &Tester,
    what: &'static str,
    filter: SessionFilter,
    expected: &[SessionId],
) -> Result<(), Reason> {
    let mut found = all(tester, filter, 2).await?;
    found.sort();
    let mut expected = expected.to_vec();
    expected.sort();
    same(what, &expected, &found)
}

pub(super) async fn filters(tester: &Tester) -> Result<(), Reason> {
    let idle = tester.create("idle").await?;
    let running = tester.running().await?.session;
    let archived = tester.create("archived").await?;
    let put_away = |archived| vec![Archived { archived, by: person() }.into()];
    tester.happen(archived, put_away(true)).await?;
    let child = SessionId::new();
    let (session, approval) = (idle, ApprovalId::new());
    let mut creation = sample::creation("child");
    creation.parent = Some(Parent::Plan { session, approval });
    creation.labels = sample::labels(&["red", "blue"]);
    tester.happen(child, vec![creation.into()]).await?;
    let labels = sample::labels(&["red", "green"]);
    tester.happen(running, vec![Labelled { labels, by: person() }.into()]).await?;

    let filter = SessionFilter::default;
    fitting(tester, "all", filter(), &[idle, running, archived, child]).await?;
    for (what, states, expected) in [
        ("running", vec![State::Running], vec![running]),
        ("idle", vec![State::Idle], vec![idle, archived, child]),
        ("both", vec![State::Idle, State::Running], vec![idle, running, archived, child]),
        ("failed", vec![State::Failed], vec![]),
    ] {
        fitting(tester, what, SessionFilter { states, ..filter() }, &expected).await?;
    }
    for (flag, expected) in [(true, vec![archived]), (false, vec![idle, running, child])] {
        let filter = SessionFilter { archived: Some(flag), ..filter() };
        fitting(tester, "by archive", filter, &expected).await?;
    }
    for (labels, expected) in [
        (vec!["red"], vec![running, child]),
        (vec!["red", "green"], vec![running]),
        (vec!["red", "none"], vec![]),
        (vec!["re"], vec![]),
        (vec!["RED"], vec![]),
    ] {
        let labels = labels.into_iter().map(str::to_owned).collect();
        let filter = SessionFilter { labels, ..filter() };
        fitting(tester, "by label", filter, &expected).await?;
    }
    let parent = |parent| SessionFilter { parent: Some(parent), ..filter() };
    fitting(tester, "by parent", parent(idle), &[child]).await?;
    fitting(tester, "by another parent", parent(child), &[]).await?;
    let several = SessionFilter {
        states: vec![State::Idle],
        archived: Some(false),
        labels: vec!["blue".into()],
        parent: Some(idle),
        folder: Some("/work".into()),
        words: Some("child".into()),
        ..filter()
    };
    fitting(tester, "by everything", several, &[child]).await?;

    // And what changes is listed as it is then.
    tester.happen(archived, put_away(false)).await?;
    let labels = sample::labels(&["green"]);
    tester.happen(running, vec![Labelled { labels, by: person() }.into()]).await?;
    let put_away = SessionFilter { archived: Some(true), ..filter() };
    fitting(tester, "taken out of the archive", put_away, &[]).await?;
    let red = SessionFilter { labels: vec!["red".into()], ..filter() };
    fitting(tester, "without the label", red, &[child]).await
}

pub(super) async fn untouched(tester: &Tester) -> Result<(), Reason> {
    let (old, touched) = (tester.create("old").await?, tester.create("touched").await?);
    tester.time.pass(SignedDuration::from_hours(1));
    let since = tester.time.now();
    tester.happen(touched, vec![noted("touched")]).await?;
    let new = tester.create("new").await?;
    for (since, expected) in [(Some(since), vec![old]), (None, vec![old, touched, new])] {
        let filter = SessionFilter { untouched_since: since, ..SessionFilter::default() };
        fitting(tester, "those that nobody touched", filter, &expected).await?;
    }
    Ok(())
}

pub(super) async fn folders(tester: &Tester) -> Result<(), Reason> {
    let mut sessions = Vec::new();
    for folder in ["/a/b", "/a/b/c", "/a/bc", "/a", "/a/b_", "/a/b%/c", "/Ä/b", "/A/b"] {
        let session = SessionId::new();
        let creation = Created { folder: folder.into(), ..sample::creation("foldered") };
        tester.happen(session, vec![creation.into()]).await?;
        sessions.push((folder, session));
    }
    for (folder, expected) in [
        ("/a/b", vec!["/a/b", "/a/b/c"]),
        ("/a/b/", vec!["/a/b", "/a/b/c"]),
        ("/a", vec!["/a", "/a/b", "/a/b/c", "/a/bc", "/a/b_", "/a/b%/c"]),
        ("/a/b_", vec!["/a/b_"]),
        ("/a/b%", vec!["/a/b%/c"]),
        ("/Ä", vec!["/Ä/b"]),
        ("/a/b/c/d", vec![]),
        ("a/b", vec![]),
    ] {
        let expected: Vec<_> = sessions
            .iter()
            .filter(|(folder, _)| expected.contains(folder))
            .map(|(_, session)| *session)
            .collect();
        let filter = SessionFilter { folder: Some(folder.into()), ..SessionFilter::default() };
        fitting(tester, "by folder", filter, &expected).await?;
    }
    let filter = SessionFilter { folder: Some("/".into()), ..SessionFilter::default() };
    same("below the root", &sessions.len(), &all(tester, filter, 3).await?.len())
}

fn by(order: SessionOrder) -> SessionFilter {
    SessionFilter { order, ..SessionFilter::default() }
}

pub(super) async fn pages(tester: &Tester) -> Result<(), Reason> {
    let mut created = Vec::new();
    for n in 0..7 {
        created.push(tester.create(&n.to_string()).await?);
    }
    let mut updated = created.clone();
    for n in [3, 0] {
        let session = updated.remove(n);
        tester.happen(session, vec![noted("now")]).await?;
        updated.push(session);
    }
    created.reverse();
    updated.reverse();
    for size in [1, 2, 3, 7, 8, 1000] {
        let listed = all(tester, by(SessionOrder::Updated), size).await?;
        same("those that were changed last come first", &updated, &listed)?;
        let listed = all(tester, by(SessionOrder::Created), size).await?;
        same("the newest come first", &created, &listed)?;
    }
    let page = tester.store.sessions(SessionFilter::default()).await?;
    let heads: Vec<_> = page.items.iter().map(|head| head.id).collect();
    same("without a limit", &(updated, None), &(heads, page.next))
}

pub(super) async fn stable(tester: &Tester) -> Result<(), Reason> {
    for order in [SessionOrder::Updated, SessionOrder::Created] {
        let mut before = Vec::new();
        for n in 0..9 {
            before.push(tester.create(&format!("before {n}")).await?);
        }
        let (mut filter, mut seen) = (SessionFilter { limit: 2, ..by(order) }, Vec::new());
        loop {
            let page = tester.store.sessions(filter.clone()).await?;
            seen.extend(page.items.iter().map(|head| head.id));
            // Something new, and something that was seen, comes to the front.
            tester.create("meanwhile").await?;
            if let Some(session) = page.items.first().map(|head| head.id) {
                tester.happen(session, vec![noted("meanwhile")]).await?;
            }
            let Some(next) = page.next else { break };
            filter.after = Some(next);
        }
        seen.retain(|session| before.contains(session));
        before.reverse();
        same("what was there before", &before, &seen)?;
    }
    Ok(())
}

pub(super) async fn same_time(tester: &Tester) -> Result<(), Reason> {
    let mut write = Write::default();
    let mut expected: Vec<_> = (0..5).map(|_| SessionId::new()).collect();
    for session in &expected {
        write = write.and_to(*session, vec![created("at once")]);
    }
    tester.write(write).await?;
    expected.sort();
    expected.reverse();
    for order in [SessionOrder::Updated, SessionOrder::Created] {
        same("pages of two", &expected, &all(tester, by(order), 2).await?)?;
    }
    Ok(())
}

pub(super) async fn broken_cursors(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    for _ in 0..3 {
        tester.create("another").await?;
        tester.happen(running.session, vec![running.asks(ApprovalId::new())]).await?;
    }
    let page = tester.store.sessions(SessionFilter { limit: 1, ..by(SessionOrder::Updated) });
    let of_updates = page.await?.next.unwrap_or_default();
    let page = tester.store.approvals(ApprovalFilter { limit: 1, ..ApprovalFilter::default() });
    let of_approvals = page.await?.next.unwrap_or_default();
    fn refused<T>(result: Result<T, StoreError>, cursor: &str) -> Result<(), Reason> {
        match result {
            Err(StoreError::Cursor(_)) => Ok(()),
            Err(other) => Err(other.into()),
            Ok(_) => wrong(format!("a page began at {cursor:?}")),
        }
    }
    let long = "A".repeat(5000);
    for cursor in ["", "x", "AAAA", "'; DROP TABLE events --", "\0", &long, &of_approvals] {
        let after = Some(cursor.to_owned());
        let sessions = SessionFilter { after: after.clone(), ..SessionFilter::default() };
        refused(tester.store.sessions(sessions).await, cursor)?;
        let audit = AuditFilter { after, ..AuditFilter::default() };
        refused(tester.store.audit(audit).await, cursor)?;
    }
    let after = Some(of_updates.clone());
    let other_order = SessionFilter { after: after.clone(), ..by(SessionOrder::Created) };
    refused(tester.store.sessions(other_order).await, &of_updates)?;
    let approvals = ApprovalFilter { after, ..ApprovalFilter::default() };
    refused(tester.store.approvals(approvals).await, &of_updates)?;
    let (after, newest_first) = (Some(of_approvals.clone()), true);
    let backwards = ApprovalFilter { after, newest_first, ..ApprovalFilter::default() };
    refused(tester.store.approvals(backwards).await, &of_approvals)
}

pub(super) async fn unsettled(tester: &Tester) -> Result<(), Reason> {
    let mut expected = Vec::new();
    tester.create("idle").await?;
    let parked = tester.running().await?;
    tester.happen(parked.session, vec![parked.asks(ApprovalId::new())]).await?;
    tester.happen(parked.session, Running::parked()).await?;
    let ended = tester.running().await?;
    let why = || "it ended".to_owned();
    let end = || -> Happening { ProcessEnded { generation: 1, why: why(), failed: true }.into() };
    tester.happen(ended.session, vec![ended.ends(0.0), end()]).await?;
    let failed = tester.running().await?;
    tester.happen(failed.session, vec![end(), Failed { why: why() }.into()]).await?;

    let alive = tester.running().await?;
    expected.push(alive.session);
    let wants = || said(MessageId::new(), "Wants one");
    for happens in [vec![wants()], vec![wants(), AwaitsProcess {}.into()]] {
        let session = tester.create("unsettled").await?;
        tester.happen(session, happens).await?;
        expected.push(session);
    }
    // Stopped in the middle of a turn that nobody ended.
    let stopped = tester.running().await?;
    tester.happen(stopped.session, vec![StopAsked { by: person() }.into(), end()]).await?;
    expected.push(stopped.session);
    let mut found = tester.store.unsettled().await?;
    found.sort();
    expected.sort();
    same("those that are unsettled", &expected, &found)?;
    tester.happen(alive.session, vec![alive.ends(0.0), end()]).await?;
    let found = tester.store.unsettled().await?;
    same("whether one that is settled is there", &false, &found.contains(&alive.session))
}

pub(super) async fn totals(tester: &Tester) -> Result<(), Reason> {
    same("of nothing", &Totals::default(), &tester.store.totals().await?)?;
    tester.time.pass(SignedDuration::from_hours(1));
    let (one, two) = (tester.running().await?, tester.running().await?);
    tester.create("idle").await?;
    let ids: [ApprovalId; 3] = std::array::from_fn(|_| ApprovalId::new());
    let [a, b, c] = ids.map(|id| two.asks(id));
    tester.happen(one.session, vec![one.ends(0.5)]).await?;
    let [_, answered, _] = ids;
    let asks = vec![two.ends(0.25), a, b, c, sample::allowed(answered)];
    tester.happen(two.session, asks).await?;
    let totals = tester.store.totals().await?;
    let states = [("idle", 1), ("ready", 1), ("waiting", 1)];
    let expected = Totals {
        sessions: states.map(|(state, count)| (state.to_owned(), count)).into(),
        open_approvals: 2,
        cost_usd: 0.75,
        input_tokens: 200,
        output_tokens: 20,
        turns: 2,
    };
    same("of all", &expected, &totals)?;
    // What was used was used.
    tester
        .happen(
            one.session,
            vec![ProcessEnded { generation: 1, why: String::new(), failed: false }.into()],
        )
        .await?;
    tester.store.delete(one.session, person()).await?;
    let states = [("idle", 1), ("waiting", 1)];
    let sessions = states.map(|(state, count)| (state.to_owned(), count)).into();
    same("after one is deleted", &Totals { sessions, ..expected }, &tester.store.totals().await?)
}
