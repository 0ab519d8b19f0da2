//! What a person is asked.

use jiff::SignedDuration;

use super::agree::agrees;
use super::sample::{Running, allowed, closed, delivered, raw, token};
use super::tester::{Reason, Tester, same, some, wrong};
use crate::access::Clock as _;
use crate::id::{ApprovalId, SessionId};
use crate::session::{Approval, ApprovalEnd, ApprovalKind, Stage, read_token};
use crate::store::ApprovalFilter;

async fn kept(tester: &Tester, approval: ApprovalId) -> Result<Approval, Reason> {
    some("the approval", tester.store.approval(approval).await?)
}

pub(super) async fn life(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let (session, id) = (running.session, ApprovalId::new());
    same("one that is not there", &None, &tester.store.approval(id).await?)?;
    let mut asks = running.asks_for(id, ApprovalKind::Tool);
    asks.request = raw(r#"{ "input": {"n": 1.10, "n": 2}, "half": "\ud800", "nul": "\u0000" }"#);
    tester.happen(session, vec![asks.clone().into()]).await?;
    let opened = kept(tester, id).await?;
    same("the stage", &Stage::Open, &opened.stage)?;
    same("what is asked", asks.request.as_str(), opened.request.as_str())?;
    same("when", &tester.time.last(), &opened.opened_at)?;
    same("where", &(session, Some(running.turn)), &(opened.session, opened.turn))?;

    tester.happen(session, vec![allowed(id)]).await?;
    let answered = kept(tester, id).await?;
    same("the stage", &Stage::Answered, &answered.stage)?;
    let given = some("the answer", answered.given)?;
    same("when it was answered", &tester.time.last(), &given.at)?;
    tester.happen(session, vec![delivered(id)]).await?;
    let out = kept(tester, id).await?;
    let when = (Stage::Delivered, Some(tester.time.last()));
    same("when it went out", &when, &(out.stage, out.delivered_at))?;
    tester.happen(session, vec![closed(id, ApprovalEnd::Done)]).await?;
    let done = kept(tester, id).await?;
    let when = (Stage::Done, Some(tester.time.last()));
    same("when it was closed", &when, &(done.stage, done.closed_at))?;
    same("whether the answer is there", &true, &done.given.is_some())?;

    // All of it at once.
    let at_once = ApprovalId::new();
    let end = ApprovalEnd::Unknown;
    let all =
        vec![running.asks(at_once), allowed(at_once), delivered(at_once), closed(at_once, end)];
    tester.happen(session, all).await?;
    same("the stage", &Stage::Unknown, &kept(tester, at_once).await?.stage)?;
    agrees(&*tester.store, session).await
}

pub(super) async fn rounds(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let mut rounds = Vec::new();
    for kind in [ApprovalKind::Plan, ApprovalKind::Tool, ApprovalKind::Plan] {
        let id = ApprovalId::new();
        let asks = running.asks_for(id, kind).into();
        let over = closed(id, ApprovalEnd::Cancelled);
        tester.happen(running.session, vec![asks, over]).await?;
        rounds.push(kept(tester, id).await?.round);
    }
    same("the rounds", &vec![Some(1), None, Some(2)], &rounds)
}

pub(super) async fn tokens(tester: &Tester) -> Result<(), Reason> {
    let running = tester.running().await?;
    let (with, without) = (ApprovalId::new(), ApprovalId::new());
    let mut asks = running.asks_for(with, ApprovalKind::Tool);
    asks.token = Some(token());
    let all = vec![asks.into(), running.asks(without), allowed(with)];
    tester.happen(running.session, all).await?;
    let Ok(expected) = read_token(&token()) else { return wrong("the token of this test is none") };
    same("the token", &Some(expected), &tester.store.parking_token(with).await?)?;
    same("no token", &None, &tester.store.parking_token(without).await?)?;
    same("of no approval", &None, &tester.store.parking_token(ApprovalId::new()).await?)
}

/// All approvals that fit, read in pages of two.
async fn read_all(tester: &Tester, filter: ApprovalFilter) -> Result<Vec<ApprovalId>, Reason> {
    let mut filter = ApprovalFilter { limit: 2, ..filter };
    let mut all = Vec::new();
    loop {
        let page = tester.store.approvals(filter.clone()).await?;
        same("whether a page is as long as it may be", &true, &(page.items.len() <= 2))?;
        all.extend(page.items.iter().map(|approval| approval.id));
        let Some(next) = page.next else { return Ok(all) };
        filter.after = Some(next);
    }
}

async fn listed_by(
    tester: &Tester,
    what: &'static str,
    filter: ApprovalFilter,
    expected: &[ApprovalId],
) -> Result<(), Reason> {
    let newest = ApprovalFilter { newest_first: true, ..filter.clone() };
    same(what, expected, &*read_all(tester, filter).await?)?;
    let backwards: Vec<_> = expected.iter().rev().copied().collect();
    same(what, &backwards, &read_all(tester, newest).await?)
}

pub(super) async fn listed(tester: &Tester) -> Result<(), Reason> {
    let (one, two) = (tester.running().await?, tester.running().await?);
    let all: [ApprovalId; 5] = std::array::from_fn(|_| ApprovalId::new());
    let [a, b, c, d, e] = all;
    // Two at the same time, in one write.
    tester.happen(one.session, vec![one.asks(b), one.asks(a)]).await?;
    let plan = two.asks_for(c, ApprovalKind::Plan).into();
    tester.happen(two.session, vec![plan]).await?;
    tester.happen(one.session, vec![one.asks(d)]).await?;
    let plan = one.asks_for(e, ApprovalKind::Plan).into();
    tester.happen(one.session, vec![plan]).await?;
    tester.happen(one.session, vec![allowed(b), closed(d, ApprovalEnd::Cancelled)]).await?;
    let filter = ApprovalFilter::default;
    listed_by(tester, "all", filter(), &all).await?;
    let session = Some(one.session);
    listed_by(tester, "of a session", ApprovalFilter { session, ..filter() }, &[a, b, d, e])
        .await?;
    let session = Some(SessionId::new());
    listed_by(tester, "of no session", ApprovalFilter { session, ..filter() }, &[]).await?;
    let stages = vec![Stage::Open];
    let open = ApprovalFilter { stages, ..filter() };
    listed_by(tester, "open ones", open.clone(), &[a, c, e]).await?;
    let kinds = vec![ApprovalKind::Plan];
    listed_by(tester, "open plans", ApprovalFilter { kinds, ..open }, &[c, e]).await?;
    let stages = vec![Stage::Answered, Stage::Cancelled];
    listed_by(tester, "others", ApprovalFilter { stages, ..filter() }, &[b, d]).await?;
    same("how many are open", &3, &tester.store.count_open().await?)?;
    let page = tester.store.approvals(filter()).await?;
    same("whether there is a next page after all", &None, &page.next)
}

pub(super) async fn waiting(tester: &Tester) -> Result<(), Reason> {
    let (parked, alive) = (tester.running().await?, tester.running().await?);
    let [a, b, c, d]: [ApprovalId; 4] = std::array::from_fn(|_| ApprovalId::new());
    tester.happen(parked.session, vec![parked.asks(a), parked.asks(b)]).await?;
    tester.happen(alive.session, vec![alive.asks(c)]).await?;
    tester.happen(parked.session, vec![allowed(b)]).await?;
    tester.time.pass(SignedDuration::from_mins(10));
    let between = tester.time.last();
    let later = tester.running().await?;
    tester.happen(later.session, vec![later.asks(d)]).await?;
    for session in [parked.session, later.session] {
        tester.happen(session, Running::parked()).await?;
    }
    let now = tester.time.now();
    let old = tester.store.open_since_before(between, 10).await?;
    let (first, second) = ((parked.session, a), (alive.session, c));
    same("those that are old", &vec![first, second], &old)?;
    let all = tester.store.open_since_before(now, 10).await?;
    same("all, the oldest first", &vec![first, second, (later.session, d)], &all)?;
    same("some of them", &1, &tester.store.open_since_before(now, 1).await?.len())
}
