//! Those who read along: too slowly, not at all, or over a restart.

use std::time::Duration;

use countersign_server::client::Followed;
use countersign_server::id::SessionId;
use countersign_server::session::{Answer, Noted};
use countersign_server::store::Write;
use libtest_mimic::Trial;
use tokio::io::AsyncReadExt as _;

use crate::asking::WRITE;
use crate::kit::{Cli, Outcome, World, simulated};

pub(super) fn trials() -> Vec<Trial> {
    [
        simulated("faults::a_reader_that_does_not_read", never_reads),
        simulated("faults::a_reader_that_leaves", leaves),
        simulated("faults::a_reader_over_a_restart", over_a_restart),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Many events: more than sockets and the server keep for somebody who does not read.
async fn flood(world: &World, session: SessionId) -> u64 {
    let text = "x".repeat(4000);
    for _ in 0..100 {
        let notes = vec![Noted { text: text.clone() }.into(); 100];
        world.hub.store().write(Write::to(session, notes)).await.unwrap();
    }
    world.head(session).await.seq
}

/// It is told that it was too slow, and reads the rest from the log. Nobody else notices.
async fn never_reads(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let stream = format!("GET /api/v1/sessions/{session}/stream");
    let mut slow = world.open_raw(&stream, &["Last-Event-ID: 0"], "").await;
    // The head of the answer, so that it is subscribed.
    let mut begun = vec![0; 12];
    slow.read_exact(&mut begun).await?;
    assert_eq!(begun, b"HTTP/1.1 200");
    let mut quick = world.client.follow(session, Some(0)).await?;
    let reading = async {
        let mut seqs = Vec::new();
        while let Some(followed) = quick.next().await {
            if let Followed::Event(event) = followed.unwrap() {
                seqs.push(event.seq);
                if event.kind == "turn.ended" {
                    break;
                }
            }
        }
        seqs
    };
    let doing = async {
        flood(&world, session).await;
        world.answer(&asked, Answer::allow()).await;
        world.at_rest(session).await.seq
    };
    let both = async { tokio::join!(reading, doing) };
    let (seqs, last) = tokio::time::timeout(Duration::from_secs(240), both).await?;
    let whole = |seqs: &[u64]| seqs.iter().copied().eq(1..=seqs.len() as u64);
    assert!(whole(&seqs) && seqs.len() > 10_000, "others read on: {}", seqs.len());
    assert!(world.has_file("new.txt"), "the session goes on");

    let mut text = Vec::new();
    let mut piece = vec![0; 1 << 16];
    let end = format!("id: {last}\n");
    let reading = async {
        while !text
            .windows(end.len())
            .rev()
            .take(piece.len() + end.len())
            .any(|w| w == end.as_bytes())
        {
            let read = slow.read(&mut piece).await.unwrap();
            assert!(read > 0, "it was cut off");
            text.extend_from_slice(&piece[..read]);
        }
    };
    tokio::time::timeout(Duration::from_secs(240), reading).await?;
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("event: lagged\n"), "it is told");
    // Pieces of the transfer may begin within a line, so the ids are read from whole lines alone.
    let text = unchunked(&text);
    let ids: Vec<u64> = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: ")?.parse().ok())
        .skip_while(|id| *id == 0)
        .collect();
    assert!(whole(&ids), "{} of {last}", ids.len());
    assert_eq!(ids.last(), Some(&last));
    world.close().await
}

/// What was sent in chunks, without their sizes.
fn unchunked(text: &str) -> String {
    let (_, mut rest) = text.split_once("\r\n\r\n").unwrap();
    let mut whole = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let Ok(size) = usize::from_str_radix(size.trim(), 16) else { break };
        let Some((chunk, left)) = after.split_at_checked(size) else {
            whole.push_str(after);
            break;
        };
        whole.push_str(chunk);
        rest = left.strip_prefix("\r\n").unwrap_or_default();
    }
    whole
}

/// Nothing is kept for somebody who is gone.
async fn leaves(cli: Cli) -> Outcome {
    let world = World::new(cli, WRITE).await;
    let session = world.create("Write it.").await;
    let asked = world.asked(session).await;
    let stream = format!("GET /api/v1/sessions/{session}/stream");
    let mut reader = world.open_raw(&stream, &[], "").await;
    reader.read_exact(&mut [0; 12]).await?;
    assert!(world.hub.bus().is_watched(session));
    drop(reader);
    let gone = async {
        while world.hub.bus().is_watched(session) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(240), gone).await?;
    world.answer(&asked, Answer::allow()).await;
    world.at_rest(session).await;
    world.close().await
}

/// It goes on after the last event that it has: nothing is missing, nothing comes twice.
async fn over_a_restart(cli: Cli) -> Outcome {
    let mut world = World::new(cli, "otherwise = \"I say.\"").await;
    let address = world.client.address();
    let address = address.trim_start_matches("http://").trim_end_matches('/').parse()?;
    let session = world.create("One.").await;
    world.at_rest(session).await;
    let mut following = world.client.follow(session, Some(0)).await?;
    let mut seqs = Vec::new();
    for round in 0..3 {
        world = world.restart_with(|config| config.listen = address).await;
        world.say(session, "Again.").await;
        let last = world.at_rest(session).await.seq;
        let reading = async {
            while seqs.last() != Some(&last) {
                if let Followed::Event(event) = following.next().await.unwrap().unwrap() {
                    seqs.push(event.seq);
                }
            }
        };
        let read = tokio::time::timeout(Duration::from_secs(240), reading).await;
        assert!(read.is_ok(), "round {round}: {last}");
    }
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
    // By hand, as a browser does it.
    let after = seqs.len() - 2;
    let stream = format!("GET /api/v1/sessions/{session}/stream");
    let mut by_hand = world.open_raw(&stream, &[&format!("Last-Event-ID: {after}")], "").await;
    let mut text = String::new();
    let end = format!("id: {}\n", seqs.len());
    while !text.contains(&end) {
        let mut piece = vec![0; 1 << 16];
        let read = by_hand.read(&mut piece).await?;
        assert!(read > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    let ids: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    let wanted = [after, after + 1, after + 2].map(|id| id.to_string());
    assert_eq!(ids, wanted, "the place where it begins, and two events");
    world.close().await
}
