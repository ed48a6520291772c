//! Oracle `data`: the data of a program either comes over the path with its command or was copied from another chip earlier, never both. Read data
//! leaves the chip with the requested size. If programs write several mapping units, the command brings data for all of them, even for units left
//! empty. The oracle keeps a model of the page buffers and of the pages read.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::check::arithmetic::{ArrayTree, PageSplit, SlcArea, in_units, units_per_page, units_per_program};
use crate::check::id_vec::IdVec;
use crate::config::{Config, PageMove};
use crate::fabric::{Payload, TransferKind};
use crate::ids::{DieId, PlaneId, Ppn};
use crate::units::Bytes;

#[derive(Clone, Debug)]
pub(in super::super) struct Data {
    homes: ArrayTree,
    cuts: PageSplit,
    /// Whether a program of a part of a page transfers only the written sectors (`flash.partial-program`).
    partial: bool,
    /// Number of mapping units in an array page; 1 if a mapping unit is at least a page.
    units: u32,
    /// Bytes of a program in one plane, with metadata; `None` if a program writes only one mapping unit.
    program: Option<Bytes>,
    /// Bytes of a program in one plane of the SLC cache, with metadata.
    slc_program: Bytes,
    slc: SlcArea,
    has_slc: bool,
    /// For each die, bytes per plane that its last program command carried. Used only if programs write several mapping units.
    brought: IdVec<DieId, Bytes>,
    /// For each die, bytes that its last program command carried and that are not programmed yet. Includes metadata only if [`page`](Data::page)
    /// does. `None` before the first program command, and after a copyback command, whose data does not leave the die.
    commanded: IdVec<DieId, Option<Bytes>>,
    /// For each plane, the source pages of the data that was copied from other chips into its page buffer: one page, or the mapping units
    /// of one program. All source pages of a plane's buffer lie in one plane.
    copied: FxHashMap<PlaneId, Vec<Ppn>>,
    parts: TransferUnits,
    /// Number of mapping units that the page buffer of a plane can hold.
    buffered_max: usize,
    /// For each die, the pages that it has read and not yet sent to a controller or another chip, in the order of the reads.
    outgoing: IdVec<DieId, VecDeque<Outgoing>>,
    /// Number of array operations of all dies that have ended.
    ended: u64,
}

/// Number of mapping units that one transfer to another chip may carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TransferUnits {
    /// A transfer carries all mapping units of a page: it is never divided.
    Never,
    /// A transfer carries some mapping units of a page; their number follows from its bytes.
    Counted,
    /// A transfer carries some mapping units of a page, in unknown number. A notice reports each unit that arrives in another chip.
    Told,
}

/// A page that its die has read and not yet sent to a controller or another chip.
#[derive(Clone, Copy, Debug)]
struct Outgoing {
    ppn: Ppn,
    /// Bytes of the page that must leave the die; `None` if unknown.
    wanted: Option<Bytes>,
    /// Number of the array operation that read the page, from [`Data::ended`].
    operation: u64,
}

impl Data {
    pub(in super::super) const NAME: &'static str = "data";

