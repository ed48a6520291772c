//! Request sizes: one size, or a weighted distribution of sizes.

use super::alias::AliasTable;
use super::layout::FootprintLayout;
use super::random::Generator;
use super::unusable;
use crate::config;
use crate::error::WorkloadError;
use crate::request::RequestKind;
use crate::units::Bytes;

/// A request size, with the counts that patterns need of blocks: the aligned pieces into which [`FootprintLayout`] divides the footprint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) bytes: Bytes,
    /// The number of aligned blocks of the footprint that a request of this size covers.
    pub(crate) blocks: u64,
    /// The number of blocks in which a request of this size can begin without crossing the end of the footprint.
    pub(crate) starts: u64,
}

/// The sizes of a workload, with the table that draws them by weight.
#[derive(Clone, Debug)]
pub(crate) struct SizeTable {
    sizes: Vec<Size>,
    alias: AliasTable,
}

impl SizeTable {
    /// Creates a table of `weighted` sizes on `layout`, without sizes of weight 0. The error names an invalid size or weight.
    pub(crate) fn new(
        weighted: &config::Sizes,
        layout: &FootprintLayout,
        sector_size: Bytes,
    ) -> Result<SizeTable, WorkloadError> {
        check(weighted, sector_size)?;
        let chosen: Vec<(Bytes, f64)> = weighted.0.iter().copied().filter(|&(_, weight)| weight > 0.0).collect();
        let largest = chosen.iter().map(|&(size, _)| size).max().unwrap_or_default();
        if largest > layout.length() {
            return Err(unusable(
                "workload.request-size",
                format!("{largest} is larger than the footprint of {}", layout.length()),
            ));
        }
        let sizes = chosen
            .iter()
            .map(|&(bytes, _)| Size {
                bytes,
                blocks: layout.blocks_of(bytes.as_u64()),
                starts: layout.starts_of(bytes.as_u64()),
            })
            .collect();
        let weights: Vec<f64> = chosen.iter().map(|&(_, weight)| weight).collect();
        Ok(SizeTable { sizes, alias: AliasTable::new(&weights) })
    }

    pub(crate) fn choose(&self, generator: &mut Generator) -> &Size {
        if let [only] = self.sizes.as_slice() {
            return only;
        }
        &self.sizes[self.alias.choose(generator)]
    }

    pub(crate) fn smallest(&self) -> &Size {
        self.sizes.iter().min_by_key(|size| size.bytes).unwrap_or(&self.sizes[0])
    }

    pub(crate) fn largest(&self) -> &Size {
        self.sizes.iter().max_by_key(|size| size.bytes).unwrap_or(&self.sizes[0])
    }
}

/// The sizes of a workload in which writes may have other sizes than reads.
#[derive(Clone, Debug)]
pub(crate) struct SizesByKind {
    all: SizeTable,
    /// The sizes of writes; `None` if writes have the sizes of all other requests.
    writes: Option<SizeTable>,
}

impl SizesByKind {
    /// Creates separate sizes for reads and writes.
    pub(crate) fn new(reads: SizeTable, writes: SizeTable) -> SizesByKind {
        SizesByKind { all: reads, writes: Some(writes) }
    }

    /// Draws the size of a request of `kind`.
    pub(crate) fn choose(&self, kind: RequestKind, generator: &mut Generator) -> &Size {
        match (&self.writes, kind) {
            (Some(writes), RequestKind::Write) => writes.choose(generator),
            _ => self.all.choose(generator),
        }
    }

    /// Returns the table with the smallest size, which determines the possible offsets.
    pub(crate) fn with_smallest(&self) -> &SizeTable {
        match &self.writes {
            Some(writes) if writes.smallest().bytes < self.all.smallest().bytes => writes,
            _ => &self.all,
        }
    }
}

impl From<SizeTable> for SizesByKind {
    fn from(all: SizeTable) -> SizesByKind {
        SizesByKind { all, writes: None }
    }
}

