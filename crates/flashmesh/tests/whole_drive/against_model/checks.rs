//! Comparisons of the results of a run with the model.

use flashmesh::cache::Lookups;
use flashmesh::config::{CacheWrites, Caching};
use flashmesh::measure::cache::CacheReport;
use flashmesh::measure::report::Report;
use proptest::prelude::*;

use super::model::{Model, status};
use super::{Outcome, planes, request_of};
use crate::support::arbitrary::Case;

pub fn check_requests(case: &Case, outcome: &Outcome) -> Result<(), TestCaseError> {
    let count = case.requests.len();
    prop_assert_eq!(outcome.report.requests, count as u64);
    let mut records = outcome.records.clone();
    records.sort_by_key(|record| record.id);
    prop_assert_eq!(records.len(), count);
    for (at, (record, io)) in records.iter().zip(&case.requests).enumerate() {
        prop_assert_eq!(record.id, at as u64);
        if case.config.replay.mode != flashmesh::config::ReplayMode::Closed {
            prop_assert_eq!((record.kind, record.offset, record.size), (io.kind, io.offset, io.size));
        }
        prop_assert_eq!(record.status, status(&case.config, &request_of(record)));
        prop_assert!(record.arrival <= record.submitted && record.submitted <= record.completed);
        prop_assert!(record.firmware + record.breakdown.total() <= record.completed - record.submitted, "{:?}", record);
    }
    Ok(())
}

pub fn check_numbers(case: &Case, outcome: &Outcome) -> Result<(), TestCaseError> {
    let model = Model::of(case);
    let report = &outcome.report;
    let (flash, gc) = (&report.flash, &report.gc);
    match &report.cache {
        None => {
            prop_assert_eq!(flash.user_reads, model.pages_read);
            prop_assert_eq!(flash.user_programs, model.pages_written);
        }
        Some(cache) => check_cache(case, &model, report, cache)?,
    }
    prop_assert!(flash.partial_write_reads <= model.pages_completed_max);

    let statuses = report.host.statuses;
    let counts = [
        statuses.success,
        statuses.invalid_opcode,
        statuses.invalid_field,
        statuses.invalid_namespace,
        statuses.lba_out_of_range,
    ];
    prop_assert_eq!(counts, model.statuses);
    prop_assert_eq!(report.host.queues.iter().map(|queue| queue.commands).sum::<u64>(), report.requests);

    let planes = u64::from(planes(&case.config));
    let pages_per_block = u64::from(case.config.unit_geometry().pages_per_block);
    prop_assert!(gc.erases <= gc.collections && gc.collections <= gc.erases + planes);
    prop_assert!(gc.wear_moves <= gc.collections);
    prop_assert!(gc.pages_copied <= gc.pages_moved);
    let between_chips: u64 = report.links.bytes_between_chips.iter().sum();
    let (page, spare) = (case.config.geometry.page_size.as_u64(), case.config.geometry.page_spare.as_u64());
    let copied = gc.pages_copied * case.config.mapping_unit().as_u64();
    // Pages overwritten by the host on their way between chips are sent, but not counted as copied. Metadata is sent in proportion to the data.
    prop_assert!(copied * (page + spare) <= between_chips * page);
    prop_assert!(gc.pages_moved <= gc.collections * pages_per_block);
    match report.write_amplification {
        None => prop_assert_eq!(model.pages_written, 0),
        Some(amplification) => {
            let programmed = amplification * model.pages_written as f64;
            let of_firmware = gc.pages_moved + gc.pages_reallocated + flash.map_programs;
            let expected = flash.user_programs + of_firmware + flash.units_skipped + flash.parity_programs;
            prop_assert!((programmed - expected as f64).abs() < 1e-6);
        }
    }

    let latency = report.latency_ps.all.as_ref().expect("requests completed");
    let parts = report.breakdown_ps.mean.as_ref().expect("requests completed");
    let waits = parts.cache + parts.map_wait + parts.die_wait + parts.behind_gc + parts.path_wait;
    let sum = parts.host + parts.firmware + waits + parts.array + parts.transfer;
    prop_assert!((sum - latency.mean).abs() <= 1.0, "the parts add up to {}, the mean is {}", sum, latency.mean);
    let total: u64 = outcome.records.iter().map(|record| (record.completed - record.arrival).as_ps()).sum();
    let mean = total as f64 / outcome.records.len() as f64;
    prop_assert!((mean - latency.mean).abs() <= 1.0, "the records' mean is {}, the report's {}", mean, latency.mean);

    let seconds = report.makespan_ps as f64 / 1e12;
    if report.makespan_ps > 0 {
        prop_assert!((report.bandwidth_bytes_per_s * seconds - model.bytes as f64).abs() < 1.0);
    }
    let shares = [&report.utilisation.links, &report.utilisation.controllers, &report.utilisation.dies];
    prop_assert!(shares.into_iter().flatten().all(|share| (0.0..=1.0).contains(share)));
    Ok(())
}

