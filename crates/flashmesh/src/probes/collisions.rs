//! Probe for `measure.collisions`: forwards the notices of reads to the analysis of read collisions.

use crate::collisions::{Analysis, AnalysisOptions, DetectorRules};
use crate::config::{Config, CountedReads};
use crate::flash::geometry::Geometry;
use crate::kernel::probe::{Notice, Probe, ReadNotice, Scope};
use crate::measure::report::Report;
use crate::units::Time;

#[derive(Clone, Debug)]
pub struct CollisionProbe(Analysis);

impl CollisionProbe {
    pub fn new(config: &Config, geometry: &Geometry) -> CollisionProbe {
        CollisionProbe(Analysis::new(AnalysisOptions {
            dies: geometry.dies(),
            logical_pages: geometry.logical_pages,
            interval: config.measure.collision_interval,
            pairs_max: config.measure.collision_pairs,
            detector: DetectorRules {
                pairs_per_die: config.replication.l_r,
                rate_window: config.replication.rate_window,
                read_time: config.flash.read_time,
                program_time: config.flash.program_time,
            },
            counts_all: config.replication.counted_reads == CountedReads::All,
            copies_max: config.replication.replicas_max(geometry.logical_pages),
            seed: config.seed,
        }))
    }
}

impl Probe for CollisionProbe {
    fn snapshot(&self) -> Option<Box<dyn Probe + Send>> {
        Some(Box::new(self.clone()))
    }

    fn scope(&self) -> Scope {
        Scope::Reads
    }

    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        if let Notice::Read(notice) = *notice {
            self.notify_reads(&[(now, notice)]);
        }
    }

    fn notify_reads(&mut self, notices: &[(Time, ReadNotice)]) {
        for &(now, notice) in notices {
            match notice {
                ReadNotice::Queued(id, die, lpn, read_for) => self.0.read_queued(id, die, lpn, read_for, now),
                ReadNotice::Rerouted(id) => self.0.rerouted(id),
                ReadNotice::Left(id, die) => self.0.read_finished(id, die, now),
                ReadNotice::Superseded(lpn) => self.0.invalidate_copy(lpn),
            }
        }
    }

    fn conclude(&mut self, now: Time, report: &mut Report) {
        report.collisions = Some(self.0.report(now));
    }
}
