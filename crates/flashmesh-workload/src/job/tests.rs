use super::*;
use crate::config::{Pattern, Replay, Sizes, Workload};

const KIB: u64 = 1024;
const SECTOR: Bytes = Bytes::new(512);

fn workload(footprint_kib: u64) -> Workload {
    Workload {
        kind: config::WorkloadKind::Job,
        footprint: Some(Bytes::from_kib(footprint_kib)),
        pass_size: Some(Bytes::from_kib(footprint_kib)),
        ..Workload::default()
    }
}

fn sizes(weighted: &[(u64, f64)]) -> Sizes {
    Sizes(weighted.iter().map(|&(kib, weight)| (Bytes::from_kib(kib), weight)).collect())
}

fn source(workload: &Workload) -> JobSource {
    JobSource::new(workload, &Replay::default(), Bytes::from_kib(1 << 20), SECTOR, 1).unwrap()
}

/// Returns the kind, the offset in KiB and the size in KiB of every request.
fn requests(workload: &Workload) -> Vec<(RequestKind, u64, u64)> {
    let mut source = source(workload);
    let next = || source.next_request(0).unwrap();
    std::iter::from_fn(next).map(|io| (io.kind, io.offset.as_u64() / KIB, io.size.as_u64() / KIB)).collect()
}

fn offsets(workload: &Workload) -> Vec<u64> {
    requests(workload).into_iter().map(|(_, offset, _)| offset).collect()
}

#[test]
fn a_sequential_mix_has_a_position_for_each_direction() {
    let mixed = Workload { pattern: Pattern::Sequential, read_share: 0.5, ..workload(256) };
    let mut expected = [0, 0];
    let found = requests(&mixed);
    for (kind, offset, _) in &found {
        let direction = usize::from(*kind == RequestKind::Write);
        assert_eq!(*offset, expected[direction]);
        expected[direction] += 4;
    }
    assert_eq!(found.len(), 64);
    assert!(expected[0] > 40 && expected[1] > 40, "{expected:?}");
}

#[test]
fn a_random_map_covers_every_block_once_in_each_pass() {
    let mapped = Workload { read_share: 0.0, random_map: true, passes: 3, ..workload(4096) };
    let found = offsets(&mapped);
    assert_eq!(found.len(), 3 * 1024);
    for pass in found.chunks(1024) {
        let mut covered = pass.to_vec();
        covered.sort_unstable();
        assert!(covered.into_iter().eq((0..1024).map(|block| block * 4)));
    }
    assert_ne!(found[..1024], found[1024..2048]);
    let same = offsets(&Workload { same_passes: true, ..mapped });
    assert_eq!(same[..1024], same[2048..]);
}

#[test]
fn a_request_is_cut_short_where_its_pass_has_been() {
    let mapped =
        Workload { read_share: 0.0, random_map: true, request_size: sizes(&[(4, 1.0), (16, 1.0)]), ..workload(1024) };
    let mut covered = vec![false; 256];
    for (_, offset, size) in requests(&mapped) {
        for block in offset / 4..(offset + size) / 4 {
            assert!(!std::mem::replace(&mut covered[block as usize], true), "{block} is covered twice");
        }
    }
    assert!(covered.into_iter().all(|block| block));
}

#[test]
fn files_take_turns_each_at_its_own_position() {
    let of_files = Workload { pattern: Pattern::Sequential, files: 3, ..workload(24) };
    assert_eq!(offsets(&of_files), [0, 8, 16, 4, 12, 20]);
    let in_order = Workload { file_order: FileOrder::Sequential, ..of_files.clone() };
    assert_eq!(offsets(&in_order), [0, 4, 8, 12, 16, 20]);
    let mut any = offsets(&Workload { file_order: FileOrder::Random, ..of_files });
    any.sort_unstable();
    assert_eq!(any, [0, 4, 8, 12, 16, 20]);
}

#[test]
fn sequential_requests_of_several_sizes_leave_no_gap() {
    let mixed = Workload { pattern: Pattern::Sequential, request_size: sizes(&[(4, 1.0), (10, 1.0)]), ..workload(512) };
    let found = requests(&mixed);
    assert!(found.windows(2).all(|pair| pair[0].1 + pair[0].2 == pair[1].1), "{found:?}");
}

#[test]
fn each_direction_has_its_own_sizes() {
    let mixed = Workload {
        read_share: 0.5,
        request_size: sizes(&[(4, 1.0)]),
        write_size: Some(sizes(&[(16, 1.0)])),
        ..workload(512)
    };
    for (kind, offset, size) in requests(&mixed) {
        assert_eq!(size, if kind == RequestKind::Read { 4 } else { 16 });
        assert_eq!(offset % size, 0, "each request starts at a multiple of its own size");
    }
}

#[test]
fn a_flush_follows_every_so_many_writes() {
    let flushed = Workload { pattern: Pattern::Sequential, read_share: 0.0, flush_every: Some(3), ..workload(32) };
    let kinds: Vec<bool> = requests(&flushed).iter().map(|&(kind, ..)| kind == RequestKind::Flush).collect();
    assert_eq!(kinds, [false, false, false, true, false, false, false, true, false, false]);
}

