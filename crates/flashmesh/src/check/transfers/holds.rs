//! Oracle `holds`: with `fabric.hold-path` a path serves one die from the command of a transaction to its last byte or its acknowledgement, and is
//! released at the end of the transaction. The oracle derives the holder of each path from grants, messages, releases and acknowledgements, and
//! compares it with the reported uses of links.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::config::HoldPath;
use crate::fabric::{Grant, LinkUse, Payload, TransferKind};
use crate::ids::{AcknowledgementId, DieId, PathId};
use crate::units::Time;

/// A path with the die that holds it, and the unfinished transactions of this die over the path.
#[derive(Clone, Copy, Debug)]
struct Holder {
    path: PathId,
    die: DieId,
    since: Time,
    /// Time of the last grant of the path to the die.
    granted: Time,
    is_moving: bool,
    pages_owed: u32,
    /// Number of programs, erases and copybacks over the path whose end has not been acknowledged to the controller.
    changes: u32,
    over: Option<Time>,
}

impl Holder {
    fn settle(&mut self, now: Time) {
        if !self.is_moving && self.pages_owed == 0 && self.changes == 0 {
            self.over = Some(now);
        }
    }
}

#[derive(Clone, Debug)]
pub(in super::super) struct Holds {
    rule: HoldPath,
    now: Time,
    holders: Vec<Holder>,
    /// For each die, the paths of its programs, erases and copybacks in progress, in the order of their commands. Operations of a die end in this
    /// order.
    changing: FxHashMap<DieId, VecDeque<PathId>>,
    /// For each acknowledgement in flight, the path of the operation whose end it acknowledges.
    pending_acknowledgements: FxHashMap<AcknowledgementId, PathId>,
    /// Uses of links that ended at `now`.
    ended: Vec<LinkUse>,
}

impl Holds {
    pub(in super::super) const NAME: &'static str = "holds";

    pub(in super::super) fn new(rule: HoldPath) -> Holds {
        Holds {
            rule,
            now: Time::ZERO,
            holders: Vec::new(),
            changing: FxHashMap::default(),
            pending_acknowledgements: FxHashMap::default(),
            ended: Vec::new(),
        }
    }

    /// Advances the time to `now`. Checks that each hold that ended before was released in time, and that no path has two holders.
    pub(in super::super) fn moved(&mut self, now: Time) -> Result<(), String> {
        if now == self.now {
            return Ok(());
        }
        self.now = now;
        let ended = std::mem::take(&mut self.ended);
        let (over, holders) = std::mem::take(&mut self.holders).into_iter().partition(|holder| holder.over.is_some());
        self.holders = holders;
        let over: Vec<Holder> = over;
        for Holder { path, die, since, over, .. } in over {
            let is_given_back = |used: &LinkUse| used.die == die && used.from <= since && Some(used.until) == over;
            if !ended.iter().any(is_given_back) {
                let over = over.unwrap_or_default();
                return Err(format!(
                    "path {} was held for die {} since {since}, and not given back at {over}, when its transaction ended",
                    path.0, die.0
                ));
            }
        }
        for (at, holder) in self.holders.iter().enumerate() {
            if let Some(other) = self.holders[..at].iter().find(|other| other.path == holder.path) {
                return Err(format!(
                    "path {} serves die {} since {}, in the midst of a transaction of die {}",
                    holder.path.0, holder.die.0, holder.since, other.die.0
                ));
            }
        }
        Ok(())
    }

    fn holder(&mut self, grant: Grant) -> Option<&mut Holder> {
        self.holders.iter_mut().rfind(|holder| (holder.path, holder.die) == (grant.path, grant.die))
    }

    pub(in super::super) fn granted(&mut self, grant: Grant, now: Time) {
        if self.rule == HoldPath::Never {
            return;
        }
        match self.holder(grant) {
            Some(holder) => {
                if holder.over.take().is_some() {
                    holder.since = now;
                }
                (holder.is_moving, holder.granted) = (true, now);
            }
            None => {
                let Grant { die, path, .. } = grant;
                self.holders.push(Holder {
                    path,
                    die,
                    since: now,
                    granted: now,
                    is_moving: true,
                    pages_owed: 0,
                    changes: 0,
                    over: None,
                });
            }
        }
        self.note_returns();
    }

    /// Restarts each hold whose path was released and granted to the same die again at the current time. Includes holds that continue because an
    /// acknowledgement of the die is in flight.
    fn note_returns(&mut self) {
        for holder in self.holders.iter_mut().filter(|holder| holder.granted == self.now && holder.over.is_none()) {
            if self.ended.iter().any(|used| used.die == holder.die && used.from <= holder.since) {
                holder.since = self.now;
            }
        }
    }