/// Checks the counts of the device cache against the requests and against the flash counts. Returns the first difference as an error.
fn check_cache(case: &Case, model: &Model, report: &Report, cache: &CacheReport) -> Result<(), TestCaseError> {
    let settings = &case.config.cache;
    let all = |lookups: Lookups| lookups.hits + lookups.partial_hits + lookups.misses;
    prop_assert_eq!(all(cache.reads), model.pages_read);
    prop_assert_eq!(report.flash.user_reads, cache.reads.misses + cache.reads.partial_hits);
    prop_assert!(cache.fills <= report.flash.user_reads);
    let takes_writes = matches!(case.config.queue.caching, Caching::All | Caching::Writes);
    prop_assert_eq!(all(cache.writes), if takes_writes { model.pages_written } else { 0 });
    prop_assert!(report.flash.user_programs <= model.pages_written);
    if !takes_writes || settings.writes == CacheWrites::Through {
        prop_assert_eq!(report.flash.user_programs, model.pages_written);
        prop_assert_eq!((cache.destages, cache.dirty_pages_max, cache.waits), (0, 0, 0));
    }
    let page = case.config.mapping_unit().as_u64();
    prop_assert_eq!(cache.capacity_pages, settings.capacity.as_u64() / page);
    prop_assert!(cache.dirty_pages_end <= cache.dirty_pages_max && cache.dirty_pages_max <= cache.capacity_pages);
    prop_assert!((0.0..=1.0).contains(&cache.dram_share));
    if settings.flush_at_end {
        prop_assert_eq!(cache.dirty_pages_end, 0);
    }
    Ok(())
}

/// Checks that every lower bound is at most the makespan, and that the lower bound of the run is the largest of them.
pub fn check_lower_bound(outcome: &Outcome) -> Result<(), TestCaseError> {
    let Report { lower_bound: bound, makespan_ps, .. } = &outcome.report;
    let always = [bound.dies_ps, bound.link_to_drive_ps, bound.link_to_host_ps];
    let sometimes = [
        bound.chips_ps,
        bound.rows_ps,
        bound.mesh_links_ps,
        bound.controllers_ps,
        bound.adapter_ps,
        bound.firmware_ps,
        bound.dram_ps,
        bound.arrivals_ps,
    ];
    let largest = always.into_iter().chain(sometimes.into_iter().flatten()).max();
    prop_assert_eq!(Some(bound.makespan_ps), largest);
    prop_assert!(bound.makespan_ps <= *makespan_ps, "{:?} in {} ps", bound, makespan_ps);
    prop_assert!(bound.distance.is_none_or(|distance| distance >= 0.0), "{:?}", bound);
    Ok(())
}

pub fn check_map(case: &Case, outcome: &Outcome) -> Result<(), TestCaseError> {
    let model = Model::of(case);
    let lost: Vec<_> = model.mapped_min.difference(&outcome.mapped).collect();
    prop_assert!(lost.is_empty(), "not mapped at the end: {:?}", lost);
    let invented: Vec<_> = outcome.mapped.difference(&model.mapped_max).collect();
    prop_assert!(invented.is_empty(), "mapped though never touched: {:?}", invented);
    Ok(())
}
