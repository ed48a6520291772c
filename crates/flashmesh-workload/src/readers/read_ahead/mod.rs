//! Reading ahead: a thread produces items for a consumer.

mod bytes;
mod requests;

pub(super) use bytes::UnpackedAhead;
pub(super) use requests::RequestsAhead;

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

/// The maximum number of items queued for the consumer. Two more items can be in memory: one being produced and one being consumed.
const ITEMS_AHEAD: usize = 4;

/// A producer of a sequence of items.
pub(super) trait Producer: Send + Sized + 'static {
    /// The type of the items, such as a chunk of bytes or a batch of requests.
    type Item: Send;

    /// The name of the producing thread.
    const THREAD: &'static str;

    /// Returns the next item, and whether it is the last one. Not called again after the last one.
    fn produce(&mut self) -> (Self::Item, bool);
}

/// The items of a [`Producer`], in order. The consumer's thread produces the first item, so that short files need no other thread. If the consumer drops
/// the items early, the producing thread ends after its current item. The drop does not wait for that thread, because a read may block for long, for
/// example on a pipe.
pub(super) struct ReadAhead<M: Producer>(Origin<M>);

/// The source of the next item.
enum Origin<M: Producer> {
    /// The consumer's thread, which produces each item on demand: for the first item, and if no thread can be spawned.
    Here(Box<M>),
    /// A thread that produces the items, and returns the producer when it ends.
    Thread(Receiver<M::Item>, JoinHandle<Option<Box<M>>>),
    /// The end: no items are left. Contains the producer, unless it panicked.
    Over(Option<Box<M>>),
}

impl<M: Producer> ReadAhead<M> {
    /// Creates the sequence of the items of `maker`. No item is produced before the first call of [`ReadAhead::next`].
    pub(super) fn new(maker: M) -> ReadAhead<M> {
        ReadAhead(Origin::Here(Box::new(maker)))
    }

    /// Returns the next item; `None` after the last one.
    pub(super) fn next(&mut self) -> Option<M::Item> {
        let (item, next) = match mem::replace(&mut self.0, Origin::Over(None)) {
            Origin::Here(mut maker) => {
                let (item, is_last) = maker.produce();
                (Some(item), if is_last { Origin::Over(Some(maker)) } else { Origin::in_thread(maker) })
            }
            Origin::Thread(receiver, thread) => match receiver.recv() {
                Ok(item) => (Some(item), Origin::Thread(receiver, thread)),
                Err(_) => (None, Origin::Over(joined(thread))),
            },
            over @ Origin::Over(_) => (None, over),
        };
        self.0 = next;
        item
    }

    /// Returns the producer; `None` while a thread uses it, and after a panic of the producer.
    pub(super) fn maker(&mut self) -> Option<&mut M> {
        match &mut self.0 {
            Origin::Here(maker) | Origin::Over(Some(maker)) => Some(maker),
            Origin::Thread(..) | Origin::Over(None) => None,
        }
    }
}

impl<M: Producer> Origin<M> {
    fn in_thread(maker: Box<M>) -> Origin<M> {
        let (sender, receiver) = sync_channel(ITEMS_AHEAD);
        let handed = Arc::new(Mutex::new(Some(maker)));
        let taken = Arc::clone(&handed);
        let take = |maker: &Mutex<Option<Box<M>>>| maker.lock().unwrap_or_else(PoisonError::into_inner).take();
        let work = move || take(&taken).map(|maker| send_all(maker, &sender));
        match Builder::new().name(M::THREAD.to_owned()).spawn(work) {
            Ok(thread) => Origin::Thread(receiver, thread),
            // No thread was spawned, so the producer was not taken.
            Err(_) => take(&handed).map_or(Origin::Over(None), Origin::Here),
        }
    }
}

/// Sends all items, unless the consumer is dropped first. Returns the producer.
fn send_all<M: Producer>(mut maker: Box<M>, sender: &SyncSender<M::Item>) -> Box<M> {
    loop {
        let (item, is_last) = maker.produce();
        if sender.send(item).is_err() || is_last {
            return maker;
        }
    }
}

/// Returns the result of a finished thread. If the thread panicked, the panic continues in the caller.
fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| resume_unwind(panic))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::time::Duration;

    use super::*;

    /// Producer that counts from 0 to `last`, and panics instead of producing `panics_at`.
    struct Counter {
        made: Arc<AtomicU32>,
        last: u32,
        panics_at: u32,
    }

    impl Producer for Counter {
        type Item = u32;

        const THREAD: &'static str = "counter";

        fn produce(&mut self) -> (u32, bool) {
            let number = self.made.fetch_add(1, Ordering::SeqCst);
            assert_ne!(number, self.panics_at, "the counter breaks");
            (number, number == self.last)
        }
    }

    fn counted(last: u32, panics_at: u32) -> (ReadAhead<Counter>, Arc<AtomicU32>) {
        let made = Arc::new(AtomicU32::new(0));
        (ReadAhead::new(Counter { made: Arc::clone(&made), last, panics_at }), made)
    }

    #[test]
    fn items_come_in_order_and_the_maker_comes_back() {
        for last in [0, 1, 5, 1000] {
            let (mut ahead, _) = counted(last, u32::MAX);
            assert!(ahead.maker().is_some());
            let taken: Vec<u32> = std::iter::from_fn(|| ahead.next()).collect();
            assert_eq!(taken, (0..=last).collect::<Vec<_>>());
            assert!(ahead.next().is_none() && ahead.maker().is_some());
        }
    }

    #[test]
    fn the_first_item_is_made_in_no_thread_and_later_ones_a_bounded_way_ahead() {
        let (mut ahead, made) = counted(u32::MAX, u32::MAX);
        assert_eq!(made.load(Ordering::SeqCst), 0);
        for taken in 1..200 {
            ahead.next();
            std::thread::sleep(Duration::from_micros(200));
            // At most [`ITEMS_AHEAD`] items are queued, and one more waits for space in the queue.
            assert!(made.load(Ordering::SeqCst) <= taken + ITEMS_AHEAD as u32 + 1);
        }
    }

    #[test]
    fn a_thread_ends_when_nobody_takes_its_items() {
        let (mut ahead, made) = counted(u32::MAX, u32::MAX);
        ahead.next();
        drop(ahead);
        while Arc::strong_count(&made) > 1 {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_panic_of_the_thread_is_that_of_whoever_takes_its_items() {
        for panics_at in [0, 1, 7] {
            let (mut ahead, _) = counted(u32::MAX, panics_at);
            let all = std::panic::AssertUnwindSafe(|| while ahead.next().is_some() {});
            let panic = std::panic::catch_unwind(all).expect_err("the counter has broken");
            assert!(panic.downcast_ref::<String>().is_some_and(|text| text.contains("the counter breaks")));
        }
    }
}