    pub(in super::super) fn sent(&mut self, grant: Grant, payload: Payload) {
        let rule = self.rule;
        let Some(holder) = self.holder(grant) else { return };
        match payload.kind {
            TransferKind::Read if rule.holds_reads() => holder.pages_owed += payload.planes,
            TransferKind::Program | TransferKind::Erase | TransferKind::Copyback if rule.holds_programs() => {
                holder.changes += 1;
                self.changing.entry(grant.die).or_default().push_back(grant.path);
            }
            TransferKind::Data | TransferKind::ChipToChipData => {
                holder.pages_owed = holder.pages_owed.saturating_sub(payload.planes)
            }
            _ => {}
        }
    }

    pub(in super::super) fn released(&mut self, grant: Grant, now: Time) {
        if let Some(holder) = self.holder(grant) {
            holder.is_moving = false;
            holder.settle(now);
        }
    }

    pub(in super::super) fn acknowledgement_sent(&mut self, die: DieId, id: AcknowledgementId) {
        if let Some(path) = self.changing.get_mut(&die).and_then(VecDeque::pop_front) {
            self.pending_acknowledgements.insert(id, path);
        }
    }

    pub(in super::super) fn acknowledged(&mut self, die: DieId, id: AcknowledgementId, now: Time) {
        let Some(path) = self.pending_acknowledgements.remove(&id) else { return };
        let is_its = |holder: &&mut Holder| (holder.path, holder.die) == (path, die) && holder.changes > 0;
        if let Some(holder) = self.holders.iter_mut().find(is_its) {
            holder.changes -= 1;
            holder.settle(now);
        }
    }

    pub(in super::super) fn used(&mut self, link_use: LinkUse) {
        if self.rule != HoldPath::Never {
            self.ended.push(link_use);
            self.note_returns();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::histories::ns;
    use crate::fabric::TransferPhase;
    use crate::ids::LinkId;
    use crate::units::Bytes;

    const COMMAND: Grant = Grant { die: DieId(3), phase: TransferPhase::Command, path: PathId(1) };
    const END: AcknowledgementId = AcknowledgementId(8);
    const DATA: Grant = Grant { phase: TransferPhase::DataOut, ..COMMAND };

    fn payload(message: TransferKind) -> Payload {
        Payload { kind: message, planes: 1, command_time: Time::ZERO, bytes: Bytes::ZERO }
    }

    fn transfer(holds: &mut Holds, grant: Grant, message: TransferKind, [from, until]: [u64; 2]) {
        holds.moved(ns(from)).expect("there is no violation so far");
        holds.granted(grant, ns(from));
        holds.sent(grant, payload(message));
        holds.moved(ns(until)).expect("there is no violation so far");
        holds.released(grant, ns(until));
    }

    fn given_back(holds: &mut Holds, from: u64, until: u64) {
        holds.used(LinkUse { link: LinkId(7), die: DieId(3), from: ns(from), until: ns(until) });
    }

    #[test]
    fn a_read_that_holds_its_path_to_its_last_byte_is_right() {
        let mut holds = Holds::new(HoldPath::Always);
        transfer(&mut holds, COMMAND, TransferKind::Read, [5, 10]);
        transfer(&mut holds, DATA, TransferKind::Data, [50, 60]);
        given_back(&mut holds, 4, 60);
        assert_eq!(holds.moved(ns(61)), Ok(()));
    }

    #[test]
    fn a_path_given_back_in_the_midst_of_a_read_or_after_its_end_is_caught() {
        for until in [10, 61] {
            let mut holds = Holds::new(HoldPath::Reads);
            transfer(&mut holds, COMMAND, TransferKind::Read, [5, 10]);
            if until == 10 {
                given_back(&mut holds, 5, until);
            }
            transfer(&mut holds, DATA, TransferKind::Data, [50, 60]);
            let error = holds.moved(ns(61)).expect_err("the path was not released at 60 ns");
            assert_eq!(
                error,
                "path 1 was held for die 3 since 5ns, and not given back at 60ns, when its transaction ended"
            );
        }
    }

    #[test]
    fn a_program_holds_its_path_until_the_controller_knows_of_its_end() {
        for rule in [HoldPath::Programs, HoldPath::Reads] {
            let mut holds = Holds::new(rule);
            transfer(&mut holds, COMMAND, TransferKind::Program, [5, 10]);
            if rule == HoldPath::Programs {
                holds.moved(ns(100)).expect("there is no violation so far");
                holds.acknowledgement_sent(DieId(3), END);
                holds.acknowledged(DieId(3), END, ns(100));
                given_back(&mut holds, 5, 100);
            } else {
                given_back(&mut holds, 5, 10);
            }
            assert_eq!(holds.moved(ns(101)), Ok(()), "{rule}");
        }
    }

    #[test]
    fn a_path_that_serves_another_die_in_the_midst_of_a_transaction_is_caught() {
        let mut holds = Holds::new(HoldPath::Always);
        transfer(&mut holds, COMMAND, TransferKind::Program, [5, 10]);
        holds.moved(ns(20)).expect("there is no violation so far");
        holds.granted(Grant { die: DieId(2), ..COMMAND }, ns(20));
        let error = holds.moved(ns(21)).expect_err("die 3 programs still");
        assert_eq!(error, "path 1 serves die 2 since 20ns, in the midst of a transaction of die 3");
    }
}