#[test]
fn a_mix_flushes_again_after_each_read_until_its_next_write() {
    let mixed = Workload {
        pattern: Pattern::Sequential,
        read_share: 0.6,
        flush_every: Some(2),
        pass_size: None,
        requests: Some(500),
        ..workload(1024)
    };
    let kinds: Vec<RequestKind> = requests(&mixed).into_iter().map(|(kind, ..)| kind).collect();
    let mut writes = 0;
    for pair in kinds.windows(2) {
        writes += usize::from(pair[0] == RequestKind::Write);
        let is_due = writes > 0 && writes % 2 == 0 && pair[0] != RequestKind::Flush;
        assert_eq!(pair[1] == RequestKind::Flush, is_due, "after {writes} writes");
    }
    assert!(kinds.windows(2).any(|pair| pair == [RequestKind::Read, RequestKind::Flush]));
}

#[test]
fn each_file_is_flushed_at_the_end_of_each_pass() {
    let are_flushes = |job: &Workload| {
        requests(job).iter().map(|&(kind, ..)| if kind == RequestKind::Flush { 'f' } else { '.' }).collect::<String>()
    };
    let flushed = Workload { read_share: 0.0, flush_last: true, passes: 2, ..workload(16) };
    assert_eq!(are_flushes(&flushed), "....f....f");
    assert_eq!(are_flushes(&Workload { requests: Some(3), ..flushed.clone() }), "...f");
    assert_eq!(are_flushes(&Workload { files: 2, ..flushed.clone() }), "....ff....ff");
    // A pass of 40 KiB covers the file of 16 KiB two and a half times. A flush follows at each end of the file, and at the end of the pass.
    let longer = Workload { pass_size: Some(Bytes::from_kib(40)), passes: 1, ..flushed.clone() };
    assert_eq!(are_flushes(&Workload { pattern: Pattern::Sequential, ..longer }), "....f....f..f");
    // `flush-every` requests a flush after the fourth write, which is the last. `flush-last` does not repeat this flush.
    let due = Workload { pattern: Pattern::Sequential, flush_every: Some(4), passes: 1, ..flushed };
    assert_eq!(
        are_flushes(&Workload { footprint: Some(Bytes::from_kib(18)), pass_size: Some(Bytes::from_kib(18)), ..due }),
        "....f"
    );
}

#[test]
fn a_flush_takes_the_turn_of_a_file() {
    let turns =
        Workload { pattern: Pattern::Sequential, read_share: 0.0, files: 2, flush_every: Some(3), ..workload(32) };
    // The zeros after 4 and 12 are flushes, which have offset 0. Each flush replaces a request to file 1, so a request to file 0 follows,
    // until file 0 ends at 16 KiB.
    assert_eq!(offsets(&turns), [0, 16, 4, 0, 8, 20, 12, 0, 24, 28]);
}

#[test]
fn a_mix_begins_anew_when_one_direction_is_at_the_end() {
    let mixed = Workload {
        pattern: Pattern::Sequential,
        read_share: 0.6,
        pass_size: Some(Bytes::from_kib(192)),
        ..workload(64)
    };
    let (mut expected, mut restarts) = ([0, 0], 0);
    let found = requests(&mixed);
    for &(kind, offset, _) in &found {
        let direction = usize::from(kind == RequestKind::Write);
        if offset == 0 && expected[direction] > 0 {
            assert_eq!(expected[0].max(expected[1]), 64);
            expected = [0, 0];
            restarts += 1;
        }
        assert_eq!(offset, expected[direction]);
        expected[direction] += 4;
    }
    assert_eq!((found.len(), restarts > 0), (48, true));
}

#[test]
fn a_pass_ends_with_its_files_unless_it_has_more_bytes() {
    // The file of 52 KiB has a request of 4 KiB every 12 KiB. The fifth request ends at the end of the file.
    let holes = Workload { pattern: Pattern::Sequential, skip: Bytes::from_kib(8), ..workload(52) };
    assert_eq!(offsets(&holes), [0, 12, 24, 36, 48]);
    let longer = Workload { pass_size: Some(Bytes::from_kib(56)), ..holes };
    assert_eq!(offsets(&longer).len(), 14);
    // Each of the two files has 30 KiB: seven requests of 4 KiB per pass, and 2 KiB that remain unused.
    let files = Workload { pattern: Pattern::Sequential, files: 2, passes: 2, ..workload(60) };
    assert_eq!(offsets(&files).len(), 2 * 14);
}

#[test]
fn a_file_serves_its_run_and_its_weight() {
    let runs = Workload { pattern: Pattern::Sequential, files: 2, file_run: 3, ..workload(40) };
    assert_eq!(offsets(&runs), [0, 4, 8, 20, 24, 28, 12, 16, 32, 36]);
    let weighted = Workload {
        files: 3,
        file_order: FileOrder::Random,
        file_weights: Some("1:0:3".to_owned()),
        pass_size: None,
        requests: Some(4000),
        ..workload(48)
    };
    let mut counts = [0; 3];
    offsets(&weighted).into_iter().for_each(|offset| counts[offset as usize / 16] += 1);
    assert!(counts[1] == 0 && (900..=1100).contains(&counts[0]), "{counts:?}");
}

