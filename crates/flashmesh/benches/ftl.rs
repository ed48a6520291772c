//! Cost of the flash translation layer alone, without simulated time: start, preconditioning, and random writes.
//!
//! Run with `cargo bench -p flashmesh --bench ftl [-- STEP...]`, where STEP is `start`, `writes`, `sequential` or `random`. Peak memory is that
//! of the process, so only a run of a single step gives the memory of that step. With huge pages, sparsely used memory counts in units of 2 MiB.

use std::hint::black_box;
use std::time::Instant;

use flashmesh::config::{Config, Precondition, PreconditionKind};
use flashmesh::engine::random::SimRng;
use flashmesh::flash::geometry::Geometry;
use flashmesh::ftl::{Ftl, FtlRules, IdleDies, PreconditionReport};
use flashmesh::ids::Lpn;

fn main() {
    let steps: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wants = |step: &str| steps.is_empty() || steps.iter().any(|wanted| wanted == step);
    let config = Config::default();
    if wants("start") {
        let begun = Instant::now();
        let geometry = geometry(&config);
        let ftl = Ftl::new(&geometry, &config, FtlRules::new(&config));
        report("start, venice-z-nand", begun, &format!("{} planes", geometry.planes()));
        let mut random = SimRng::new(3);
        for reads in [1, 999, 99_000] {
            let begun = Instant::now();
            for _ in 0..reads {
                black_box(ftl.location(Lpn(random.below(geometry.logical_pages))));
            }
            report(
                "first random reads, venice-z-nand",
                begun,
                &format!("{} of the map in memory", ftl.map().written_bytes()),
            );
        }
    }
    if wants("sequential") {
        precondition(&config, PreconditionKind::Sequential);
    }
    if wants("random") {
        precondition(&config, PreconditionKind::Random);
    }
    if wants("writes") {
        writes();
    }
}

fn geometry(config: &Config) -> Geometry {
    Geometry::new(&config.geometry).expect("the preset is valid")
}

fn precondition(config: &Config, kind: PreconditionKind) -> (Ftl, Geometry) {
    let geometry = geometry(config);
    let mut ftl = Ftl::new(&geometry, config, FtlRules::new(config));
    let begun = Instant::now();
    let PreconditionReport { pages_mapped, write_amplification, windows, settled } =
        ftl.precondition(&Precondition { kind, ..Precondition::default() }, 1);
    let detail = format!(
        "{pages_mapped} pages, write amplification {write_amplification:.3} after {windows} windows, settled: {settled}"
    );
    report(&format!("precondition {kind:?}, venice-z-nand"), begun, &detail);
    (ftl, geometry)
}

/// Measures uniform random writes on a drive in steady state, with enough spare space for a write amplification of about 4.
fn writes() {
    let mut config = Config::default();
    config.geometry.over_provisioning = 0.14;
    let (mut ftl, geometry) = precondition(&config, PreconditionKind::Random);
    let idle = IdleDies::new(geometry.dies());
    let mut random = SimRng::new(2);
    for ahead in [0, 8] {
        let writes = 4_000_000;
        let begun = Instant::now();
        let mut moved = 0;
        for _ in 0..writes / 8 {
            let lpns: [Lpn; 8] = std::array::from_fn(|_| Lpn(random.below(geometry.logical_pages)));
            lpns[..ahead].iter().for_each(|&lpn| ftl.map().prefetch(lpn));
            lpns[..ahead].iter().for_each(|&lpn| ftl.prefetch_older(lpn));
            moved += lpns.into_iter().map(|lpn| ftl.untimed().write(lpn, &idle)).sum::<u64>();
        }
        let nanoseconds = begun.elapsed().as_nanos() as f64 / f64::from(writes);
        let write_amplification = 1.0 + moved as f64 / f64::from(writes);
        let detail = format!("{nanoseconds:.0} ns a host write at write amplification {write_amplification:.3}");
        report(&format!("random writes, {ahead} prefetched"), begun, &detail);
    }
}

fn report(what: &str, begun: Instant, detail: &str) {
    let seconds = begun.elapsed().as_secs_f64();
    println!("{what:<36} {seconds:>9.4} s  peak {:>5} MB  {detail}", peak_megabytes());
}

/// Returns the peak resident memory in MB; 0 if the system does not report it.
fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.split_whitespace().next()?.parse().ok());
    kilobytes.map_or(0, |kilobytes: u64| kilobytes / 1000)
}
