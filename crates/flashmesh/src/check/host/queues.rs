//! Oracle `queues`, between host and drive: a command is fetched once, in order, and after its doorbell has reached the drive; no queue and no limit
//! of the drive overflows; a completion is posted only to a free slot; and an urgent command that can be fetched is fetched first. The oracle counts
//! the entries of all queues.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use crate::check::id_vec::IdVec;
use crate::config::{Config, InterfaceKind, Priority, QueueArbitration};
use crate::host::interface::InterfaceNotice;
use crate::ids::{RequestId, StreamId};

#[derive(Clone, Debug, Default)]
struct QueuePair {
    priority: Option<Priority>,
    /// Number of issued commands whose completion the host has not yet taken from the queue.
    held: usize,
    /// Commands that were issued and not yet fetched, in the order of issue. The drive has received the doorbells of the first `known`
    /// commands.
    submitted: VecDeque<RequestId>,
    known: usize,
    /// Commands that the drive has fetched and that occupy one of its command slots.
    in_drive: FxHashSet<RequestId>,
    /// Commands that have left their command slot and whose completion is not posted yet.
    finished: FxHashSet<RequestId>,
    /// Number of posted completions that the host has not yet taken from the queue. `posted` is the number of completion-queue slots that
    /// are occupied from the drive's point of view.
    to_take: usize,
    posted: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Queues {
    depth: usize,
    pair_depth: usize,
    fetch_size: usize,
    commands_max: usize,
    completion_depth: usize,
    urgent_first: bool,
    issued: IdVec<RequestId, Option<StreamId>>,
    issued_by: Vec<usize>,
    pairs: Vec<QueuePair>,
}

impl Queues {
    pub(crate) const NAME: &'static str = "queues";

    pub(crate) fn new(config: &Config, priorities: &[Priority]) -> Queues {
        let depth = config.host.queue_depth as usize;
        let ncq_depth = config.sata.ncq_depth as usize;
        let is_nvme = config.host.interface == InterfaceKind::Nvme;
        let of_nvme = |limit: usize| if is_nvme { limit } else { ncq_depth };
        Queues {
            depth,
            pair_depth: of_nvme(depth),
            fetch_size: of_nvme(config.nvme.fetch_size as usize),
            commands_max: of_nvme(config.nvme.commands_max.map_or(usize::MAX, |max| max as usize)),
            completion_depth: of_nvme(config.nvme.completion_depth.map_or(depth, |depth| depth as usize)),
            urgent_first: is_nvme && config.nvme.arbitration == QueueArbitration::Weighted,
            issued: IdVec::default(),
            issued_by: Vec::new(),
            pairs: priorities
                .iter()
                .map(|&priority| QueuePair { priority: Some(priority), ..QueuePair::default() })
                .collect(),
        }
    }

    pub(crate) fn issued(&mut self, id: RequestId, stream: StreamId) -> Result<(), String> {
        if self.issued_by.len() <= stream.index() {
            self.issued_by.resize(stream.index() + 1, 0);
        }
        if self.issued.insert(id, stream).is_some() {
            return Err(format!("request {} was issued again before it completed", id.0));
        }
        let count = &mut self.issued_by[stream.index()];
        *count += 1;
        if *count > self.depth {
            return Err(format!("stream {} has {count} requests at the drive, which holds {}", stream.0, self.depth));
        }
        Ok(())
    }

    pub(crate) fn completed(&mut self, id: RequestId) {
        if let Some(stream) = self.issued.remove(id) {
            self.issued_by[stream.index()] -= 1;
        }
    }

    fn urgent_waits(&self) -> Option<usize> {
        self.pairs.iter().position(|pair| {
            pair.priority == Some(Priority::Urgent) && pair.known > 0 && pair.in_drive.len() < self.fetch_size
        })
    }

