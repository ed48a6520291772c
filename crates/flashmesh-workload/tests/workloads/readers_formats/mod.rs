//! Meaning of each trace format, and detection of every kind of bad line.

mod blkparse;
mod columns;
mod helpers;
mod libcachesim;
mod srt;
mod vscsi;

use flashmesh_workload::RequestKind;
use flashmesh_workload::config::{
    Beyond, IologWait, TraceAddressUnit, TraceFormat, TracePolarity, TraceTimeUnit, Workload,
};
use flashmesh_workload::readers::LineErrorKind;
use flashmesh_workload::units::{Bytes, Time};

use helpers::{assert_each_is_rejected, request, requests, summary, workload};

#[test]
fn msr_lines_become_requests_from_time_zero() {
    let text = "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime\n\
                128166372003061629,hm,0,Read,4096,8192,123\n\
                128166372003061639,hm,3,write,512,512,0\r\n\
                \n# a comment\n\
                128166382003061629,hm,0,WRITE,1024,1,5";
    let expected = [
        request(Time::ZERO, RequestKind::Read, 4096, 8192, 0),
        request(Time::from_us(1), RequestKind::Write, 512, 512, 3),
        request(Time::from_ms(1_000_000), RequestKind::Write, 1024, 512, 0),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Msr)), expected);
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    let summary = summary(text, &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.format, summary.lines, summary.skipped, summary.devices), ("msr", 6, 3, 2));
}

#[test]
fn msr_columns_may_have_blanks_around_them_and_a_letter_for_the_type() {
    let text = "100 , hm , 0 , R , 4096 , 8192 , 1\n 110,hm,0,w,512,512,1\n";
    let expected = [
        request(Time::ZERO, RequestKind::Read, 4096, 8192, 0),
        request(Time::from_us(1), RequestKind::Write, 512, 512, 0),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Msr)), expected);
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
}

#[test]
fn every_bad_msr_line_is_named_with_its_place() {
    let good = ["100,hm,0,Read,4096,8192,1", "200,hm,0,Write,4096,8192,1"];
    assert_each_is_rejected(
        TraceFormat::Msr,
        "",
        good,
        &[
            ("x150,hm,0,Read,0,512,1", "number", 1, "the time stamp, in filetime ticks of 100 ns, found \"x150\""),
            ("150", "fields", 4, "a comma and the host, found the end of the line"),
            ("150,hm", "fields", 7, "the disk number"),
            ("150,hm,a,Read,0,512,1", "number", 8, "the disk number, found \"a\""),
            ("150,hm,4294967296,Read,0,512,1", "number", 8, "the disk number"),
            ("150,hm,0,Raed,0,512,1", "kind", 10, "the type, Read or Write (or R, W), found \"Raed\""),
            ("150,hm,0,Read,-1,512,1", "number", 15, "the offset in bytes, found \"-1\""),
            ("150,hm,0,Read,99999999999999999999,512,1", "number", 15, "the offset in bytes"),
            ("150,hm,0,Read,0,5l2,1", "number", 17, "the size in bytes, found \"5l2\""),
            ("150,hm,0,Read,0,512", "fields", 20, "the response time, found the end of the line"),
            ("150,hm,0,Read,0,512,", "number", 21, "the response time"),
            ("150,hm,0,Read,0,512,1,9", "fields", 22, "the end of the line, found \",\""),
            ("150,hm,0,Read,0,0,1", "zero-size", 17, "the size is zero"),
            ("150,hm,0,Read,1073741824,512,1", "beyond-drive", 15, "beyond the drive of 1073741824 bytes"),
            ("150,hm,0,Read,0,1073741825,1", "too-large", 17, "more than 1GiB"),
        ],
    );
}

#[test]
fn binary_data_further_on_spoils_its_lines_only() {
    let good: String = (0..4000).map(|i| format!("{i},hm,0,Read,4096,8192,1\n")).collect();
    let text = format!("{good}4000,hm,0,Read\0,0,512,1\n{}\n", "\0".repeat(5000));
    let rejected = summary(&text, &workload(TraceFormat::Msr)).unwrap().rejected;
    let places: Vec<_> =
        rejected.iter().map(|tally| (tally.reason.as_str(), tally.first_line, tally.first_column)).collect();
    assert_eq!(places, [("binary", 4001, 11), ("too-long", 4002, 0)]);
    assert!(rejected[0].message.contains("found \"Read\\x00\""), "{}", rejected[0].message);
}