    pub(in super::super) fn new(config: &Config) -> Data {
        let (units, cuts) = (units_per_page(config), PageSplit::new(config));
        let of_program = units_per_program(config);
        let whole = cuts.with_metadata(cuts.page_size() * u64::from(of_program));
        Data {
            units,
            parts: match config.gc.r#move {
                PageMove::ChipToChip | PageMove::Clean if of_program > 1 && config.cache.capacity > Bytes::ZERO => {
                    TransferUnits::Told
                }
                PageMove::ChipToChip | PageMove::Clean if of_program > 1 => TransferUnits::Counted,
                _ => TransferUnits::Never,
            },
            buffered_max: of_program as usize,
            program: (of_program > 1).then_some(whole),
            slc_program: cuts.with_metadata(cuts.page_size() * u64::from(units)),
            slc: SlcArea::new(config),
            has_slc: config.slc.blocks_per_plane > 0,
            brought: IdVec::default(),
            homes: ArrayTree::new(&in_units(config)),
            cuts,
            partial: config.flash.partial_program,
            commanded: IdVec::default(),
            copied: FxHashMap::default(),
            outgoing: IdVec::default(),
            ended: 0,
        }
    }

    /// Returns the bytes that a program command carries for a page: the `written` bytes with `flash.partial-program`, otherwise (or if
    /// `None`) the whole page. Includes metadata, except if programs write several units without partial programs: then metadata is counted
    /// once for the whole program.
    fn page(&self, written: Option<Bytes>) -> Bytes {
        if self.program.is_some() && !self.partial {
            return self.cuts.page_size();
        }
        self.cuts.with_metadata(written.filter(|_| self.partial).unwrap_or(self.cuts.page_size()))
    }

    pub(in super::super) fn read(&mut self, ppn: Ppn, wanted: Option<Bytes>) {
        let read = Outgoing { ppn, wanted, operation: self.ended };
        self.outgoing.at(self.homes.die_of(ppn)).push_back(read);
    }

    pub(in super::super) fn array_ended(&mut self) {
        self.ended += 1;
    }

    /// Checks the size of a transfer of read data out of a die. A transfer to another chip (`is_copy`) may carry a part of a page; later transfers
    /// carry the other parts.
    fn check_data_out(&mut self, die: DieId, bytes: Bytes, is_copy: bool) -> Result<(), String> {
        // The number of mapping units in this transfer is unknown, so its size cannot be checked. Each unit is removed from `outgoing` when the
        // notice of its arrival calls the function `copied`.
        if is_copy && self.parts == TransferUnits::Told {
            return Ok(());
        }
        // With `TransferUnits::Counted`, the mapping units of a page may leave in several transfers, some to the controller and some to other chips.
        let (cuts, may_part) = (&self.cuts, self.parts == TransferUnits::Counted);
        let is_enough =
            |wanted: Option<Bytes>| may_part && wanted.is_some_and(|wanted| cuts.with_metadata(wanted) >= bytes);
        let outgoing = self.outgoing.at(die);
        let Some(Outgoing { ppn, mut wanted, operation }) = outgoing.pop_front() else {
            return Err(format!("{bytes} left die {}, which has read nothing that is still to leave", die.0));
        };
        // Mapping units of one page that the same operation read leave the die in one transfer.
        while !is_enough(wanted)
            && let Some(&other) = outgoing.front()
            && (other.operation, other.ppn.0 / self.units) == (operation, ppn.0 / self.units)
        {
            wanted = wanted.zip(other.wanted).map(|(wanted, more)| wanted + more);
            outgoing.pop_front();
        }
        match wanted.map(|wanted| cuts.with_metadata(wanted)) {
            Some(wanted) if wanted != bytes => {
                Err(format!("{bytes} of page {} left die {}, of which {wanted} were wanted", ppn.0, die.0))
            }
            _ => Ok(()),
        }
    }

    pub(in super::super) fn sent(&mut self, die: DieId, payload: Payload) -> Result<(), String> {
        let brought = match payload.kind {
            TransferKind::Program => Some(payload.bytes),
            TransferKind::Copyback => None,
            TransferKind::Data | TransferKind::ChipToChipData => {
                return self.check_data_out(die, payload.bytes, payload.kind == TransferKind::ChipToChipData);
            }
            TransferKind::Read | TransferKind::Erase => return Ok(()),
        };
        let left = std::mem::replace(self.commanded.at(die), brought);
        if let (Some(program), false) = (self.program, self.partial) {
            if brought == Some(Bytes::ZERO) && self.has_copies(die) {
                return Ok(());
            }
            let expected = program * u64::from(payload.planes);
            let of_slc = self.slc_program * u64::from(payload.planes);
            let goes_to_slc = self.has_slc && brought == Some(of_slc);
            *self.brought.at(die) = if goes_to_slc { self.slc_program } else { program };
            let units = if goes_to_slc { u64::from(self.units) } else { self.buffered_max as u64 };
            let data = self.page(None) * (units * u64::from(payload.planes));
            *self.commanded.at(die) = brought.map(|_| data);
            return match brought {
                Some(bytes) if bytes != expected && !goes_to_slc => {
                    Err(format!("die {} was sent {bytes} for a program of {expected}", die.0))
                }
                _ => Ok(()),
            };
        }
        match left {
            Some(left) if left > Bytes::ZERO => {
                Err(format!("die {} was sent another program while {left} for the last one are left", die.0))
            }
            _ => Ok(()),
        }
    }

    pub(in super::super) fn copied(&mut self, from: Ppn, plane: PlaneId) -> Result<(), String> {
        if self.homes.chip_of_plane(self.homes.plane_of(from)) == self.homes.chip_of_plane(plane) {
            return Err(format!("page {} was copied to plane {}, which is of the same chip", from.0, plane.0));
        }
        if self.parts == TransferUnits::Told {
            // If GC and then a request read the page, it has two entries. Remove only the first, because the data for the request has not
            // left the die.
            let outgoing = self.outgoing.at(self.homes.die_of(from));
            outgoing.iter().position(|read| read.ppn == from).and_then(|first| outgoing.remove(first));
        }
        let (homes, held) = (&self.homes, self.copied.entry(plane).or_default());
        if let Some(before) = held.first()
            && (held.len() == self.buffered_max || homes.plane_of(*before) != homes.plane_of(from))
        {
            return Err(format!(
                "page {} was copied to plane {}, whose buffer holds what came from page {}",
                from.0, plane.0, before.0
            ));
        }
        held.push(from);
        Ok(())
    }

    /// Returns whether the page buffer of any plane of the die holds data that came from other chips.
    fn has_copies(&self, die: DieId) -> bool {
        self.copied.iter().any(|(plane, held)| self.homes.die_of_plane(*plane) == die && !held.is_empty())
    }

    pub(in super::super) fn dropped(&mut self, from: Ppn, plane: PlaneId) -> Result<(), String> {
        if self.take_copied(from, plane) {
            return Ok(());
        }
        Err(format!("page {} was dropped from the buffer of plane {}, which does not hold it", from.0, plane.0))
    }

    /// Removes the data of page `from` from the page buffer of `plane`. Returns whether the buffer held the data.
    fn take_copied(&mut self, from: Ppn, plane: PlaneId) -> bool {
        let Some(held) = self.copied.get_mut(&plane) else { return false };
        let at = held.iter().position(|held| *held == from);
        at.is_some_and(|at| held.swap_remove(at) == from)
    }

    /// Checks that the data for the programmed page `ppn` has reached the die. `from` is the old location of a moved page; `None` for other pages.
    /// `written` is the number of bytes that a request or a destage wrote; `None` for the whole page.
    pub(in super::super) fn programmed(
        &mut self,
        ppn: Ppn,
        from: Option<Ppn>,
        written: Option<Bytes>,
    ) -> Result<(), String> {
        let plane = self.homes.plane_of(ppn);
        if from.is_some_and(|from| self.take_copied(from, plane)) {
            return Ok(());
        }
        let (die, page) = (self.homes.die_of(ppn), self.page(written));
        if let (Some(program), true, false) = (self.program, self.has_slc, self.partial) {
            let expected = if self.slc.holds(ppn) { self.slc_program } else { program };
            let brought = *self.brought.at(die);
            if brought != expected {
                return Err(format!("page {} was programmed, whose program takes {expected}, with {brought}", ppn.0));
            }
        }
        match self.commanded.at(die) {
            None => Ok(()),
            Some(left) if *left >= page => {
                *left = *left - page;
                Ok(())
            }
            _ => Err(format!("page {} was programmed, but no data for it has come to die {}", ppn.0, die.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Oracles;
    use crate::check::histories::{assert_fails, assert_silent, config, operation, oracles_with, submit, us};
    use crate::config::PreconditionKind;
    use crate::fabric::{Grant, SendOutcome, TransferPhase};
    use crate::flash::die::OperationKind;
    use crate::ids::{Lpn, PathId, RequestId};
    use crate::units::{Rate, Time};
    use crate::workload::RequestKind;

    fn data() -> Data {
        Data::new(&config())
    }

    /// Sends a program command with the data of `pages` pages to die 1, whose two planes start at pages 64 and 96.
    fn send(data: &mut Data, pages: u64) -> Result<(), String> {
        let bytes = data.page(None) * pages;
        data.sent(DieId(1), Payload { kind: TransferKind::Program, planes: 2, command_time: Time::ZERO, bytes })
    }

    #[test]
    fn data_that_comes_with_the_command_and_data_that_was_copied_before_are_right() {
        let mut data = data();
        assert_eq!(send(&mut data, 2), Ok(()));
        assert_eq!(
            (data.programmed(Ppn(64), None, None), data.programmed(Ppn(96), Some(Ppn(100)), None)),
            (Ok(()), Ok(()))
        );
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        assert_eq!(send(&mut data, 0), Ok(()));
        assert_eq!(data.programmed(Ppn(65), Some(Ppn(0)), None), Ok(()));
        assert_eq!(data.copied(Ppn(1), PlaneId(2)), Ok(()));
        assert_eq!(data.dropped(Ppn(1), PlaneId(2)), Ok(()));
    }

    #[test]
    fn a_program_whose_data_never_came_is_caught() {
        let mut data = data();
        assert_eq!(send(&mut data, 1), Ok(()));
        assert_eq!(data.programmed(Ppn(64), None, None), Ok(()));
        let error = data.programmed(Ppn(96), None, None).expect_err("data of only one page came");
        assert_eq!(error, "page 96 was programmed, but no data for it has come to die 1");
        // The copied page is not the data of another page.
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        assert!(data.programmed(Ppn(65), Some(Ppn(1)), None).is_err());
    }

    #[test]
    fn data_that_comes_for_nothing_is_caught() {
        let mut data = data();
        assert_eq!((data.copied(Ppn(0), PlaneId(2)), send(&mut data, 1)), (Ok(()), Ok(())));
        assert_eq!(data.programmed(Ppn(64), Some(Ppn(0)), None), Ok(()));
        let error = send(&mut data, 1).expect_err("the page was in the buffer already");
        assert_eq!(error, "die 1 was sent another program while 4KiB for the last one are left");
    }

    #[test]
    fn a_buffer_that_is_full_empty_or_of_the_same_chip_is_caught() {
        let mut data = data();
        assert!(data.copied(Ppn(64), PlaneId(3)).is_err_and(|error| error.contains("of the same chip")));
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        assert!(data.copied(Ppn(1), PlaneId(2)).is_err_and(|error| error.contains("holds what came from page 0")));
        assert!(data.dropped(Ppn(1), PlaneId(5)).is_err_and(|error| error.contains("plane 5, which does not hold")));
    }

    #[test]
    fn units_of_more_than_a_program_or_of_two_victims_in_a_buffer_are_caught() {
        let mut config = config();
        config.ftl.mapping_unit = Some(Bytes::new(config.geometry.page_size.as_u64() / 2));
        let mut data = Data::new(&config);
        assert_eq!((data.copied(Ppn(0), PlaneId(2)), data.copied(Ppn(1), PlaneId(2))), (Ok(()), Ok(())));
        assert!(data.copied(Ppn(3), PlaneId(2)).is_err_and(|error| error.contains("holds what came from page 0")));
        assert_eq!((data.dropped(Ppn(1), PlaneId(2)), data.dropped(Ppn(0), PlaneId(2))), (Ok(()), Ok(())));
        assert!(data.dropped(Ppn(0), PlaneId(2)).is_err());
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        let of_plane_1 = Ppn(data.homes.ppn(data.homes.block(PlaneId(1), 0), 0).0);
        assert!(data.copied(of_plane_1, PlaneId(2)).is_err());
    }

    #[test]
    fn units_whose_metadata_is_rounded_up_once_for_their_program_are_right() {
        let mut config = config();
        (config.geometry.page_spare, config.ftl.mapping_unit) = (Bytes::new(100), Some(Bytes::new(512)));
        let mut data = Data::new(&config);
        let first = data.homes.ppn(data.homes.block(PlaneId(2), 0), 0).0;
        let bytes = Bytes::new(4096 + 100);
        let payload = Payload { kind: TransferKind::Program, planes: 1, command_time: Time::ZERO, bytes };
        assert_eq!(data.sent(DieId(1), payload), Ok(()));
        for unit in first..first + 8 {
            assert_eq!(data.programmed(Ppn(unit), None, None), Ok(()), "{unit}");
        }
        assert!(data.programmed(Ppn(first + 8), None, None).is_err(), "eight units came");
    }

    /// Runs a request for 512 B of logical page 7 that reads the page from the array and transfers `sent` bytes.
    fn page_read(config: &Config, kind: RequestKind, sent: u64) -> Oracles {
        let mut config = config.clone();
        config.precondition.kind = PreconditionKind::Sequential;
        let mut oracles = oracles_with(&config);
        submit(&mut oracles, 5, kind, 7 * 4096 + 512, 512, us(0));
        read_and_send(&mut oracles, 64, 7, Some(5), sent);
        oracles
    }

    fn read_and_send(oracles: &mut Oracles, ppn: u32, lpn: u32, request: Option<u32>, sent: u64) {
        let end = operation(oracles, DieId(1), OperationKind::Read, us(0));
        oracles.page_read(Ppn(ppn), Lpn(lpn), request.map(RequestId), end);
        let bytes = Bytes::new(sent);
        let payload = Payload { kind: TransferKind::Data, planes: 1, command_time: Time::ZERO, bytes };
        let grant = Grant { die: DieId(1), phase: TransferPhase::DataOut, path: PathId(0) };
        oracles.path_granted(grant, end);
        oracles.sent(grant, DieId(1), payload, SendOutcome { arrival: None, min_duration: Time::ZERO }, end);
    }

    #[test]
    fn another_cut_of_a_page_than_was_asked_for_is_caught() {
        let config_of = |partial_program| {
            let mut config = config();
            config.geometry.page_spare = Bytes::new(64);
            config.flash.partial_program = partial_program;
            config.fabric.channel_rate = Rate::UNLIMITED;
            config
        };
        // The bytes include metadata in proportion: a page of 4 KiB has 64 B, so 512 B have 8 B.
        for (partial, kind, right) in [
            (false, RequestKind::Read, 512 + 8),
            (true, RequestKind::Read, 512 + 8),
            (false, RequestKind::Write, 4096 + 64),
            (true, RequestKind::Write, 3584 + 56),
        ] {
            for wrong in [512, 1024 + 16, 4096 + 63] {
                let caught = page_read(&config_of(partial), kind, wrong);
                assert_fails(
                    &caught,
                    "data",
                    &format!("of page 64 left die 1, of which {} were wanted", Bytes::new(right)),
                );
            }
            assert_silent(&page_read(&config_of(partial), kind, right));
        }
        // A GC move has no request, so its page leaves the die as a whole: 4096 B with 64 B of metadata.
        for (sent, is_right) in [(4096 + 64, true), (512 + 8, false)] {
            let mut oracles = oracles_with(&config_of(true));
            read_and_send(&mut oracles, 64, 7, None, sent);
            assert_eq!(oracles.verdict().is_ok(), is_right, "{:?}", oracles.violation());
        }
    }

    #[test]
    fn data_of_a_page_that_was_not_read_is_caught() {
        let mut data = data();
        data.read(Ppn(0), None);
        let payload =
            Payload { kind: TransferKind::ChipToChipData, planes: 1, command_time: Time::ZERO, bytes: Bytes::new(512) };
        assert_eq!(data.sent(DieId(0), payload), Ok(()));
        let error = data.sent(DieId(0), payload).expect_err("only one page was read");
        assert_eq!(error, "512B left die 0, which has read nothing that is still to leave");
    }

    #[test]
    fn a_page_read_for_a_move_to_another_chip_and_then_for_a_request_leaves_twice() {
        let mut config = config();
        config.ftl.mapping_unit = Some(Bytes::new(config.geometry.page_size.as_u64() / 2));
        config.gc.r#move = PageMove::ChipToChip;
        config.cache.capacity = Bytes::from_kib(64);
        let mut data = Data::new(&config);
        let left = |kind| Payload { kind, planes: 1, command_time: Time::ZERO, bytes: Bytes::from_kib(2) };
        data.read(Ppn(0), None);
        assert_eq!(data.sent(DieId(0), left(TransferKind::ChipToChipData)), Ok(()));
        data.array_ended();
        data.read(Ppn(0), None);
        assert_eq!(data.copied(Ppn(0), PlaneId(2)), Ok(()));
        assert_eq!(data.sent(DieId(0), left(TransferKind::Data)), Ok(()));
        let error = data.sent(DieId(0), left(TransferKind::Data)).expect_err("both reads have left");
        assert_eq!(error, "2KiB left die 0, which has read nothing that is still to leave");
    }

    #[test]
    fn what_was_written_of_a_page_is_all_that_comes_where_programs_are_partial() {
        for (partial, brought, right) in
            [(true, 512, true), (true, 4096, false), (false, 512, false), (false, 4096, true)]
        {
            let mut config = config();
            config.flash.partial_program = partial;
            let mut data = Data::new(&config);
            let bytes = Bytes::new(brought);
            let payload = Payload { kind: TransferKind::Program, planes: 1, command_time: Time::ZERO, bytes };
            assert_eq!(data.sent(DieId(1), payload), Ok(()));
            let programmed = data.programmed(Ppn(64), None, Some(Bytes::new(512)));
            let next = data.sent(DieId(1), payload);
            assert_eq!(programmed.is_ok() && next.is_ok(), right, "{partial}, {brought} B");
        }
    }
}
