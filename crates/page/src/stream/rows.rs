//! The sessions on the left, as they change.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use countersign_server::api::Api;
use countersign_server::id::SessionId;
use countersign_server::session::Head;
use countersign_server::web::Problem;
use tokio::time::Instant;

use crate::rows::{self, Group, row_id};
use crate::transcript::Patch;
use crate::views;

/// How long rows wait for more to change before they are sent.
const WAIT: Duration = Duration::from_millis(200);

/// The rows of a page.
#[derive(Default)]
pub(super) struct Rows {
    /// In which group each stands.
    groups: HashMap<SessionId, Group>,
    /// Sessions whose rows are old, and since when one is.
    changed: HashMap<SessionId, Arc<Head>>,
    since: Option<Instant>,
}

impl Rows {
    /// All of them, as they are now.
    pub(super) async fn look(
        &mut self,
        api: &Api,
        current: Option<SessionId>,
    ) -> Result<Patch, Problem> {
        let heads = views::listed(api).await?;
        let groups = heads.items.iter().map(|head| (head.id, Group::of(head.state())));
        *self = Self { groups: groups.collect(), ..Self::default() };
        let more = heads.next.is_some();
        let html = rows::list(heads.items.iter().map(|head| &**head), current, more);
        Ok(Patch::Fill { id: "sessions".to_owned(), html })
    }

    /// A session is another one.
    pub(super) fn changed(&mut self, head: Arc<Head>) {
        self.changed.insert(head.id, head);
        self.since.get_or_insert_with(Instant::now);
    }

    /// Waits until there are rows to be sent.
    pub(super) async fn due(&self) {
        match self.since {
            Some(since) => tokio::time::sleep_until(since + WAIT).await,
            None => std::future::pending().await,
        }
    }

    /// The rows that have changed.
    pub(super) fn patches(&mut self, current: Option<SessionId>) -> Vec<Patch> {
        self.since = None;
        let mut patches = Vec::new();
        for (session, head) in std::mem::take(&mut self.changed) {
            if head.archived {
                patches.push(self.gone(session));
                continue;
            }
            let (id, html) = (row_id(session), rows::row(&head, current));
            let group = Group::of(head.state());
            if self.groups.insert(session, group) == Some(group) {
                patches.push(Patch::Put { id, html });
            } else {
                patches.push(Patch::Remove { id: id.clone() });
                patches.push(Patch::First { to: format!("group-{}", group.key()), id, html });
            }
        }
        patches
    }

    /// A session is in the list no more.
    pub(super) fn gone(&mut self, session: SessionId) -> Patch {
        self.groups.remove(&session);
        self.changed.remove(&session);
        Patch::Remove { id: row_id(session) }
    }
}
