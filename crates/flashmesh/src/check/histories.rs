//! Short event histories for the tests of oracles: valid ones, and some with an injected fault.

use crate::config::{Config, PreconditionKind};
use crate::flash::die::OperationKind;
use crate::flash::geometry::Geometry;
use crate::ids::{BlockId, DieId, Lpn, Ppn, RequestId};
use crate::units::{Bytes, Time};
use crate::workload::{IoRequest, RequestKind};

use super::{Oracles, Origin};

/// Returns the configuration of a drive with four dies on two channels. Each die has two planes of eight blocks, each with four pages of 4 KiB. The
/// logical pages are 0 to 127.
pub(super) fn config() -> Config {
    let mut config = Config::default();
    config.geometry.channels = 2;
    config.geometry.chips_per_channel = 2;
    config.geometry.blocks_per_plane = 8;
    config.geometry.pages_per_block = 4;
    config.geometry.capacity = Some(Bytes::from_kib(4 * 128));
    config
}

pub(super) fn geometry() -> Geometry {
    Geometry::new(&config().geometry).expect("the geometry is possible")
}

pub(super) fn oracles_with(config: &Config) -> Oracles {
    let geometry = Geometry::new(&config.geometry).expect("the geometry is possible");
    Oracles::new(&geometry, config)
}

pub(super) fn oracles() -> Oracles {
    oracles_with(&config())
}

/// Creates oracles of a drive whose logical pages were all written before the run.
pub(super) fn oracles_of_a_full_drive() -> Oracles {
    let mut config = config();
    config.precondition.kind = PreconditionKind::Sequential;
    oracles_with(&config)
}

pub(super) fn ns(nanoseconds: u64) -> Time {
    Time::from_ns(nanoseconds)
}

pub(super) fn us(microseconds: u64) -> Time {
    Time::from_us(microseconds)
}

pub(super) fn operation(oracles: &mut Oracles, die: DieId, kind: OperationKind, start: Time) -> Time {
    let flash = config().flash;
    let time = match kind {
        OperationKind::Read => flash.read_time,
        OperationKind::Program => flash.program_time,
        OperationKind::Erase => flash.erase_time,
        OperationKind::Copyback => flash.read_time + flash.program_time,
    };
    let end = start + time;
    oracles.operation_began(die, kind, 1, start);
    oracles.array_began(die, kind, start, end);
    oracles.event(end);
    oracles.array_ended(die, end);
    end
}

fn die_of(ppn: Ppn) -> DieId {
    let geometry = geometry();
    geometry.die_of_plane(geometry.plane_of(ppn))
}

/// Reports a read of the page `ppn`, which contains logical page `lpn`, from time `start` on. `request` is the request that reads; `None`
/// for firmware. Returns the time at which the data has left the die.
pub(super) fn read(oracles: &mut Oracles, ppn: u32, lpn: u32, request: Option<u32>, start: Time) -> Time {
    let end = operation(oracles, die_of(Ppn(ppn)), OperationKind::Read, start);
    oracles.page_read(Ppn(ppn), Lpn(lpn), request.map(RequestId), end);
    oracles.data_out_ended(die_of(Ppn(ppn)), end);
    end
}

pub(super) fn program(oracles: &mut Oracles, ppn: u32, lpn: u32, origin: Origin, start: Time) -> Time {
    let end = operation(oracles, die_of(Ppn(ppn)), OperationKind::Program, start);
    oracles.page_programmed(Ppn(ppn), Lpn(lpn), origin, end);
    end
}

pub(super) fn erase(oracles: &mut Oracles, block: u32, start: Time) -> Time {
    let end = operation(oracles, die_of(geometry().ppn(BlockId(block), 0)), OperationKind::Erase, start);
    oracles.block_erased(BlockId(block), end);
    end
}

/// Reports the arrival of a request for the bytes from `offset` to `offset + size`.
pub(super) fn submit(oracles: &mut Oracles, id: u32, kind: RequestKind, offset: u64, size: u64, now: Time) {
    let io = IoRequest { arrival: now, kind, offset: Bytes::new(offset), size: Bytes::new(size), stream: 0 };
    oracles.request_submitted(RequestId(id), &io, now);
}

/// Reports a request that writes the whole logical page `lpn` to `ppn`. Returns the completion time of the request.
pub(super) fn write(oracles: &mut Oracles, id: u32, ppn: u32, lpn: u32, start: Time) -> Time {
    submit(oracles, id, RequestKind::Write, u64::from(lpn) * 4096, 4096, start);
    let end = program(oracles, ppn, lpn, Origin::User(RequestId(id)), start);
    oracles.request_completed(RequestId(id), end);
    end
}

/// Runs the final checks of a complete run whose map has the pages at the locations that the oracles expect.
pub(super) fn end(oracles: &mut Oracles, now: Time) {
    let places: Vec<_> = (0..128).map(|lpn| oracles.pages.location(Lpn(lpn))).collect();
    oracles.finish_with(|lpn| places[lpn.index()], || Ok(()), true, now);
}

#[track_caller]
pub(super) fn assert_silent(oracles: &Oracles) {
    assert_eq!(oracles.violation(), None);
}

/// Asserts that the first violation comes from the oracle named `oracle`, with a message that contains `text`.
#[track_caller]
pub(super) fn assert_fails(oracles: &Oracles, oracle: &str, text: &str) {
    let violation = oracles.violation().expect("the injected fault is seen");
    assert_eq!(violation.oracle, oracle, "{violation}");
    assert!(violation.message.contains(text), "{violation}\nis expected to hold\n{text}");
    assert!(oracles.verdict().is_err());
}
