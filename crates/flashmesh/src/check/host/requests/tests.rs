use crate::check::arithmetic::PageSplit;
use crate::check::histories::{
    assert_fails, assert_silent, config, end, oracles, oracles_of_a_full_drive, program, read, submit, us,
};
use crate::check::{Oracles, Origin};
use crate::config::Namespace;
use crate::ids::{Lpn, RequestId};
use crate::units::{Bytes, Time};
use crate::workload::IoRequest;
use crate::workload::RequestKind::{Deallocate, Flush, Read, Write, WriteZeroes};

const ID: RequestId = RequestId(5);

/// Returns oracles after the arrival of a read of logical pages 3 and 4 (request `ID`).
fn reading() -> Oracles {
    let mut oracles = oracles_of_a_full_drive();
    submit(&mut oracles, ID.0, Read, 3 * 4096, 8192, us(1));
    oracles
}

#[test]
fn requests_that_complete_with_all_their_pages_are_right() {
    let mut oracles = oracles();
    submit(&mut oracles, ID.0, Read, 3 * 4096, 8192, us(1));
    // Unwritten, logical pages 3 and 4 are read at the first pages of planes 6 and 1: channels vary fastest, then ways, then planes.
    let now = read(&mut oracles, 6 * 32, 3, Some(ID.0), us(1));
    let now = read(&mut oracles, 32, 4, Some(ID.0), now);
    oracles.request_completed(ID, now);
    // The id of the completed request is free for another.
    submit(&mut oracles, ID.0, Write, 0, 4096, now);
    let now = program(&mut oracles, 0, 0, Origin::User(ID), now);
    oracles.request_completed(ID, now);
    submit(&mut oracles, ID.0, Deallocate, 0, 4096, now);
    oracles.request_completed(ID, now);
    end(&mut oracles, now);
    assert_silent(&oracles);
}

#[test]
fn a_request_that_never_completes_is_caught_at_the_end() {
    let mut oracles = reading();
    end(&mut oracles, us(9));
    let message =
        "request 5 (Read of 8KiB at 12288 B) of 1 requests in flight never completed; it reached the drive at 1us";
    assert_fails(&oracles, "requests", message);
}

#[test]
fn a_request_that_completes_twice_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, ID.0, Deallocate, 0, 4096, us(1));
    oracles.request_completed(ID, us(2));
    oracles.request_completed(ID, us(3));
    assert_fails(&oracles, "requests", "request 5 completed at 3us, but is not in flight");
}

#[test]
fn a_request_that_completes_before_it_was_submitted_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, ID.0, Deallocate, 0, 4096, us(1));
    oracles.request_completed(ID, Time::from_ps(999_999));
    assert_fails(&oracles, "requests", "completed at 999.999ns, before it reached the drive at 1us");
}

#[test]
fn a_request_submitted_twice_is_caught() {
    let mut oracles = reading();
    submit(&mut oracles, ID.0, Read, 0, 4096, us(2));
    assert_fails(&oracles, "requests", "reached the drive again; it is there since 1us and has not completed");
}

#[test]
fn a_flush_waits_for_the_writes_to_its_namespace_only() {
    let mut config = crate::check::histories::config();
    let half = Namespace { capacity: Some(Bytes::from_kib(4 * 64)), ..Namespace::default() };
    config.namespace = vec![("a".to_owned(), half.clone()), ("b".to_owned(), half)];
    for (flushed, waits) in [(0, false), (64, true)] {
        let mut oracles = crate::check::histories::oracles_with(&config);
        submit(&mut oracles, 1, Write, 64 * 4096, 4096, us(0));
        submit(&mut oracles, 2, Flush, flushed * 4096, 0, us(1));
        oracles.flush_began(RequestId(2), flushed as u32..flushed as u32 + 64, us(1));
        oracles.request_completed(RequestId(2), us(2));
        if waits {
            assert_fails(&oracles, "requests", "before request 1 was in the flash");
        } else {
            assert_silent(&oracles);
        }
    }
}

#[test]
fn a_flush_that_completes_before_an_earlier_write_is_in_the_flash_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, 1, Write, 0, 4096, us(1));
    submit(&mut oracles, 2, Flush, 0, 0, us(2));
    oracles.flush_began(RequestId(2), 0..128, us(2));
    // The flush does not wait for a write that reached the drive after it.
    submit(&mut oracles, 3, Write, 4096, 4096, us(3));
    let now = program(&mut oracles, 0, 0, Origin::User(RequestId(1)), us(3));
    submit(&mut oracles, 4, Flush, 0, 0, now);
    oracles.flush_began(RequestId(4), 0..128, now);
    oracles.request_completed(RequestId(2), now);
    assert_silent(&oracles);
    oracles.request_completed(RequestId(4), now);
    assert_fails(&oracles, "requests", "before request 3 was in the flash");
}