#[test]
fn ascii_time_units_and_polarities_are_options() {
    let text = "1000 2 8 16 1\n1001.5\t0  4 1   0  \n";
    let read_is_one = requests(text, &workload(TraceFormat::Auto));
    let expected = [
        request(Time::ZERO, RequestKind::Read, 4096, 8192, 2),
        request(Time::from_ps(1500), RequestKind::Write, 2048, 512, 0),
    ];
    assert_eq!(read_is_one, expected);
    for (time_unit, last) in [
        (TraceTimeUnit::Picoseconds, Time::from_ps(1)),
        (TraceTimeUnit::Microseconds, Time::from_ns(1500)),
        (TraceTimeUnit::Milliseconds, Time::from_us(1500)),
        (TraceTimeUnit::Seconds, Time::from_ms(1500)),
    ] {
        let workload = Workload { time_unit: Some(time_unit), ..workload(TraceFormat::Ascii) };
        assert_eq!(requests(text, &workload)[1].arrival, last, "{time_unit:?}");
    }
    let workload = Workload { polarity: TracePolarity::ReadIsZero, ..workload(TraceFormat::Ascii) };
    assert_eq!(requests(text, &workload)[0].kind, RequestKind::Write);
    assert_eq!(requests(text, &workload)[1].kind, RequestKind::Read);
}

#[test]
fn ascii_offsets_and_sizes_may_be_bytes() {
    let text = "0 0 4096 512 1\n1000 0 1000 8192 0\n2000 0 0 4096 1\n";
    let bytes = Workload { address_unit: TraceAddressUnit::Bytes, ..workload(TraceFormat::Ascii) };
    let found: Vec<_> =
        requests(text, &bytes).iter().map(|request| (request.offset.as_u64(), request.size.as_u64())).collect();
    // Partial sectors are extended to the whole sectors that they touch.
    assert_eq!(found, [(4096, 512), (512, 8704), (0, 4096)]);
    assert!(!summary(text, &bytes).unwrap().may_be_bytes);
}

#[test]
fn ascii_numbers_that_can_hardly_be_sectors_are_remarked() {
    let multiples: String = (0..5).map(|i| format!("{i}000 0 {} 4096 1\n", i * 4096)).collect();
    let found = summary(&multiples, &workload(TraceFormat::Ascii)).unwrap();
    assert!(found.may_be_bytes && found.to_string().contains("workload.address-unit = \"bytes\""), "{found}");
    let sectors: String = (0..5).map(|i| format!("{i}000 0 {} 8 1\n", i * 8)).collect();
    assert!(!summary(&sectors, &workload(TraceFormat::Ascii)).unwrap().may_be_bytes);
    let beyond: String = (0..5).map(|i| format!("{i}000 0 {} 4096 1\n", 1_u64 << 40)).collect();
    let refused = summary(&beyond, &workload(TraceFormat::Ascii)).unwrap_err().to_string();
    assert!(refused.contains("workload.address-unit"), "{refused}");
}

#[test]
fn requests_that_share_a_time_stamp_are_counted_and_remarked() {
    let text = "1 0 0 8 1\n1 0 8 8 1\n1 0 16 8 1\n2 0 24 8 1\n3 0 32 8 1\n3 0 40 8 1\n";
    let found = summary(text, &workload(TraceFormat::Ascii)).unwrap();
    assert_eq!((found.tied, found.tied_max), (5, 3));
    assert!(found.to_string().contains("5 of 6 requests share a time stamp, up to 3 the same one"), "{found}");
    let apart: String = (0..20).map(|i| format!("{i} 0 0 8 1\n")).collect();
    let apart = summary(&apart, &workload(TraceFormat::Ascii)).unwrap();
    assert_eq!((apart.tied, apart.tied_max), (0, 1));
    assert!(!apart.to_string().contains("share a time stamp"), "{apart}");
}

