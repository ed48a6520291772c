//! Parity of superblocks on whole drives, compared with arithmetic: its space, its programs, and the delays that they cause.

use flashmesh::config::{Config, FirmwarePolicy, ParityShare};
use flashmesh::flash::geometry::Geometry;
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::IoRequest;

use super::word_lines::{COMMAND, PROGRAM, WORD_LINE, die_of, measured};
use crate::support::drives::*;

/// Pages of 4 KiB in one program of a die: a word line of three pages on each of two planes.
const PER_PROGRAM: u64 = 6;

/// Returns a drive of one superblock over `dies` dies, one channel each, with blocks of `word_lines` word lines. With `parity` = n, one program in n
/// is parity.
fn superblock_of(dies: u32, word_lines: u32, parity: Option<u32>) -> Config {
    let mut config = die_of(2);
    config.geometry.channels = dies;
    config.geometry.blocks_per_plane = 16;
    config.geometry.pages_per_block = 3 * word_lines;
    config.geometry.over_provisioning = 0.5;
    config.ftl.policy = FirmwarePolicy::Superblock;
    config.ftl.parity = parity.map(ParityShare);
    config
}

/// Returns closely spaced page writes that fill `count` programs, and a read after all parity has been programmed.
fn programs(count: u64) -> Vec<IoRequest> {
    let writes = (0..count * PER_PROGRAM).map(|page| write(page, 1, Time::from_us(page * 20)));
    writes.chain([read(0, 1, Time::from_ms(10_000))]).collect()
}

#[test]
fn one_program_in_so_many_is_of_parity() {
    for (dies, share) in [(2, 2), (4, 2), (4, 4), (6, 3), (8, 4)] {
        let config = superblock_of(dies, 64, Some(share));
        let written = u64::from(dies) * 36;
        let (report, _) = measured(&config, programs(written));
        assert_eq!((report.flash.user_programs, report.flash.units_skipped), (written * PER_PROGRAM, 0));
        // The 36 data programs of each die are a whole number of parity groups at every tested share.
        let of_parity = written * PER_PROGRAM / u64::from(share - 1);
        assert_eq!(report.flash.parity_programs, of_parity, "1/{share} over {dies} dies");
        let amplification = f64::from(share) / f64::from(share - 1);
        assert!((report.write_amplification.expect("the host wrote") / amplification - 1.0).abs() < 1e-12);
    }
    let (report, _) = measured(&superblock_of(4, 64, None), programs(144));
    assert_eq!((report.flash.parity_programs, report.write_amplification), (0, Some(1.0)));
}

#[test]
fn parity_takes_its_share_of_every_block() {
    for (word_lines, share, of_data) in [(64, 2, 32), (64, 4, 48), (65, 4, 48), (66, 4, 49), (3, 8, 2)] {
        let config = superblock_of(8, word_lines, Some(share));
        let geometry = Geometry::from_config(&config).expect("the geometry is valid");
        assert_eq!(geometry.pages_per_block, 3 * of_data, "1/{share} of {word_lines}");
    }
}

/// With parity 1/2 each data program is followed by a parity program on its die, and the next write on the die waits for it.
#[test]
fn a_write_waits_for_the_parity_that_follows_the_program_before_it() {
    let late = Time::from_us(5);
    let alone = (COMMAND + WORD_LINE) * 2 + PROGRAM;
    for (parity, expected) in [(None, alone), (Some(2), alone * 2 - late)] {
        let writes = (0..3 * PER_PROGRAM).map(|page| {
            let at = if page < 2 * PER_PROGRAM { Time::ZERO } else { alone + late };
            write(page, 1, at)
        });
        let (_, latencies) = measured(&superblock_of(2, 64, parity), writes);
        let (first, third) = latencies.split_at(2 * PER_PROGRAM as usize);
        assert!(first.iter().all(|&latency| latency == alone), "{first:?}, {alone} expected");
        assert!(third.iter().all(|&latency| latency == expected), "{third:?}, {expected} expected");
    }
}

/// The dies are the bottleneck, so the makespan is proportional to the number of data and parity programs.
#[test]
fn a_saturated_drive_writes_as_much_less_as_parity_takes_of_its_programs() {
    let rate = |parity: Option<u32>| {
        let mut config = superblock_of(4, 64, parity);
        config.cache.capacity = Bytes::from_kib(4 * 96);
        config.cache.keep_destaged = false;
        let (report, _) = measured(&config, (0..400 * PER_PROGRAM).map(|page| write(page, 1, Time::ZERO)));
        report.makespan_ps as f64
    };
    let without = rate(None);
    for share in [2, 4] {
        let slower = rate(Some(share)) / without;
        let expected = f64::from(share) / f64::from(share - 1);
        assert!((slower / expected - 1.0).abs() < 0.03, "1/{share}: {slower} times as long, expected {expected}");
    }
}

#[test]
fn parity_that_fits_no_superblock_is_refused() {
    for (settings, says) in [
        ("1/8", "which is over 8 dies, and a superblock has 4 dies"),
        ("1/3", "3 does not divide the 4 dies of a superblock"),
        ("1/1", "out of bounds"),
        ("0.25", "such as \"1/8\""),
        ("8", "such as \"1/8\""),
    ] {
        let settings =
            ["ftl.policy=superblock", "superblock.dies=4", &format!("ftl.parity=\"{settings}\"")].map(str::to_owned);
        let error = Config::from_str("", "drive.toml", &settings).expect_err("the parity is refused").to_string();
        assert!(error.contains(says) && error.contains("ftl.parity"), "{error}");
    }
    let beside = |geometry: &str| {
        let text = format!("[ftl]\npolicy = \"superblock\"\nparity = \"1/4\"\n[geometry]\n{geometry}\n");
        Config::from_str(&text, "drive.toml", &[]).expect_err("the geometry is refused").to_string()
    };
    let error = beside("capacity = \"400GiB\"");
    assert!(error.contains("of the array that ftl.parity = \"1/4\" leaves"), "{error}");
    let error = beside("pages-per-block = 1\nblocks-per-plane = 4096");
    assert!(error.contains("a block of geometry.pages-per-block is one program: none is left for data"), "{error}");
    let error = Config::from_str("", "drive.toml", &["ftl.parity=\"1/4\"".to_owned()])
        .expect_err("parity without superblocks is refused");
    assert!(error.to_string().contains("ftl.policy"), "{error}");
}
