//! Simple model of a drive, which computes the expected results from the requests alone.

use std::collections::BTreeSet;

use flashmesh::config::{Config, InterfaceKind, PreconditionKind};
use flashmesh::flash::geometry::Geometry;
use flashmesh::host::status::Status;
use flashmesh::units::Bytes;
use flashmesh::workload::{IoRequest, RequestKind};

use crate::support::arbitrary::Case;
use crate::support::partitions::first_capacity;

/// Returns the status with which a request must complete.
pub fn status(config: &Config, io: &IoRequest) -> Status {
    let moves_data = matches!(io.kind, RequestKind::Read | RequestKind::Write);
    if moves_data && config.host.transfer_max.is_some_and(|max| io.size > max) {
        Status::InvalidField
    } else if io.kind == RequestKind::WriteZeroes && config.host.interface == InterfaceKind::Sata {
        Status::InvalidOpcode
    } else if io.offset + io.size > first_capacity(config) {
        Status::LbaOutOfRange
    } else {
        Status::Success
    }
}

/// Expected results of a drive, computed from the requests alone.
#[derive(Default)]
pub struct Model {
    pub pages_read: u64,
    pub pages_written: u64,
    /// Maximum number of reads for partial writes.
    pub pages_completed_max: u64,
    pub bytes: u64,
    /// Number of requests by status, indexed by `Status::index`.
    pub statuses: [u64; Status::ALL.len()],
    /// Logical pages that must be mapped at the end (`mapped_min`), and those that may be (`mapped_max`).
    pub mapped_min: BTreeSet<u32>,
    pub mapped_max: BTreeSet<u32>,
}

impl Model {
    /// Computes the expected results of `case`.
    pub fn of(case: &Case) -> Model {
        let Case { config, requests } = case;
        let page = config.mapping_unit().as_u64();
        let mut model = Model::default();
        if config.precondition.kind != PreconditionKind::None {
            let geometry = Geometry::from_config(config).expect("the geometry is valid");
            for namespace in config.namespaces(&geometry).expect("the namespaces fit the drive") {
                let first = (namespace.start.as_u64() / page) as u32;
                let pages = namespace.capacity.as_u64() / page;
                model.mapped_min.extend(first..first + (pages as f64 * config.precondition.fill) as u32);
            }
            model.mapped_max = model.mapped_min.clone();
        }
        let preconditioned = model.mapped_min.clone();
        let mut deallocated = BTreeSet::new();
        for io in requests {
            let status = status(config, io);
            model.statuses[status.index()] += 1;
            if status != Status::Success {
                continue;
            }
            let (start, end) = (io.offset.as_u64(), (io.offset + io.size).as_u64());
            let touched = start / page..end.div_ceil(page);
            let whole = start.div_ceil(page)..end / page;
            let in_part = touched.end - touched.start - whole.end.saturating_sub(whole.start);
            match io.kind {
                RequestKind::Read => model.pages_read += touched.end - touched.start,
                RequestKind::Write => {
                    model.pages_written += touched.end - touched.start;
                    model.pages_completed_max += in_part;
                }
                RequestKind::Deallocate => {
                    deallocated.extend(whole.map(|lpn| lpn as u32));
                    continue;
                }
                RequestKind::Flush => continue,
                RequestKind::WriteZeroes => {
                    model.pages_written += in_part;
                    model.pages_completed_max += in_part;
                    deallocated.extend(whole.clone().map(|lpn| lpn as u32));
                    let parts = touched.filter(|lpn| !whole.contains(lpn)).map(|lpn| lpn as u32);
                    model.mapped_min.extend(parts.clone());
                    model.mapped_max.extend(parts);
                    continue;
                }
            }
            model.bytes += end - start;
            if io.kind == RequestKind::Write {
                model.mapped_min.extend(touched.clone().map(|lpn| lpn as u32));
            }
            // Some first-touch policies map an unwritten page when it is read.
            if io.kind == RequestKind::Write || config.ftl.first_touch.assigns_location() {
                model.mapped_max.extend(touched.map(|lpn| lpn as u32));
            }
        }
        let is_cached = config.cache.capacity > Bytes::ZERO;
        if is_cached && !config.cache.flush_at_end {
            // Pages dirty in the cache at the end may not be on flash.
            model.mapped_min.retain(|lpn| preconditioned.contains(lpn));
        }
        // Whether a deallocated page ends up mapped depends on requests in flight at that time.
        model.mapped_min.retain(|lpn| !deallocated.contains(lpn));
        model
    }
}
