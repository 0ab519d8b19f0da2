//! Concurrency on one thread: a handful of futures, polled whenever something has happened.
//!
//! A turn waits for many things at once: a permission, a hook's answer, an interrupt, a timer. As
//! futures these waits compose. Few tasks run at a time, so all of them are polled after each
//! event; a waker only has to say that another round is needed.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::fmt;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::{Duration, Instant};

/// A future of this thread.
pub(crate) type Task<T = ()> = Pin<Box<dyn Future<Output = T>>>;

/// The tasks, and the times at which they want to be looked at.
#[derive(Default)]
pub(crate) struct Tasks {
    spawned: RefCell<Vec<Task>>,
    alarms: RefCell<BTreeSet<Instant>>,
}

impl fmt::Debug for Tasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tasks").finish_non_exhaustive()
    }
}

impl Tasks {
    /// Starts a task. It is polled for the first time in the next round.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        self.spawned.borrow_mut().push(Box::pin(task));
    }

    /// Waits until a time.
    pub(crate) async fn sleep_until(&self, at: Instant) {
        poll_fn(|_| {
            if Instant::now() >= at {
                return Poll::Ready(());
            }
            self.alarms.borrow_mut().insert(at);
            Poll::Pending
        })
        .await;
    }

    /// Waits.
    pub(crate) async fn sleep(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        match Instant::now().checked_add(time) {
            Some(at) => self.sleep_until(at).await,
            // Longer than time is counted.
            None => std::future::pending().await,
        }
    }

    /// When somebody wants to be looked at next. That may have been a moment ago.
    pub(crate) fn next_alarm(&self) -> Option<Instant> {
        self.alarms.borrow().first().copied()
    }
}

/// Polls tasks.
#[derive(Debug)]
pub(crate) struct Executor {
    again: Arc<Again>,
    waker: Waker,
}

/// Says that another round is needed.
#[derive(Debug, Default)]
struct Again(AtomicBool);

impl Wake for Again {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Executor {
    /// An executor.
    pub(crate) fn new() -> Self {
        let again = Arc::new(Again::default());
        Self { waker: Waker::from(Arc::clone(&again)), again }
    }

    /// Polls all tasks until none of them can go on without something new.
    pub(crate) fn run(&self, tasks: &Tasks, running: &mut Vec<Task>, stop: impl Fn() -> bool) {
        loop {
            self.again.0.store(false, Ordering::Relaxed);
            // Whoever still waits for a time says so again when it is polled.
            tasks.alarms.borrow_mut().clear();
            let mut context = Context::from_waker(&self.waker);
            running.append(&mut tasks.spawned.borrow_mut());
            running.retain_mut(|task| !stop() && task.as_mut().poll(&mut context).is_pending());
            let more = self.again.0.load(Ordering::Relaxed) || !tasks.spawned.borrow().is_empty();
            if stop() || !more {
                return;
            }
        }
    }
}

/// A value that comes once and is waited for.
pub(crate) struct Slot<T>(Rc<SlotState<T>>);

struct SlotState<T> {
    value: RefCell<Option<T>>,
    waiting: RefCell<Option<Waker>>,
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> fmt::Debug for Slot<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slot").finish_non_exhaustive()
    }
}

impl<T> Slot<T> {
    /// An empty slot.
    pub(crate) fn new() -> Self {
        Self(Rc::new(SlotState { value: RefCell::new(None), waiting: RefCell::new(None) }))
    }

    /// Puts the value in. A second value is dropped.
    pub(crate) fn set(&self, value: T) {
        self.0.value.borrow_mut().get_or_insert(value);
        if let Some(waker) = self.0.waiting.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Waits for the value and takes it out.
    pub(crate) async fn take(&self) -> T {
        poll_fn(|context| match self.0.value.borrow_mut().take() {
            Some(value) => Poll::Ready(value),
            None => {
                *self.0.waiting.borrow_mut() = Some(context.waker().clone());
                Poll::Pending
            }
        })
        .await
    }
}

/// Something that is true from some time on, and can be waited for by many.
#[derive(Debug, Default)]
pub(crate) struct Flag {
    raised: Cell<bool>,
    waiting: RefCell<Vec<Waker>>,
}

impl Flag {
    /// Whether it is true.
    pub(crate) fn is_raised(&self) -> bool {
        self.raised.get()
    }