/// Returns the smallest size with a weight, the default of the alignment; `None` if no size has a weight.
pub(crate) fn smallest_of(weighted: &config::Sizes) -> Option<Bytes> {
    weighted.0.iter().filter(|&&(_, weight)| weight > 0.0).map(|&(size, _)| size).min()
}

fn check(weighted: &config::Sizes, sector_size: Bytes) -> Result<(), WorkloadError> {
    let refuse = |message: String| Err(unusable("workload.request-size", message));
    for &(size, weight) in &weighted.0 {
        if size == Bytes::ZERO || !size.as_u64().is_multiple_of(sector_size.as_u64()) {
            return refuse(format!("{size} is not a positive multiple of the sector size {sector_size}"));
        }
        if !weight.is_finite() || weight < 0.0 {
            return refuse(format!("the weight {weight} of {size} is not a number from 0"));
        }
    }
    let total: f64 = weighted.0.iter().map(|&(_, weight)| weight).sum();
    if total <= 0.0 || !total.is_finite() {
        return refuse("no size has a weight".to_owned());
    }
    if u32::try_from(weighted.0.len()).is_err() {
        return refuse("there are too many sizes".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::random::stream_of;
    use super::*;

    const SECTOR: Bytes = Bytes::new(512);

    fn layout() -> FootprintLayout {
        FootprintLayout::new(Bytes::ZERO, None, Bytes::from_kib(4), Bytes::from_kib(4096), SECTOR).unwrap()
    }

    fn table(weighted: &[(u64, f64)]) -> Result<SizeTable, WorkloadError> {
        let sizes = config::Sizes(weighted.iter().map(|&(size, weight)| (Bytes::new(size), weight)).collect());
        SizeTable::new(&sizes, &layout(), SECTOR)
    }

    #[test]
    fn sizes_come_in_proportion_to_their_weights() {
        let weighted = [(4096, 5.0), (8192, 0.0), (16384, 3.0), (65536, 1.5), (512, 0.5)];
        let table = table(&weighted).unwrap();
        let mut generator = stream_of(3);
        let draws = 1_000_000;
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..draws {
            *counts.entry(table.choose(&mut generator).bytes.as_u64()).or_insert(0_u64) += 1;
        }
        assert!(!counts.contains_key(&8192), "a size of weight 0 came up");
        let chi_square: f64 = weighted
            .iter()
            .filter(|&&(_, weight)| weight > 0.0)
            .map(|&(size, weight)| {
                let expected = f64::from(draws) * weight / 10.0;
                (counts[&size] as f64 - expected).powi(2) / expected
            })
            .sum();
        // 3 degrees of freedom: exceeds 16.3 for one in a thousand seeds.
        assert!(chi_square < 16.3, "chi-square {chi_square}");
    }

    #[test]
    fn writes_take_their_own_sizes_and_all_else_the_others() {
        let sizes = SizesByKind::new(table(&[(8192, 1.0)]).unwrap(), table(&[(4096, 1.0)]).unwrap());
        let mut generator = stream_of(1);
        for (kind, bytes) in [(RequestKind::Read, 8192), (RequestKind::Write, 4096), (RequestKind::Deallocate, 8192)] {
            assert_eq!(sizes.choose(kind, &mut generator).bytes, Bytes::new(bytes), "{kind:?}");
        }
        assert_eq!(sizes.with_smallest().smallest().bytes, Bytes::new(4096));
    }

    #[test]
    fn refuses_sizes_that_cannot_be() {
        for weighted in [
            &[][..],
            &[(0, 1.0)],
            &[(700, 1.0)],
            &[(4096, 0.0)],
            &[(4096, -1.0)],
            &[(4096, f64::NAN)],
            &[(4096, f64::MAX), (8192, f64::MAX)],
            &[(8192 * 1024, 1.0)],
        ] {
            let message = table(weighted).unwrap_err().to_string();
            assert!(message.starts_with("workload.request-size: "), "{message}");
        }
    }
}