#[test]
fn reads_and_writes_have_a_share_of_random_draws_each() {
    let mixed = Workload {
        read_share: 0.5,
        write_random_share: Some(0.0),
        pass_size: None,
        requests: Some(1000),
        ..workload(1 << 16)
    };
    let found = requests(&mixed);
    let steps = |kind| {
        let of_kind: Vec<u64> = found.iter().filter(|row| row.0 == kind).map(|row| row.1).collect();
        (of_kind.windows(2).filter(|pair| pair[1] == pair[0] + 4).count(), of_kind.len() - 1)
    };
    let (writes, reads) = (steps(RequestKind::Write), steps(RequestKind::Read));
    assert_eq!(writes.0, writes.1);
    assert!(reads.0 < 10, "{reads:?}");
}

#[test]
fn a_place_is_deallocated_before_it_is_written() {
    let pairs = Workload { deallocate_first: true, random_map: true, ..workload(64) };
    let found = requests(&pairs);
    assert_eq!(found.len(), 32);
    for pair in found.chunks(2) {
        assert_eq!((pair[0].0, pair[1].0), (RequestKind::Deallocate, RequestKind::Write));
        assert_eq!((pair[0].1, pair[0].2), (pair[1].1, pair[1].2));
    }
}

#[test]
fn runs_follow_a_drawn_place() {
    let runs = Workload { run_length: 4, pass_size: None, requests: Some(400), ..workload(1 << 16) };
    let found = offsets(&runs);
    let follow = found.windows(2).filter(|pair| pair[1] == pair[0] + 4).count();
    assert!((298..=302).contains(&follow), "{follow}");
    assert!(found.chunks(4).filter(|run| run.windows(2).all(|pair| pair[1] == pair[0] + 4)).count() >= 98);
    let again = offsets(&Workload { run_kind: RunKind::Identical, ..runs.clone() });
    assert!((298..=302).contains(&again.windows(2).filter(|pair| pair[1] == pair[0]).count()));
    let half = offsets(&Workload { run_length: 1, random_share: 0.5, requests: Some(4000), ..runs });
    let follow = half.windows(2).filter(|pair| pair[1] == pair[0] + 4).count();
    assert!((1850..=2150).contains(&follow), "{follow}");
}

#[test]
fn without_passes_positions_begin_anew_each_for_itself() {
    let timed = Workload {
        pattern: Pattern::Sequential,
        read_share: 0.9,
        pass_size: None,
        requests: Some(1000),
        ..workload(64)
    };
    let mut expected = [0, 0];
    for (kind, offset, _) in requests(&timed) {
        let direction = usize::from(kind == RequestKind::Write);
        assert_eq!(offset, expected[direction]);
        expected[direction] = (expected[direction] + 4) % 64;
    }
    let random = Workload { pattern: Pattern::Random, read_share: 1.0, random_map: true, ..timed };
    assert_eq!(offsets(&random).len(), 1000);
}

#[test]
fn the_count_that_is_foretold_is_the_count_that_comes() {
    for job in [
        Workload { passes: 3, ..workload(64) },
        Workload { requests: Some(7), ..workload(64) },
        Workload { deallocate_first: true, ..workload(64) },
        Workload { pass_size: Some(Bytes::from_kib(160)), pattern: Pattern::Sequential, ..workload(64) },
    ] {
        assert_eq!(source(&job).request_count(), Some(requests(&job).len() as u64));
    }
    // A pass of 10 KiB has two requests of 4 KiB. Its last 2 KiB are less than a request.
    let odd = Workload { pattern: Pattern::Sequential, passes: 2, ..workload(10) };
    assert_eq!((offsets(&odd), source(&odd).request_count()), (vec![0, 4, 0, 4], None));
}

#[test]
fn refuses_what_does_not_fit_and_names_the_key() {
    for (job, key) in [
        (Workload { files: 64, ..workload(64) }, "workload.request-size"),
        (Workload { footprint_start: Bytes::from_kib(1 << 20), ..workload(64) }, "workload.footprint-start"),
        (Workload { files: 2, file_weights: Some("1:2:3".to_owned()), ..workload(64) }, "workload.file-weights"),
        (Workload { files: 2, file_weights: Some("1:x".to_owned()), ..workload(64) }, "workload.file-weights"),
        (Workload { files: 2, file_weights: Some("0:0".to_owned()), ..workload(64) }, "workload.file-weights"),
        (Workload { random_map: true, alignment: Some(Bytes::from_kib(8)), ..workload(64) }, "workload.alignment"),
        (Workload { write_size: Some(sizes(&[(128, 1.0)])), read_share: 0.5, ..workload(64) }, "workload.request-size"),
    ] {
        let made = JobSource::new(&job, &Replay::default(), Bytes::from_kib(1 << 20), SECTOR, 1);
        let message = made.unwrap_err().to_string();
        assert!(message.starts_with(key), "{message}");
    }
}
