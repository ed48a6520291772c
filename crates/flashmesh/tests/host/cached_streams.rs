//! Several streams on one drive with a device cache: map entries, open blocks, back-pressure and flushes by stream of the destaged pages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use flashmesh::config::Config;
use flashmesh::ids::{Lpn, Ppn};
use flashmesh::kernel::probe::{Notice, Probe};
use flashmesh::units::{Bytes, Time};
use flashmesh::workload::{IoRequest, RequestKind};

use crate::streams::{of, run_lists, simulation};
use crate::support::drives::{config_of, finish, read, write};

/// The streams use different halves of the drive, and the map cache has one entry for each stream.
#[test]
fn what_the_cache_sends_to_flash_uses_the_part_of_the_map_of_the_stream_that_wrote_it() {
    let text = "\
[geometry]
capacity = \"1GiB\"
[mapping]
cache-capacity = \"16B\"
sharing = \"per-stream\"
[cache]
capacity = \"1MiB\"
destage = \"first-write\"
[stream.reads]
replay.mode = \"open\"
queue.caching = \"none\"
[stream.writes]
replay.mode = \"open\"
queue.namespace = \"second\"
[namespace.first]
[namespace.second]
";
    let ms = Time::from_ms;
    let reads = vec![read(3, 1, ms(1)), read(3, 1, ms(20))];
    let (report, _) = run_lists(&config_of(text), vec![reads, vec![write(5, 1, ms(10))]]);
    assert_eq!(report.cache.expect("the cache is enabled").destages, 1);
    let map = report.mapping_cache.expect("the map cache is enabled").counters;
    assert_eq!((map.misses, map.hits), (2, 1), "the second read finds the entry of the first");
}

#[test]
fn a_write_that_bypasses_the_cache_need_not_wait_behind_one_without_room() {
    let latency_beside = |stall: &str| {
        let text = format!(
            "\
cache.capacity = \"4KiB\"
cache.destage = \"eviction\"
cache.stall = \"{stall}\"
replay.mode = \"open\"
[stream.cached]
[stream.direct]
queue.caching = \"none\"
"
        );
        let us = Time::from_us;
        let cached = vec![write(1, 1, us(0)), write(2, 1, us(10))];
        let (_, records) = run_lists(&config_of(&text), vec![cached, vec![write(7, 1, us(20))]]);
        let direct = of(&records, 1)[0];
        direct.completed - direct.arrival
    };
    let (behind, passing) = (latency_beside("writes"), latency_beside("cached-writes"));
    let program = Config::default().flash.program_time;
    assert!(passing >= program && passing < program + Time::from_us(10), "{passing:?}");
    assert!(behind > passing + Time::from_us(50), "{behind:?} and {passing:?}");
}

/// Probe that records the location to which each logical page was programmed.
#[derive(Clone, Default)]
struct Programs(Arc<Mutex<BTreeMap<Lpn, Ppn>>>);

impl Probe for Programs {
    fn notify(&mut self, _now: Time, notice: &Notice<'_>) {
        if let Notice::PageProgrammed(ppn, lpn, _) = *notice {
            self.0.lock().expect("no other thread panicked").insert(lpn, ppn);
        }
    }
}

#[test]
fn pages_that_the_cache_destages_go_to_the_block_of_their_stream_where_asked() {
    let is_one_block_for = |write_streams: &str| {
        let config = config_of(&format!(
            "\
ftl.write-streams = \"{write_streams}\"
cache.capacity = \"1MiB\"
cache.flush-at-end = true
cache.destage = \"first-write\"
replay.mode = \"open\"
[geometry]
channels = 1
chips-per-channel = 1
dies-per-chip = 1
planes-per-die = 1
blocks-per-plane = 64
over-provisioning = 0.2
[stream.a]
[stream.b]
"
        ));
        let programs = Programs::default();
        let mut simulation = simulation(&config, [1, 2].map(|page| vec![write(page, 1, Time::ZERO)]).into());
        simulation.add_probe(Box::new(programs.clone()));
        finish(simulation);
        let places = programs.0.lock().expect("no other thread panicked");
        let blocks: BTreeSet<u32> = places.values().map(|ppn| ppn.0 / config.geometry.pages_per_block).collect();
        assert_eq!(places.len(), 2, "each stream writes a page");
        blocks.len() == 1
    };
    assert!(is_one_block_for("per-stream"));
    assert!(!is_one_block_for("per-stream-destaged"));
}

#[test]
fn a_flush_writes_what_the_cache_holds_of_its_namespace_and_leaves_the_rest() {
    let text = "\
geometry.capacity = \"1GiB\"
cache.capacity = \"1MiB\"
replay.mode = \"open\"
[stream.a]
[stream.b]
queue.namespace = \"second\"
[namespace.first]
[namespace.second]
";
    let ms = Time::from_ms;
    let flush = IoRequest { kind: RequestKind::Flush, offset: Bytes::ZERO, size: Bytes::ZERO, ..read(0, 1, ms(1)) };
    let a = vec![write(1, 2, ms(0)), flush, IoRequest { arrival: ms(5), ..flush }];
    let (report, records) = run_lists(&config_of(text), vec![a, vec![write(1, 3, ms(0))]]);
    let cache = report.cache.expect("the cache is enabled");
    assert_eq!((cache.destages, cache.dirty_pages_end), (2, 3));
    let mut flushes: Vec<_> = of(&records, 0).into_iter().filter(|record| record.kind == RequestKind::Flush).collect();
    flushes.sort_by_key(|record| record.arrival);
    let latencies: Vec<Time> = flushes.iter().map(|record| record.completed - record.arrival).collect();
    assert!(latencies[0] >= Config::default().flash.program_time, "the first flush waits for programs: {latencies:?}");
    assert!(latencies[1] < Time::from_us(1), "the second flush finds no dirty page: {latencies:?}");
}
