//! A fitted profile as a source of requests.

use super::arrivals::FittedArrivals;
use super::model::{Model, OperationModel};
use super::placement::{Asked, Placement};
use super::urn::{Urn, Urns};
use crate::error::WorkloadError;
use crate::units::{Bytes, Time};
use crate::workload::IoRequest;
use crate::workload::source::WorkloadSource;
use crate::workload::synthetic::{Generator, Seed, generator_of};

/// The requests of a fitted profile: `[workload] kind = "fitted"`.
///
/// There is one common stream, whatever the thread. Memory grows with the footprint and with the requests of a segment of the
/// original, not with the number of requests that are made.
pub struct FittedSource {
    operations: OperationModel,
    arrivals: FittedArrivals,
    sequence: Urns<2>,
    sizes: Vec<Urn>,
    placement: Placement,
    generator: Generator,
    operation: u32,
    sector_size: u64,
    requests: u64,
    left: u64,
}

impl FittedSource {
    /// `requests` like those that `model` was fitted to, as many as the original has unless given, on a drive of `capacity` addressed
    /// in sectors of `sector_size`. With `wrap` a smaller drive than the original's addresses need is filled more densely.
    ///
    /// # Errors
    /// When the addresses of the original do not fit the drive, unless `wrap`.
    pub fn new(
        model: &Model,
        requests: Option<u64>,
        capacity: Bytes,
        sector_size: Bytes,
        wrap: bool,
        seed: u64,
    ) -> Result<FittedSource, WorkloadError> {
        let span = Bytes::new(model.address_span);
        if span > capacity && (!wrap || capacity < Bytes::from_kib(1 << 20)) {
            return Err(WorkloadError::Unusable(format!(
                "workload.fitted: the profile spans {span}, and the drive has {capacity}: take a larger drive, or set \
                 workload.beyond = \"wrap\", for which it needs 1 GiB at least"
            )));
        }
        let mut generator = generator_of(Seed::from(seed));
        let mut apart = || {
            let own = generator.clone();
            generator.jump();
            own
        };
        let requests = requests.unwrap_or(model.requests);
        let sizes = |sectors: &[u64]| Urn::new((0..sectors.len() as u32).map(|index| (index, 1)));
        Ok(FittedSource {
            arrivals: FittedArrivals::new(&model.arrivals, apart()),
            placement: Placement::new(model, capacity.as_u64(), apart()),
            sequence: Urns::new(&model.operations.sequence),
            sizes: model.operations.list.iter().map(|operation| sizes(&operation.sectors)).collect(),
            operations: model.operations.clone(),
            generator: apart(),
            operation: 0,
            sector_size: sector_size.as_u64().max(1),
            requests,
            left: requests,
        })
    }
}

impl WorkloadSource for FittedSource {
    fn next_request(&mut self, _thread: u32) -> Result<Option<IoRequest>, WorkloadError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let Some((arrival_ps, gap_class, mix)) = self.arrivals.next() else {
            return Err(WorkloadError::Unusable(
                "workload.requests: the arrivals reach beyond the end of time".to_owned(),
            ));
        };
        let context = self.operations.context(self.operation, gap_class, mix);
        let drawn = self.sequence.draw(context, &mut self.generator).unwrap_or(0);
        self.operation = drawn.min(self.operations.list.len() as u32 - 1);
        let operation = &self.operations.list[self.operation as usize];
        let size = self.sizes[self.operation as usize].draw(&mut self.generator).unwrap_or(0);
        let sectors = operation.sectors[size as usize];
        let level = self.operations.level(gap_class);
        let sector = self.placement.choose(Asked { operation: self.operation, kind: operation.kind, sectors, level });
        let (start, end) = (sector * 512, (sector + sectors) * 512);
        let offset = start / self.sector_size * self.sector_size;
        Ok(Some(IoRequest {
            arrival: Time::from_ps(arrival_ps),
            kind: operation.kind,
            offset: Bytes::new(offset),
            size: Bytes::new(end.next_multiple_of(self.sector_size) - offset),
            stream: 0,
        }))
    }

    fn request_count(&self) -> Option<u64> {
        Some(self.requests)
    }
}
