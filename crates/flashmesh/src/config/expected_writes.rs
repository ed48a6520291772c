//! The writes to expect from the configured workloads: whether there are any, and their sizes. Random preconditioning writes pages in runs of
//! these sizes, because the pages of one write share a physical page.

use super::{Config, Workload, WorkloadKind};
use crate::units::Bytes;

/// Whether a run writes, and in which sizes, over all streams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExpectedWrites {
    /// Whether any request may write.
    pub may_write: bool,
    /// The sizes of the writes, if all streams that write have the same sizes; `None` if the sizes differ between streams, or are not known before
    /// the run.
    pub sizes: Option<WriteSizes>,
}

/// The sizes of writes, and the alignment of their offsets.
#[derive(Clone, Debug, PartialEq)]
pub struct WriteSizes {
    /// The sizes, each with its weight. Weights are positive and need not add up to one.
    pub weighted: Vec<(Bytes, f64)>,
    /// The size of which all offsets are multiples.
    pub alignment: Bytes,
}

impl ExpectedWrites {
    /// Returns the expected writes if requests come from outside the configuration: writes of unknown sizes.
    pub fn unknown() -> ExpectedWrites {
        ExpectedWrites { may_write: true, sizes: None }
    }
}

impl Config {
    /// Returns the expected writes of the configured workloads, over all streams. Without a stream that writes, sizes are `None`.
    pub fn expected_writes(&self) -> ExpectedWrites {
        let streams = self.streams();
        let mut sizes = streams.iter().map(|stream| &stream.workload).filter(|workload| writes(workload)).map(sizes_of);
        let Some(first) = sizes.next() else { return ExpectedWrites::default() };
        ExpectedWrites { may_write: true, sizes: if sizes.all(|other| other == first) { first } else { None } }
    }

    /// Returns the expected writes of a run in which only the stream at index `stream` issues requests. The sizes are those of all streams, so that
    /// the drive begins with the same data in the same pages as with all of them.
    pub fn expected_writes_of_single(&self, stream: usize) -> ExpectedWrites {
        let may_write = self.streams().get(stream).is_some_and(|stream| writes(&stream.workload));
        ExpectedWrites { may_write, ..self.expected_writes() }
    }
}

/// Returns whether any request of `workload` may write.
fn writes(workload: &Workload) -> bool {
    let only_reads = is_described(workload) && workload.read_share == 1.0 && !workload.deallocate_first;
    !only_reads
}

/// Returns whether the configuration determines the requests of `workload` without a trace or a profile.
fn is_described(workload: &Workload) -> bool {
    matches!(workload.kind, WorkloadKind::Synthetic | WorkloadKind::Job)
}

fn sizes_of(workload: &Workload) -> Option<WriteSizes> {
    let weighted = &workload.write_size.as_ref().unwrap_or(&workload.request_size).0;
    let smallest = weighted.iter().filter(|(_, weight)| *weight > 0.0).map(|&(size, _)| size).min()?;
    let alignment = workload.alignment.unwrap_or(smallest);
    is_described(workload).then(|| WriteSizes { weighted: weighted.clone(), alignment })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes_of(overrides: &[&str]) -> ExpectedWrites {
        let overrides: Vec<String> = overrides.iter().map(|&text| text.to_owned()).collect();
        Config::from_str("", "drive.toml", &overrides).expect("the configuration is valid").expected_writes()
    }

    #[test]
    fn workloads_that_only_read_write_nothing() {
        assert_eq!(writes_of(&["workload.read-share=100%"]), ExpectedWrites::default());
    }

    #[test]
    fn the_alignment_of_writes_is_their_smallest_size_unless_configured() {
        let found = writes_of(&["workload.read-share=30%", "workload.request-size=[['8KiB', 1], ['16KiB', 3]]"]);
        let sizes = found.sizes.expect("all writes are described");
        assert_eq!(sizes.weighted.iter().map(|&(size, _)| size).collect::<Vec<_>>(), [8, 16].map(Bytes::from_kib));
        assert_eq!(sizes.alignment, Bytes::from_kib(8));
        let aligned = writes_of(&["workload.read-share=30%", "workload.alignment=4KiB", "workload.request-size=8KiB"]);
        assert_eq!(aligned.sizes.expect("all writes are described").alignment, Bytes::from_kib(4));
    }
}
