//! The constant properties of a job, from the configuration.

use super::file::{DIRECTIONS, JobFile, Stride};
use super::random_map::RandomMap;
use super::{DEALLOCATIONS, READS, WRITES, does_not_fit};
use crate::config::{FileOrder, Pattern, RunKind, Sizes, Workload};
use crate::error::WorkloadError;
use crate::synthetic::{
    AliasTable, AnyPattern, Chance, FootprintLayout, Generator, KindMix, Shares, SizeTable, addresses_of, smallest_of,
    unusable,
};
use crate::units::Bytes;

/// The properties of a job that do not change during a run.
#[derive(Clone, Debug)]
pub(super) struct JobSpec {
    pub(super) kinds: KindMix,
    /// The sizes of reads, writes and deallocations.
    pub(super) sizes: [SizeTable; DIRECTIONS],
    /// The address pattern; `None` for a sequential job.
    pub(super) addresses: Option<AnyPattern>,
    /// The length of one file in bytes.
    pub(super) length: u64,
    pub(super) alignment: u64,
    /// Whether the offsets of each direction are multiples of the smallest size of that direction.
    pub(super) aligns_each: bool,
    /// The size in bytes of a block of the random map.
    pub(super) map_unit: u64,
    /// The size of the largest request, in bytes.
    pub(super) largest: u64,
    pub(super) stride: Stride,
    pub(super) file_order: FileOrder,
    pub(super) file_run: u32,
    /// The weights of the files for the random order; `None` for equal weights.
    pub(super) file_weights: Option<FileWeights>,
    pub(super) flush_every: Option<u32>,
    pub(super) flushes_last: bool,
    pub(super) deallocates_first: bool,
    pub(super) run_length: u32,
    pub(super) run_kind: RunKind,
    /// The chance, per direction, that an offset is drawn at random when a draw is due; otherwise the request is sequential.
    pub(super) random_chances: [Chance; DIRECTIONS],
    pub(super) pass_size: Option<u64>,
    /// Whether a pass that reaches the end of the files continues at their start: it has more bytes than the files, or no limit.
    pub(super) continues: bool,
    pub(super) same_passes: bool,
}

/// The weights of the files of a job.
#[derive(Clone, Debug)]
pub(super) struct FileWeights {
    /// The files with a weight above 0.
    files: Vec<usize>,
    alias: AliasTable,
}

impl FileWeights {
    /// Reads the key `file-weights`. Returns `None` without the key, and an error if a weight is invalid.
    fn new(workload: &Workload) -> Result<Option<FileWeights>, WorkloadError> {
        let Some(text) = &workload.file_weights else { return Ok(None) };
        let wrong = |reason: String| unusable("workload.file-weights", reason);
        let weight = |part: &str| part.trim().parse::<f64>().ok().filter(|weight| (0.0..=1e12).contains(weight));
        let weights: Vec<f64> = text
            .split(':')
            .map(|part| {
                weight(part).ok_or_else(|| wrong(format!("`{part}` is no weight: expected a number from 0 on")))
            })
            .collect::<Result<_, _>>()?;
        if weights.len() != workload.files as usize {
            return Err(wrong(format!("{} weights for {} files of the job", weights.len(), workload.files)));
        }
        let (files, above): (Vec<usize>, Vec<f64>) =
            weights.into_iter().enumerate().filter(|&(_, weight)| weight > 0.0).unzip();
        if files.is_empty() {
            return Err(wrong("no file has a weight".to_owned()));
        }
        Ok(Some(FileWeights { files, alias: AliasTable::new(&above) }))
    }

    /// Draws a file in proportion to the weights. Returns its index in the job.
    pub(super) fn choose(&self, generator: &mut Generator) -> usize {
        self.files[self.alias.choose(generator)]
    }
}