#[test]
fn every_bad_ascii_line_is_named_with_its_place() {
    let good = ["1000 0 8 16 1", "3000 0 8 16 0"];
    assert_each_is_rejected(
        TraceFormat::Ascii,
        "# time device sector sectors type\n",
        good,
        &[
            ("-5 0 8 16 1", "number", 1, "the time stamp, found \"-5\""),
            ("2e3 0 8 16 1", "number", 1, "the time stamp, found \"2e3\""),
            ("2000", "fields", 5, "the device number, found the end of the line"),
            ("2000 0 8 16", "fields", 12, "the type, 0 or 1, found the end of the line"),
            ("2000 0 8 16 ", "fields", 13, "the type, 0 or 1, found the end of the line"),
            ("2000,0,8,16,1", "fields", 5, "the device number"),
            ("2000 -1 8 16 1", "number", 6, "the device number, found \"-1\""),
            ("2000 0 0x8 16 1", "number", 8, "the first sector, found \"0x8\""),
            ("2000 0 18014398509481984000 16 1", "number", 8, "a number of 512-byte sectors below 2^55"),
            ("2000 0 8 1.5 1", "number", 10, "the number of sectors"),
            ("2000 0 8 16 2", "kind", 13, "the type, 0 or 1, found \"2\""),
            ("2000 0 8 16 R", "kind", 13, "the type, 0 or 1, found \"R\""),
            ("2000 0 8 16 1 7", "fields", 15, "the end of the line, found \"7\""),
            ("2000 0 8 0 1", "zero-size", 10, "the size is zero"),
            ("2000 0 2097152 1 1", "beyond-drive", 8, "beyond the drive"),
        ],
    );
}

#[test]
fn fio_version_2_waits_may_count_from_the_start() {
    let text = "fio version 2 iolog\n/a add\n/a open\n/a wait 1000\n/a read 0 512\n/a wait 3000\n/a read 0 512\n\
                /a wait 2000\n/a read 0 512\n/a close\n";
    let times = |iolog_wait| -> Vec<Time> {
        let workload = Workload { iolog_wait, ..workload(TraceFormat::FioIolog) };
        requests(text, &workload).iter().map(|io| io.arrival).collect()
    };
    // In every trace, arrivals count from the first request.
    let (ms, us) = (Time::from_ms, Time::from_us);
    assert_eq!(times(IologWait::SinceStart), [ms(0), ms(2000), ms(2000)], "times never decrease");
    assert_eq!(times(IologWait::AfterPrevious), [us(0), us(3000), us(5000)]);
}

