//! Whatever the order in which lines come, are put into the file and are read: they are the same.

use futures_util::FutureExt as _;
use proptest::prelude::*;

use super::*;

/// What happens to a mailbox.
#[derive(Clone, Debug)]
enum Step {
    /// Lines come, in one batch: whether each is a piece of a message, and how long it is.
    Push(Vec<(bool, usize)>),
    /// So many lines are read, or fewer if there are fewer at hand. Reading that would have to
    /// wait is given up.
    Read(usize),
    /// Others do what they have to do.
    Pause(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let line = (any::<bool>(), prop_oneof![Just(0), 0..40_usize, 100..400_usize]);
    prop_oneof![
        3 => proptest::collection::vec(line, 1..6).prop_map(Step::Push),
        2 => (1..8_usize).prop_map(Step::Read),
        2 => (1..4_usize).prop_map(Step::Pause),
    ]
}

/// A line that no other is like.
fn line(number: usize, is_piece: bool, length: usize) -> String {
    let kind = if is_piece { "stream_event" } else { "assistant" };
    format!(r#"{{"type":"{kind}","number":{number},"text":"{}"}}"#, "x".repeat(length))
}

/// Plays the steps, and returns what came, what was read, and what was counted.
async fn play(
    steps: Vec<Step>,
    memory: usize,
    drop_deltas: bool,
) -> (Vec<String>, Vec<String>, u64) {
    let counters = Arc::new(Counters::default());
    let delivery = Delivery { memory, drop_deltas, folder: None };
    let mailbox = Mailbox::new(delivery, Arc::clone(&counters));
    let mut reader = mailbox.reader();
    let (mut came, mut read) = (Vec::new(), Vec::new());
    let mut take = |line: Bytes| read.push(String::from_utf8(line.to_vec()).unwrap());
    for step in steps {
        match step {
            Step::Push(lines) => {
                let mut batch = String::new();
                for (is_piece, length) in lines {
                    let line = line(came.len(), is_piece, length);
                    batch.push_str(&line);
                    batch.push('\n');
                    came.push(line);
                }
                mailbox.push([Bytes::from(batch)]);
            }
            Step::Read(count) => {
                for _ in 0..count {
                    match reader.next_line().now_or_never() {
                        Some(line) => take(line.unwrap()),
                        None => break,
                    }
                }
            }
            Step::Pause(times) => {
                for _ in 0..times {
                    tokio::task::yield_now().await;
                    // As long as a file takes, about.
                    tokio::task::spawn_blocking(|| ()).await.unwrap();
                }
            }
        }
    }
    mailbox.close();
    while let Some(line) = reader.next_line().await {
        take(line);
    }
    (came, read, counters.stats().dropped_deltas)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_comes_is_read_in_its_order(
        steps in proptest::collection::vec(step(), 0..30),
        memory in 0..300_usize,
    ) {
        let (came, read, dropped) = runtime().block_on(play(steps, memory, false));
        prop_assert_eq!(read, came);
        prop_assert_eq!(dropped, 0);
    }

    #[test]
    fn only_pieces_are_dropped_and_that_is_said_in_their_place(
        steps in proptest::collection::vec(step(), 0..30),
        memory in 0..300_usize,
    ) {
        let (came, read, dropped) = runtime().block_on(play(steps, memory, true));
        let mut came = came.into_iter();
        let mut said = 0;
        for line in read {
            let message = crate::Message::from_line(line.clone());
            if let crate::Saying::DeltasDropped { count } = message.saying() {
                said += count;
                for missing in came.by_ref().take(usize::try_from(*count).unwrap()) {
                    prop_assert!(missing.contains("stream_event"), "{} is missing", missing);
                }
            } else {
                prop_assert_eq!(Some(line), came.next());
            }
        }
        prop_assert_eq!(came.next(), None);
        prop_assert_eq!(said, dropped);
    }
}

#[tokio::test]
async fn a_mailbox_that_nobody_will_read_keeps_nothing() {
    let counters = Arc::new(Counters::default());
    let delivery = Delivery { memory: 0, drop_deltas: false, folder: None };
    let mailbox = Mailbox::new(delivery, counters);
    drop(mailbox.reader());
    mailbox.push([Bytes::from_static(b"{}\n")]);
    let state = mailbox.lock();
    assert_eq!((state.head.len(), state.tail.len(), state.spilling), (0, 0, false));
}

#[tokio::test]
async fn without_a_file_everything_stays_in_memory() {
    let counters = Arc::new(Counters::default());
    let folder = Some(PathBuf::from("/nowhere/at/all"));
    let mailbox = Mailbox::new(Delivery { memory: 0, drop_deltas: false, folder }, counters);
    let mut reader = mailbox.reader();
    let lines: Vec<_> = (0..100).map(|number| line(number, false, 10)).collect();
    for line in &lines {
        mailbox.push([Bytes::from(format!("{line}\n"))]);
        tokio::task::yield_now().await;
    }
    mailbox.close();
    for line in lines {
        assert_eq!(reader.next_line().await.unwrap(), line);
    }
    assert_eq!(reader.next_line().await, None);
}

/// A mailbox with one line in it, which is all that it holds in memory, and a reader that has read
/// the line before.
async fn full() -> (Arc<Mailbox>, Reader, Arc<Counters>) {
    let counters = Arc::new(Counters::default());
    let delivery = Delivery { memory: 100, drop_deltas: false, folder: None };
    let mailbox = Mailbox::new(delivery, Arc::clone(&counters));
    let mut reader = mailbox.reader();
    for number in 0..2 {
        mailbox.push([Bytes::from(format!("{}\n", line(number, false, 30)))]);
        if number == 0 {
            reader.next_line().await.unwrap();
        }
    }
    (mailbox, reader, counters)
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_gets_on_is_waited_for() {
    let (mailbox, mut reader, counters) = full().await;
    for number in 2..50 {
        let mut room = std::pin::pin!(mailbox.room());
        assert_eq!(room.as_mut().now_or_never(), None, "there is no room for {number}");
        reader.next_line().await.unwrap();
        room.await;
        mailbox.push([Bytes::from(format!("{}\n", line(number, false, 30)))]);
    }
    assert_eq!(counters.stats().spooled_bytes, 0);
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_does_not_read_is_waited_for_once() {
    let (mailbox, mut reader, _) = full().await;
    let begin = Instant::now();
    mailbox.room().await;
    assert_eq!(begin.elapsed(), GRACE);
    mailbox.push([Bytes::from(format!("{}\n", line(2, false, 30)))]);
    mailbox.room().await;
    mailbox.room().await;
    assert_eq!(begin.elapsed(), GRACE);
    mailbox.close();
    for _ in 0..2 {
        reader.next_line().await.unwrap();
    }
    assert_eq!(reader.next_line().await, None);
}