#[test]
fn zeroes_program_parts_of_pages_only() {
    let mut right = oracles();
    submit(&mut right, ID.0, WriteZeroes, 512, 8192 - 512, us(1));
    let now = program(&mut right, 0, 0, Origin::User(ID), us(1));
    right.request_completed(ID, now);
    assert_silent(&right);

    let mut whole = oracles();
    submit(&mut whole, ID.0, WriteZeroes, 512, 8192 - 512, us(1));
    program(&mut whole, 0, 1, Origin::User(ID), us(1));
    assert_fails(&whole, "requests", "logical page 1 was programmed for request 5 (WriteZeroes");
}

#[test]
fn a_request_that_was_refused_completes_without_its_pages_and_touches_none() {
    let mut oracles = oracles();
    oracles.request_refused(ID, us(1));
    oracles.request_completed(ID, us(2));
    assert_silent(&oracles);
    oracles.request_refused(ID, us(3));
    read(&mut oracles, 12, 3, Some(ID.0), us(3));
    assert_fails(&oracles, "requests", "for request 5, which is not in flight");
}

#[test]
fn a_request_that_completes_without_a_page_is_caught() {
    let mut oracles = reading();
    let now = read(&mut oracles, 13, 4, Some(ID.0), us(1));
    oracles.request_completed(ID, now);
    assert_fails(&oracles, "requests", "completed at 4us with 1 of 2 pages read");
}

#[test]
fn a_page_read_twice_for_a_request_is_caught() {
    let mut oracles = reading();
    let now = read(&mut oracles, 13, 4, Some(ID.0), us(1));
    read(&mut oracles, 13, 4, Some(ID.0), now);
    assert_fails(&oracles, "requests", "logical page 4 was read 2 times for request 5");
}

#[test]
fn a_page_outside_of_the_request_is_caught() {
    let mut oracles = reading();
    read(&mut oracles, 14, 5, Some(ID.0), us(1));
    assert_fails(
        &oracles,
        "requests",
        "logical page 5 was read for request 5 (Read of 8KiB at 12288 B), which does not cover it",
    );
}

#[test]
fn a_program_for_a_read_and_a_read_for_a_write_of_whole_pages_are_caught() {
    let mut programs = reading();
    program(&mut programs, 0, 3, Origin::User(ID), us(1));
    assert_fails(&programs, "requests", "logical page 3 was programmed for request 5 (Read");

    let mut reads = oracles();
    submit(&mut reads, ID.0, Write, 3 * 4096, 4096, us(1));
    read(&mut reads, 12, 3, Some(ID.0), us(1));
    assert_fails(
        &reads,
        "requests",
        "logical page 3 was read for request 5 (Write of 4KiB at 12288 B), which writes all of it",
    );
}

#[test]
fn a_request_beyond_the_drive_is_caught() {
    let mut oracles = oracles();
    submit(&mut oracles, ID.0, Read, 127 * 4096, 8192, us(1));
    assert_fails(&oracles, "requests", "request 5 (Read of 8KiB at 520192 B) is not within the drive of 512KiB");
}

#[test]
fn an_extent_knows_which_of_its_pages_it_covers_in_part() {
    let partial = |offset, size| {
        let (offset, size) = (Bytes::new(offset), Bytes::new(size));
        let io = IoRequest { arrival: Time::ZERO, kind: Write, offset, size, stream: 0 };
        let extent = PageSplit::new(&config()).extent(&io);
        extent.pages().map(|lpn: Lpn| (lpn.0, extent.is_partial(lpn))).collect::<Vec<_>>()
    };
    assert_eq!(partial(4096, 8192), [(1, false), (2, false)]);
    assert_eq!(partial(4608, 512), [(1, true)]);
    assert_eq!(partial(4096, 512), [(1, true)]);
    assert_eq!(partial(4608, 3584), [(1, true)]);
    assert_eq!(partial(3584, 4608), [(0, true), (1, false)]);
    assert_eq!(partial(512, 8192), [(0, true), (1, false), (2, true)]);
}

#[test]
fn a_flush_that_is_none_and_a_refusal_of_a_request_in_flight_are_caught() {
    let mut flush = reading();
    flush.flush_began(ID, 0..128, us(2));
    assert_fails(&flush, "requests", "request 5 began to flush, but is no flush in flight");

    let mut refused = reading();
    refused.request_refused(ID, us(2));
    assert_fails(&refused, "requests", "request 5 was refused while it is in flight");
}