#[test]
fn fio_version_2_waits_add_up_and_files_become_devices() {
    let text = "fio version 2 iolog\n/a add\n/b add\n/a open\n/b open\n/a read 0 4096\n/a wait 500 0\n/b write 8192 512\n\
                /b wait 1500 0\n/a trim 4096 4096\n/a sync 0 0\n/a datasync 0 0\n/a sync 0 0\n/a close\n";
    let expected = [
        request(Time::ZERO, RequestKind::Read, 0, 4096, 0),
        request(Time::from_us(500), RequestKind::Write, 8192, 512, 1),
        request(Time::from_us(2000), RequestKind::Deallocate, 4096, 4096, 0),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
    let summary = summary(text, &workload(TraceFormat::FioIolog)).unwrap();
    let ignored: Vec<_> =
        summary.ignored.iter().map(|tally| (tally.reason.as_str(), tally.lines, tally.first_line)).collect();
    assert_eq!(ignored, [("sync", 2, 11), ("datasync", 1, 12)]);
    assert_eq!((summary.skipped, summary.deallocates, summary.deallocate_bytes), (8, 1, 4096));
    assert_eq!(summary.footprint_bytes, 2 * 4096, "a deallocation touches no page");
    assert!(summary.to_string().contains("2 sync lines ignored, first at line 11"), "{summary}");
}

#[test]
fn flushes_of_fio_are_requests_when_asked_for() {
    let text = "fio version 3 iolog\n1 /a add\n10 /a write 0 4096\n20 /a sync 0 0\n30 /a datasync\n40 /a sync_file_range 0 1\n";
    let workload = Workload { flushes: true, ..workload(TraceFormat::Auto) };
    let expected = [
        request(Time::ZERO, RequestKind::Write, 0, 4096, 0),
        request(Time::from_us(10), RequestKind::Flush, 0, 0, 0),
        request(Time::from_us(20), RequestKind::Flush, 0, 0, 0),
    ];
    assert_eq!(requests(text, &workload), expected);
    let summary = summary(text, &workload).unwrap();
    assert_eq!((summary.requests, summary.flushes, summary.ignored.len()), (3, 2, 1));
    assert!(summary.to_string().contains(", 2 flushes;"), "{summary}");
}

#[test]
fn fio_version_3_time_stamps_are_microseconds() {
    let text = "fio version 3 iolog\n2 d add\n872 d open\n878 d write 0 16384\n888 d read 0 16384\n888 d sync_file_range 0 1\n\
                10001677 d close\n";
    let expected = [
        request(Time::ZERO, RequestKind::Write, 0, 16384, 0),
        request(Time::from_us(10), RequestKind::Read, 0, 16384, 0),
    ];
    assert_eq!(requests(text, &workload(TraceFormat::Auto)), expected);
}

#[test]
fn every_bad_fio_line_is_named_with_its_place() {
    let good = ["10 /a read 0 512", "20 /a write 0 512"];
    assert_each_is_rejected(
        TraceFormat::FioIolog,
        "fio version 3 iolog\n0 /a add\n",
        good,
        &[
            ("/a read 0 512", "number", 1, "the time stamp in microseconds, found \"/a\""),
            ("15", "fields", 3, "the file, found the end of the line"),
            ("15 /a", "fields", 6, "the action, found the end of the line"),
            ("15 /a fly 0 512", "kind", 7, "an action of fio: read, write, trim, ..., found \"fly\""),
            ("15 /a wait 10", "kind", 7, "version 3 has no wait"),
            ("15 /b read 0 512", "unknown-file", 4, "a file that an add line has named, found \"/b\""),
            ("15 /a read", "fields", 11, "the offset in bytes"),
            ("15 /a read x 512", "number", 12, "the offset in bytes, found \"x\""),
            ("15 /a read 0", "fields", 13, "the length in bytes"),
            ("15 /a read 0 512 1", "fields", 18, "the end of the line, found \"1\""),
            ("15 /a read 0 0", "zero-size", 14, "the size is zero"),
        ],
    );
    let bad_wait = "fio version 2 iolog\n/a add\n/a wait 18446744073709551615 0\n/a wait 1 0\n/a read 0 512\n";
    let workload = Workload { tolerate: 1.0, ..workload(TraceFormat::FioIolog) };
    let rejected = summary(bad_wait, &workload).unwrap().rejected;
    assert_eq!((rejected[0].first_line, rejected[0].first_column), (4, 9));
}

#[test]
fn a_file_too_many_of_an_iolog_is_told_to_be_split() {
    let adds: String = (0..=65_536).map(|file| format!("0 /{file} add\n")).collect();
    let workload = Workload { tolerate: 1.0, ..workload(TraceFormat::FioIolog) };
    let rejected = summary(format!("fio version 3 iolog\n{adds}1 /1 read 0 512\n"), &workload).unwrap().rejected;
    assert_eq!((rejected[0].reason.as_str(), rejected[0].first_line), ("too-many-files", 65_538));
    assert!(LineErrorKind::TooManyFiles.remedy().contains("split the log"));
}

#[test]
fn an_iolog_without_its_header_is_refused_at_its_first_line() {
    let refused = summary("/a add\n/a read 0 512\n", &workload(TraceFormat::FioIolog)).unwrap_err().to_string();
    assert!(refused.starts_with("t:1:1: no line of 2 can be used"), "{refused}");
    assert!(refused.contains("the header \"fio version 2 iolog\""), "{refused}");
}

#[test]
fn no_known_format_names_the_formats_and_what_speaks_against_each() {
    let refused = summary("2024-01-01 R 5 6\n", &workload(TraceFormat::Auto)).err().unwrap().to_string();
    assert!(refused.starts_with("t:1:1: no known trace format"), "{refused}");
    for needle in ["workload.format", "\"msr\"", "\"ascii\"", "\"fio-iolog\"", "found \"2024-01-01\""] {
        assert!(refused.contains(needle), "{needle} in {refused}");
    }
}

#[test]
fn a_wrong_format_is_refused_with_the_way_out() {
    let refused = summary("1000 0 8 16 1\n", &workload(TraceFormat::Msr)).unwrap_err().to_string();
    assert!(
        refused.starts_with("t:1:6: no line of 1 can be used as a request (read as MSR Cambridge CSV)"),
        "{refused}"
    );
    assert!(refused.contains("workload.format"), "{refused}");
}

#[test]
fn one_per_cent_of_bad_lines_passes_and_more_is_refused() {
    // 29 of 2900 lines are exactly 1 % only in a correctly rounded division, not in a product with 0.01.
    for (lines, bad, passes) in [(100, 1, true), (2900, 29, true), (2900, 30, false), (99, 1, false), (100, 0, true)] {
        let text: String = (0..lines)
            .map(|i| if i > 0 && i <= bad { "oops\n".to_owned() } else { format!("{} 0 8 8 1\n", 1000 + i) })
            .collect();
        let scanned = summary(&text, &workload(TraceFormat::Ascii));
        assert_eq!(scanned.is_ok(), passes, "{bad} of {lines}: {scanned:?}");
        let told = Workload { tolerate: 1.0, ..workload(TraceFormat::Ascii) };
        assert_eq!(summary(&text, &told).unwrap().requests, lines - bad);
    }
}

#[test]
fn skipped_lines_do_not_dilute_the_share_of_bad_ones() {
    let comments = "# nothing\n".repeat(1000);
    let text = format!("1 0 8 8 1\noops\n{comments}2 0 8 8 1\n");
    assert!(summary(&text, &workload(TraceFormat::Ascii)).is_err());
}

#[test]
fn an_unsorted_trace_is_refused_however_small_its_steps() {
    let text: String = (0..2000_u64).map(|i| format!("{} 0 8 8 1\n", i * 7919 % 2000)).collect();
    let refused = summary(&text, &workload(TraceFormat::Ascii)).unwrap_err().to_string();
    assert!(refused.starts_with("t:2:1:") || refused.contains("sort the trace by time"), "{refused}");
    assert!(refused.contains("out of order"), "{refused}");
    let reversed: String = (0..10_u64).map(|i| format!("{} 0 8 8 1\n", 10 - i)).collect();
    assert!(
        summary(&reversed, &workload(TraceFormat::Ascii)).unwrap_err().to_string().contains("sort the trace by time")
    );
}

#[test]
fn a_corrupt_time_stamp_costs_its_line_alone_wherever_it_stands() {
    for corrupt in ["18446744073709551615", "0", "999999999999999"] {
        for place in [0, 1, 100, 298] {
            let text: String = (0..300)
                .map(|i| {
                    let time =
                        if i == place { corrupt.to_owned() } else { (1_700_000_000_000_000_u64 + i).to_string() };
                    format!("{time} 0 8 8 1\n")
                })
                .collect();
            let workload = Workload { time_unit: Some(TraceTimeUnit::Microseconds), ..workload(TraceFormat::Ascii) };
            let summary = summary(&text, &workload).unwrap();
            // Near the start either of two time stamps may be the wrong one, so both may be dropped.
            assert!((298..=299).contains(&summary.requests), "{corrupt} at {place}: {summary}");
            assert!(summary.span_ps <= Time::from_us(299).as_ps(), "{corrupt} at {place}: {summary}");
            let first = summary.rejected.iter().map(|tally| tally.first_line).min();
            assert!(first.is_some_and(|line| line.abs_diff(place + 1) <= 1), "{corrupt} at {place}: {summary}");
        }
    }
}

#[test]
fn a_last_line_cut_short_is_rejected() {
    let tolerant = Workload { tolerate: 1.0, ..workload(TraceFormat::Auto) };
    let summary = summary("1 0 8 8 1\n2 0 8 8 1\n3 0 8", &tolerant).unwrap();
    assert_eq!((summary.requests, summary.lines), (2, 3));
    assert_eq!((summary.rejected[0].first_line, summary.rejected[0].first_column), (3, 6));
}

#[test]
fn wrapped_addresses_are_counted() {
    let far = "1 0 2097160 8 1\n2 0 0 8 1\n";
    let workload = Workload { beyond: Beyond::Wrap, ..workload(TraceFormat::Ascii) };
    assert_eq!(requests(far, &workload)[0].offset, Bytes::new(4096));
    let summary = summary(far, &workload).unwrap();
    assert_eq!((summary.wrapped, summary.rejected_lines()), (1, 0));
}

#[test]
fn a_limit_on_requests_ends_the_trace_early_in_scan_and_run_alike() {
    let text: String = (0..1000).map(|i| format!("{i} 0 {} 8 1\n", i * 8)).collect();
    let workload = Workload { requests: Some(7), ..workload(TraceFormat::Auto) };
    assert_eq!(requests(&text, &workload).len(), 7);
    let summary = summary(&text, &workload).unwrap();
    assert_eq!((summary.requests, summary.footprint_bytes), (7, 7 * 4096));
}

#[test]
fn shares_and_means_are_those_of_the_requests() {
    let summary = summary("0 0 0 8 1\n10 0 8 24 1\n20 1 0 2 0\n40 1 0 2 1\n", &workload(TraceFormat::Auto)).unwrap();
    assert_eq!((summary.reads, summary.writes, summary.read_share, summary.write_share), (3, 1, 0.75, 0.25));
    assert_eq!((summary.read_bytes, summary.write_bytes), (34 * 512, 1024));
    assert_eq!((summary.read_size_mean_bytes, summary.write_size_mean_bytes), (34.0 * 512.0 / 3.0, 1024.0));
    assert_eq!((summary.span_ps, summary.footprint_bytes, summary.address_end_bytes), (40_000, 4 * 4096, 16384));
    assert_eq!(summary.devices, 2);
}
