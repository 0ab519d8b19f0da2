//! Whatever the sizes, and however the CLI reads: the lines are the same, in their order.

use std::time::Duration;

use proptest::prelude::*;
use tokio::net::unix::pipe;

use super::*;

/// Reads so many bytes, in bursts of these sizes with a pause after each.
async fn read(pipe: &pipe::Receiver, total: usize, bursts: &[usize]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut bursts = bursts.iter().cycle();
    while all.len() < total {
        let burst = bursts.next().copied().unwrap_or(1).min(total - all.len());
        let end = all.len() + burst;
        while all.len() < end {
            let mut buffer = vec![0; end - all.len()];
            pipe.readable().await.unwrap();
            match pipe.try_read(&mut buffer) {
                Ok(0) => return all,
                Ok(count) => all.extend_from_slice(&buffer[..count]),
                Err(error) => assert_eq!(error.kind(), io::ErrorKind::WouldBlock),
            }
        }
        tokio::task::yield_now().await;
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn lines_arrive_whole_and_in_order(
        sizes in proptest::collection::vec(
            prop_oneof![1..100_usize, 1..10_000_usize, 60_000..200_000_usize], 1..20),
        bursts in proptest::collection::vec(1..100_000_usize, 1..5),
        with_room in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let lines: Vec<_> = (b'a'..=b'z').cycle().zip(&sizes)
            .map(|(letter, size)| [vec![letter; *size], vec![b'\n']].concat())
            .collect();
        let total = lines.iter().map(Vec::len).sum();
        let arrived = runtime.block_on(async {
            let (sender, receiver) = pipe::pipe().unwrap();
            let outbox = Outbox::new(sender, None, None);
            let send = async {
                for line in &lines {
                    if with_room {
                        outbox.room().await;
                    }
                    outbox.push(line).unwrap();
                    tokio::task::yield_now().await;
                }
            };
            let all = async { tokio::join!(send, read(&receiver, total, &bursts)).1 };
            tokio::select! {
                biased;
                _ = outbox.flush() => Vec::new(),
                arrived = all => arrived,
            }
        });
        prop_assert!(arrived == lines.concat());
    }
}

#[tokio::test(start_paused = true)]
async fn room_is_waited_for_until_the_cli_reads() {
    let (sender, receiver) = pipe::pipe().unwrap();
    let outbox = Outbox::new(sender, None, None);
    let line = vec![b'x'; 3 * ROOM];
    outbox.push(&line).unwrap();
    // Nobody reads, so no time is long enough.
    let hour = Duration::from_secs(3600);
    assert!(tokio::time::timeout(hour, outbox.room()).await.is_err());
    let reading = read(&receiver, line.len(), &[1024 * 1024]);
    tokio::select! {
        biased;
        _ = outbox.flush() => panic!("the pipe was closed"),
        (arrived, ()) = async { tokio::join!(reading, outbox.room()) } => {
            assert!(arrived == line);
        }
    }
}

#[tokio::test]
async fn an_end_is_told_to_all_who_wait() {
    let (sender, receiver) = pipe::pipe().unwrap();
    let outbox = Outbox::new(sender, None, None);
    outbox.push(&vec![b'x'; 3 * ROOM]).unwrap();
    drop(receiver);
    let (flushed, ()) = tokio::join!(outbox.flush(), outbox.room());
    assert_eq!(flushed, Err(OutboxClosed));
    assert_eq!(outbox.push(b"more\n"), Err(OutboxClosed));
}

#[tokio::test]
async fn what_a_slow_reader_has_read_is_forgotten() {
    let (sender, receiver) = pipe::pipe().unwrap();
    let outbox = Outbox::new(sender, None, None);
    let line = vec![b'x'; 100_000];
    outbox.push(&vec![b'x'; ROOM]).unwrap();
    // As fast as it reads, more comes, so there is always something left.
    for _ in 0..200 {
        outbox.push(&line).unwrap();
        let reading = read(&receiver, line.len(), &[4096]);
        tokio::select! {
            biased;
            _ = outbox.flush() => panic!("the pipe was closed"),
            _ = reading => {}
        }
        assert!(outbox.lock().bytes.len() < 3 * ROOM, "{}", outbox.lock().bytes.len());
    }
}