impl JobSpec {
    pub(super) fn new(workload: &Workload, capacity: Bytes, sector_size: Bytes) -> Result<JobSpec, WorkloadError> {
        let of_reads = &workload.request_size;
        let given: [&Sizes; DIRECTIONS] = [
            of_reads,
            workload.write_size.as_ref().unwrap_or(of_reads),
            workload.deallocate_size.as_ref().unwrap_or(of_reads),
        ];
        let used = used_directions(workload);
        let smallest = |directions: &[usize]| {
            let sizes = directions.iter().filter_map(|&direction| smallest_of(given[direction]));
            sizes.min().ok_or_else(|| unusable("workload.request-size", "no size has a weight"))
        };
        let map_unit = smallest(&used)?;
        let is_sequential = workload.pattern == Pattern::Sequential;
        let alignment = if is_sequential { sector_size } else { workload.alignment.unwrap_or(map_unit) };
        // Checks the whole footprint, as for other workloads. The layout of a single file follows below.
        let whole =
            FootprintLayout::new(workload.footprint_start, workload.footprint, sector_size, capacity, sector_size)?;
        let sector = sector_size.as_u64();
        let length = whole.length().as_u64() / u64::from(workload.files.max(1)) / sector * sector;
        let length = Bytes::new(length);
        if length < map_unit {
            return Err(does_not_fit(map_unit, length));
        }
        let layout = FootprintLayout::new(Bytes::ZERO, Some(length), alignment, length, sector_size)?;
        let table = |direction: usize| {
            let sizes = if used.contains(&direction) { given[direction] } else { given[used[0]] };
            let largest = sizes.0.iter().map(|&(size, _)| size).max().unwrap_or_default();
            if largest > length {
                return Err(does_not_fit(largest, length));
            }
            SizeTable::new(sizes, &layout, sector_size)
        };
        let sizes = [table(READS)?, table(WRITES)?, table(DEALLOCATIONS)?];
        let largest = used.iter().map(|&direction| sizes[direction].largest().bytes.as_u64()).max().unwrap_or(0);
        let addresses = match is_sequential {
            true => None,
            false => Some(addresses_of(workload, 1, layout.blocks(), sizes_with_smallest(&sizes))?),
        };
        if workload.random_map && workload.alignment.is_some_and(|alignment| alignment != map_unit) {
            let message =
                format!("a random map covers blocks of the smallest request, {map_unit}: leave the alignment away");
            return Err(unusable("workload.alignment", message));
        }
        let pass_size = workload.pass_size.map(Bytes::as_u64);
        let files = u64::from(workload.files.max(1));
        let continues = pass_size.is_none_or(|size| size > length.as_u64() * files);
        Ok(JobSpec {
            kinds: KindMix::new(Shares {
                read: workload.read_share,
                deallocate: workload.deallocate_share,
                flush: 0.0,
                write_zeroes: 0.0,
            })?,
            sizes,
            addresses,
            length: length.as_u64(),
            alignment: alignment.as_u64(),
            aligns_each: workload.alignment.is_none() && !workload.random_map,
            map_unit: map_unit.as_u64(),
            largest,
            stride: Stride {
                skip: workload.skip.as_u64(),
                after: workload.skip_after.map_or(0, Bytes::as_u64),
                is_backward: workload.skip_back,
                wraps: pass_size.is_none() && files == 1,
            },
            file_order: workload.file_order,
            file_run: workload.file_run.max(1),
            file_weights: FileWeights::new(workload)?,
            flush_every: workload.flush_every,
            flushes_last: workload.flush_last,
            deallocates_first: workload.deallocate_first,
            run_length: workload.run_length.max(1),
            run_kind: workload.run_kind,
            random_chances: [
                Chance::new(workload.random_share),
                Chance::new(workload.write_random_share.unwrap_or(workload.random_share)),
                Chance::new(workload.random_share),
            ],
            pass_size,
            continues,
            same_passes: workload.same_passes,
        })
    }

    /// Returns the files of the job in their initial state.
    pub(super) fn files(&self, workload: &Workload) -> Vec<JobFile> {
        let has_map = workload.random_map && workload.pattern == Pattern::Random;
        let map = || has_map.then(|| RandomMap::new(self.length / self.map_unit));
        let start = |file: u64| workload.footprint_start.as_u64() + file * self.length;
        (0..u64::from(workload.files.max(1))).map(|file| JobFile::new(start(file), map())).collect()
    }

    /// Returns the number of requests; `None` if the configuration does not determine it.
    pub(super) fn request_count(&self, workload: &Workload, requests: u64) -> Option<u64> {
        if self.flush_every.is_some() || self.flushes_last {
            return None;
        }
        let Some(pass) = self.pass_size else { return Some(requests) };
        let size = self.largest;
        let is_one_size = used_directions(workload).iter().all(|&at| self.sizes[at].smallest().bytes.as_u64() == size);
        let each = if self.deallocates_first { 2 } else { 1 };
        // The last bytes of a pass can remain unissued if requests do not fill a file or skip parts of it, so the number of requests is
        // then unknown.
        let is_filled = self.continues || (self.length.is_multiple_of(size) && self.stride.skip == 0);
        let whole = is_one_size && pass.is_multiple_of(size) && is_filled;
        whole.then(|| requests.min((pass / size * each).saturating_mul(workload.passes)))
    }
}

/// Returns the directions that requests of `workload` can have: [`READS`], [`WRITES`] or [`DEALLOCATIONS`].
fn used_directions(workload: &Workload) -> Vec<usize> {
    if workload.deallocate_first {
        return vec![WRITES, DEALLOCATIONS];
    }
    let shares = [
        (READS, workload.read_share > 0.0),
        (WRITES, workload.read_share + workload.deallocate_share < 1.0),
        (DEALLOCATIONS, workload.deallocate_share > 0.0),
    ];
    shares.into_iter().filter(|&(_, is_used)| is_used).map(|(direction, _)| direction).collect()
}

/// Returns the table with the smallest size, which determines the possible offsets.
fn sizes_with_smallest(sizes: &[SizeTable; DIRECTIONS]) -> &SizeTable {
    sizes.iter().min_by_key(|table| table.smallest().bytes).unwrap_or(&sizes[READS])
}