    /// Makes it true.
    pub(crate) fn raise(&self) {
        self.raised.set(true);
        for waker in self.waiting.borrow_mut().drain(..) {
            waker.wake();
        }
    }

    /// Makes it false again.
    pub(crate) fn lower(&self) {
        self.raised.set(false);
    }

    /// Waits until it is true.
    pub(crate) async fn raised(&self) {
        poll_fn(|context| {
            if self.is_raised() {
                return Poll::Ready(());
            }
            let mut waiting = self.waiting.borrow_mut();
            if !waiting.iter().any(|waker| waker.will_wake(context.waker())) {
                waiting.push(context.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

/// Lets the other tasks go on first.
pub(crate) async fn yield_now() {
    let mut yielded = false;
    poll_fn(|context| {
        if yielded {
            return Poll::Ready(());
        }
        yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Which of two came first.
#[derive(Debug)]
pub(crate) enum First<A, B> {
    /// The first one.
    Left(A),
    /// The second one.
    Right(B),
}

/// Waits for the one that comes first; the other one is dropped. When both are there, it is the
/// left one.
pub(crate) async fn race<A, B>(
    left: impl Future<Output = A>,
    right: impl Future<Output = B>,
) -> First<A, B> {
    let mut left = pin!(left);
    let mut right = pin!(right);
    poll_fn(|context| {
        if let Poll::Ready(value) = left.as_mut().poll(context) {
            return Poll::Ready(First::Left(value));
        }
        right.as_mut().poll(context).map(First::Right)
    })
    .await
}

/// Waits for all of them, and gives the values in the order of the futures.
pub(crate) async fn join_all<'a, T>(futures: Vec<Pin<Box<dyn Future<Output = T> + 'a>>>) -> Vec<T> {
    let mut waiting: Vec<_> = futures.into_iter().map(|future| (Some(future), None)).collect();
    poll_fn(|context| {
        for (future, value) in &mut waiting {
            if let Some(running) = future
                && let Poll::Ready(ready) = running.as_mut().poll(context)
            {
                *value = Some(ready);
                *future = None;
            }
        }
        if waiting.iter().all(|(future, _)| future.is_none()) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
    waiting.into_iter().filter_map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_wakes_the_one_who_waits_for_it() {
        let tasks = Tasks::default();
        let slot = Slot::new();
        let seen = Rc::new(Cell::new(0));
        let (taker, giver, result) = (slot.clone(), slot, Rc::clone(&seen));
        tasks.spawn(async move { result.set(taker.take().await) });
        tasks.spawn(async move { giver.set(7) });
        Executor::new().run(&tasks, &mut Vec::new(), || false);
        assert_eq!(seen.get(), 7);
    }

    #[test]
    fn an_alarm_that_rings_between_two_looks_is_not_lost() {
        let tasks = Rc::new(Tasks::default());
        let (sleeper, done) = (Rc::clone(&tasks), Rc::new(Cell::new(false)));
        let result = Rc::clone(&done);
        tasks.spawn(async move {
            sleeper.sleep(Duration::from_millis(1)).await;
            result.set(true);
        });
        let (executor, mut running) = (Executor::new(), Vec::new());
        executor.run(&tasks, &mut running, || false);
        while let Some(at) = tasks.next_alarm() {
            while Instant::now() <= at {
                std::thread::yield_now();
            }
            executor.run(&tasks, &mut running, || false);
        }
        assert!(done.get());
    }

    #[test]
    fn the_first_of_two_wins_and_all_are_joined_in_order() {
        let tasks = Tasks::default();
        let seen = Rc::new(RefCell::new(Vec::new()));
        let result = Rc::clone(&seen);
        tasks.spawn(async move {
            let never = Slot::<()>::new();
            assert!(matches!(race(never.take(), async { 1 }).await, First::Right(1)));
            let all: Vec<Task<i32>> = vec![Box::pin(async { 1 }), Box::pin(async { 2 })];
            *result.borrow_mut() = join_all(all).await;
        });
        Executor::new().run(&tasks, &mut Vec::new(), || false);
        assert_eq!(*seen.borrow(), [1, 2]);
    }
}
