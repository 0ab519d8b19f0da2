//! The cards of a page: they come when a person is asked, and close for everybody when one answers.

use std::collections::{HashMap, HashSet};

use countersign_server::id::{ApprovalId, SessionId};
use countersign_server::session::{Approval, Head, Stage, State};
use countersign_server::web::Problem;

use super::Viewer;
use crate::card;
use crate::transcript::{Patch, id};
use crate::views::{self, INBOX};

/// The cards that a page has.
pub(super) struct Cards {
    open: HashSet<ApprovalId>,
    /// Which sessions were parked when that was last looked at.
    parked: HashMap<SessionId, bool>,
}

impl Cards {
    pub(super) fn new(open: Vec<ApprovalId>) -> Self {
        Self { open: open.into_iter().collect(), parked: HashMap::new() }
    }
}

impl Viewer {
    /// Brings the cards up to what is open.
    pub(super) async fn sync_cards(&mut self) -> Result<(), Problem> {
        let Some(cards) = &self.cards else { return Ok(()) };
        let session = self.own.as_ref().map(|own| own.session);
        let open = views::open(&self.api, session).await?;
        // There may be more that is open than is listed.
        let unlisted = cards.open.iter().filter(|id| !open.iter().any(|found| found.id == **id));
        for gone in unlisted.copied().collect::<Vec<_>>() {
            let found = self.api.service.hub().store().approval(gone).await?;
            if found.is_none_or(|found| found.stage != Stage::Open) {
                self.ended(gone).await?;
            }
        }
        let mut looked = HashSet::new();
        for approval in &open {
            self.opened(approval).await?;
            // Cards that the page had before may be older than that.
            if looked.insert(approval.session)
                && let Some(head) = self.api.service.hub().store().head(approval.session).await?
            {
                self.parked(&head);
            }
        }
        Ok(())
    }

    /// A person is asked.
    pub(super) async fn opened(&mut self, approval: &Approval) -> Result<(), Problem> {
        let is_own = self.own.as_ref().is_none_or(|own| own.session == approval.session);
        let Some(cards) = self.cards.as_mut().filter(|_| is_own) else { return Ok(()) };
        let is_first = cards.open.is_empty();
        // What there is no room for comes when something before it is answered.
        if cards.open.len() >= INBOX || !cards.open.insert(approval.id) {
            return Ok(());
        }
        let Some(head) = self.api.service.hub().store().head(approval.session).await? else {
            return Ok(());
        };
        let names_session = self.own.is_none();
        let card = views::card(&self.api, &self.identity, approval, &head, names_session, is_first)
            .await?;
        let element = id("a", &approval.id.to_string());
        self.send(&[Patch::Add { to: "cards".to_owned(), id: element, html: card }]);
        Ok(())
    }

    /// Nobody is asked any more.
    pub(super) async fn ended(&mut self, approval: ApprovalId) -> Result<(), Problem> {
        let Some(cards) = &mut self.cards else { return Ok(()) };
        let was_full = cards.open.len() >= INBOX;
        if !cards.open.remove(&approval) {
            return Ok(());
        }
        let element = id("a", &approval.to_string());
        let store = self.api.service.hub().store();
        let patch = match store.approval(approval).await? {
            Some(found) => {
                let head = store.head(found.session).await?;
                let asker = head.as_ref().map(|head| views::asker(head));
                let html = card::closed(&found, asker.as_ref());
                Patch::Put { id: element, html }
            }
            None => Patch::Remove { id: element },
        };
        self.send(&[patch]);
        if was_full {
            let session = self.own.as_ref().map(|own| own.session);
            for approval in views::open(&self.api, session).await? {
                self.opened(&approval).await?;
            }
        }
        Ok(())
    }

    /// Says on the cards of a session whether it is parked.
    pub(super) fn parked(&mut self, head: &Head) {
        let Some(cards) = &mut self.cards else { return };
        let is_parked = head.state() == State::Parked;
        let asks = head.approvals.keys().filter(|approval| cards.open.contains(approval));
        let asks: Vec<ApprovalId> = asks.copied().collect();
        if asks.is_empty() {
            cards.parked.remove(&head.id);
            return;
        }
        if cards.parked.insert(head.id, is_parked) == Some(is_parked) {
            return;
        }
        let patches: Vec<Patch> = asks
            .iter()
            .map(|approval| Patch::Fill {
                id: card::parked_id(&approval.to_string()),
                html: card::parked(is_parked),
            })
            .collect();
        self.send(&patches);
    }
}