    pub(crate) fn check_event(&mut self, seen: InterfaceNotice) -> Result<(), String> {
        let urgent = self.urgent_waits();
        let in_drive: usize = match seen {
            InterfaceNotice::Fetched(..) => self.pairs.iter().map(|pair| pair.in_drive.len()).sum(),
            _ => 0,
        };
        let (stream, (pair_depth, fetch_size, completion_depth)) = match seen {
            InterfaceNotice::Queued(stream, _)
            | InterfaceNotice::Rung(stream)
            | InterfaceNotice::Fetched(stream, _)
            | InterfaceNotice::Finished(stream, _)
            | InterfaceNotice::Posted(stream, _)
            | InterfaceNotice::Taken(stream)
            | InterfaceNotice::Freed(stream) => (stream, (self.pair_depth, self.fetch_size, self.completion_depth)),
        };
        let Some(pair) = self.pairs.get_mut(stream.index()) else {
            return Err(format!("there is no queue {}", stream.0));
        };
        let queue = stream.0;
        match seen {
            InterfaceNotice::Queued(_, id) => {
                pair.submitted.push_back(id);
                pair.held += 1;
                if pair.held > pair_depth {
                    return Err(format!("queue {queue} holds {} commands, and has room for {pair_depth}", pair.held));
                }
            }
            InterfaceNotice::Rung(_) => {
                pair.known += 1;
                if pair.known > pair.submitted.len() {
                    return Err(format!("queue {queue} was said to hold {} commands, and holds fewer", pair.known));
                }
            }
            InterfaceNotice::Fetched(_, id) => {
                if pair.submitted.pop_front() != Some(id) {
                    return Err(format!("request {} was fetched from queue {queue}, but is not its next", id.0));
                }
                if pair.known == 0 {
                    return Err(format!("request {} was fetched before the drive knew of it", id.0));
                }
                pair.known -= 1;
                pair.in_drive.insert(id);
                if pair.in_drive.len() > fetch_size {
                    let count = pair.in_drive.len();
                    return Err(format!("queue {queue} has {count} commands in the drive, and may have {fetch_size}"));
                }
                if in_drive + 1 > self.commands_max {
                    return Err(format!(
                        "the drive holds {} commands, and has room for {}",
                        in_drive + 1,
                        self.commands_max
                    ));
                }
                if let Some(urgent) = urgent.filter(|_| self.urgent_first && pair.priority != Some(Priority::Urgent)) {
                    return Err(format!(
                        "request {} of queue {queue} was fetched before that of urgent queue {urgent}",
                        id.0
                    ));
                }
            }
            InterfaceNotice::Finished(_, id) => {
                if !pair.in_drive.remove(&id) {
                    return Err(format!("request {} of queue {queue} left the drive, but is not in it", id.0));
                }
                pair.finished.insert(id);
            }
            InterfaceNotice::Posted(_, id) => {
                if !pair.finished.remove(&id) {
                    return Err(format!("the completion of request {} was posted, which is not done", id.0));
                }
                pair.posted += 1;
                pair.to_take += 1;
                if pair.posted > completion_depth {
                    let count = pair.posted;
                    return Err(format!(
                        "queue {queue} holds {count} completions, and has room for {completion_depth}"
                    ));
                }
            }
            InterfaceNotice::Taken(_) => {
                pair.held = pair.held.checked_sub(1).ok_or("a completion was taken from a queue that holds nothing")?;
                pair.to_take = pair.to_take.saturating_sub(1);
            }
            InterfaceNotice::Freed(_) => {
                pair.posted = pair.posted.checked_sub(1).ok_or("room was made in an empty completion queue")?;
                if pair.posted < pair.to_take {
                    return Err(format!("queue {queue} was said to have room before its completions were taken"));
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const URGENT: StreamId = StreamId(0);
    const LOW: StreamId = StreamId(1);
    const A: RequestId = RequestId(1);
    const B: RequestId = RequestId(2);

    fn queues() -> Queues {
        let mut config = Config::default();
        config.host.interface = InterfaceKind::Nvme;
        config.host.queue_depth = 2;
        config.nvme.fetch_size = 1;
        config.nvme.commands_max = Some(2);
        config.nvme.completion_depth = Some(1);
        config.nvme.arbitration = QueueArbitration::Weighted;
        Queues::new(&config, &[Priority::Urgent, Priority::Low])
    }

    /// Asserts that the oracle rejects the last event of `seen` with `message`, and accepts the events before.
    fn refused(seen: &[InterfaceNotice], message: &str) {
        let mut queues = queues();
        let (last, before) = seen.split_last().expect("`seen` has events");
        for &seen in before {
            assert_eq!(queues.check_event(seen), Ok(()));
        }
        let spoken = queues.check_event(*last).expect_err("the oracle rejects the event");
        assert!(spoken.contains(message), "{spoken}");
    }

    #[test]
    fn a_command_that_goes_all_the_way_is_right() {
        let mut queues = queues();
        queues.issued(A, LOW).expect("the plane has space");
        let all = [
            InterfaceNotice::Queued(LOW, A),
            InterfaceNotice::Rung(LOW),
            InterfaceNotice::Fetched(LOW, A),
            InterfaceNotice::Finished(LOW, A),
            InterfaceNotice::Posted(LOW, A),
            InterfaceNotice::Taken(LOW),
            InterfaceNotice::Freed(LOW),
        ];
        assert!(all.into_iter().all(|seen| queues.check_event(seen).is_ok()));
        queues.completed(A);
        assert_eq!(queues.issued_by[LOW.index()], 0);
    }

    #[test]
    fn queues_that_hold_too_much_are_caught() {
        let queued = [
            InterfaceNotice::Queued(LOW, A),
            InterfaceNotice::Queued(LOW, B),
            InterfaceNotice::Queued(LOW, RequestId(3)),
        ];
        refused(&queued, "queue 1 holds 3 commands, and has room for 2");
        let both = [
            InterfaceNotice::Queued(LOW, A),
            InterfaceNotice::Queued(LOW, B),
            InterfaceNotice::Rung(LOW),
            InterfaceNotice::Rung(LOW),
        ];
        let fetched = [InterfaceNotice::Fetched(LOW, A), InterfaceNotice::Fetched(LOW, B)];
        refused(&[both.as_slice(), &fetched].concat(), "has 2 commands in the drive, and may have 1");
        let posted = [
            InterfaceNotice::Fetched(LOW, A),
            InterfaceNotice::Finished(LOW, A),
            InterfaceNotice::Posted(LOW, A),
            InterfaceNotice::Fetched(LOW, B),
            InterfaceNotice::Finished(LOW, B),
            InterfaceNotice::Posted(LOW, B),
        ];
        refused(&[both.as_slice(), &posted].concat(), "holds 2 completions, and has room for 1");
        let mut queues = queues();
        assert!(
            queues.issued(A, LOW).is_ok() && queues.issued(B, LOW).is_ok() && queues.issued(RequestId(3), LOW).is_err()
        );
    }

    #[test]
    fn fetches_out_of_order_too_early_and_twice_are_caught() {
        refused(
            &[InterfaceNotice::Queued(LOW, A), InterfaceNotice::Fetched(LOW, A)],
            "was fetched before the drive knew of it",
        );
        refused(&[InterfaceNotice::Rung(LOW)], "holds fewer");
        let both = [
            InterfaceNotice::Queued(LOW, A),
            InterfaceNotice::Queued(LOW, B),
            InterfaceNotice::Rung(LOW),
            InterfaceNotice::Rung(LOW),
        ];
        refused(&[both.as_slice(), &[InterfaceNotice::Fetched(LOW, B)]].concat(), "but is not its next");
        refused(
            &[both.as_slice(), &[InterfaceNotice::Fetched(LOW, A), InterfaceNotice::Fetched(LOW, A)]].concat(),
            "but is not its next",
        );
    }

    #[test]
    fn an_urgent_command_passed_over_is_caught() {
        let waiting = [
            InterfaceNotice::Queued(URGENT, A),
            InterfaceNotice::Rung(URGENT),
            InterfaceNotice::Queued(LOW, B),
            InterfaceNotice::Rung(LOW),
        ];
        refused(&[waiting.as_slice(), &[InterfaceNotice::Fetched(LOW, B)]].concat(), "before that of urgent queue 0");
    }

    #[test]
    fn completions_that_were_never_posted_and_room_that_is_not_there_are_caught() {
        refused(&[InterfaceNotice::Queued(LOW, A), InterfaceNotice::Posted(LOW, A)], "which is not done");
        refused(&[InterfaceNotice::Finished(LOW, A)], "but is not in it");
        refused(&[InterfaceNotice::Freed(LOW)], "empty completion queue");
        let done = [
            InterfaceNotice::Queued(LOW, A),
            InterfaceNotice::Rung(LOW),
            InterfaceNotice::Fetched(LOW, A),
            InterfaceNotice::Finished(LOW, A),
            InterfaceNotice::Posted(LOW, A),
        ];
        refused(&[done.as_slice(), &[InterfaceNotice::Freed(LOW)]].concat(), "before its completions were taken");
    }

    #[test]
    fn a_queue_that_does_not_exist_a_full_drive_and_a_request_issued_twice_are_caught() {
        refused(&[InterfaceNotice::Rung(StreamId(7))], "there is no queue 7");
        let mut config = Config::default();
        config.host.interface = InterfaceKind::Nvme;
        config.nvme.commands_max = Some(1);
        let mut full = Queues::new(&config, &[Priority::Low, Priority::Low]);
        for seen in [
            InterfaceNotice::Queued(URGENT, A),
            InterfaceNotice::Rung(URGENT),
            InterfaceNotice::Queued(LOW, B),
            InterfaceNotice::Rung(LOW),
            InterfaceNotice::Fetched(URGENT, A),
        ] {
            assert_eq!(full.check_event(seen), Ok(()));
        }
        assert_eq!(
            full.check_event(InterfaceNotice::Fetched(LOW, B)),
            Err("the drive holds 2 commands, and has room for 1".to_owned())
        );
        let mut twice = queues();
        assert_eq!(twice.issued(A, LOW), Ok(()));
        assert_eq!(twice.issued(A, LOW), Err("request 1 was issued again before it completed".to_owned()));
    }

    #[test]
    fn a_completion_taken_from_a_queue_that_holds_nothing_is_caught() {
        refused(&[InterfaceNotice::Taken(LOW)], "a completion was taken from a queue that holds nothing");
    }
}
