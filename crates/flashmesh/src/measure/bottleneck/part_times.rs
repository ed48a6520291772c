//! Busy times of the parts of a drive (host link, host adapter, controller cores, DRAM, links, flash controllers, dies), in the whole run or in its
//! measured window.

use super::lower_bound::DieWork;
use crate::fabric::HoldTimes;
use crate::measure::report::Utilisation;
use crate::units::Time;

/// Busy time of each part in one span of the run: from its start, or from an earlier sample (see [`since`](Self::since)).
#[derive(Clone, Debug)]
pub struct PartTimes {
    /// Length of the span to which the busy times belong.
    pub span: Time,
    /// Busy time of the host link: in the direction to the drive, then in the direction to the host.
    pub host_link: [Time; 2],
    pub adapter: Option<Time>,
    /// Busy time of the controller's cores, averaged over the cores; `None` if the firmware takes no time.
    pub firmware: Option<Time>,
    pub dram: Option<Time>,
    /// Time for which at least one written page waited for the throttle of the device cache; zero without a throttle.
    pub throttle: Time,
    pub links: Vec<Time>,
    pub links_held: HoldTimes<Time>,
    pub controllers: Vec<Time>,
    pub dies: Vec<Time>,
    /// Busy time of each die for GC and wear levelling.
    pub dies_gc: Vec<Time>,
    /// Work of each die. If the dies of a chip take turns, work of each chip.
    pub work: Vec<DieWork>,
    /// For each stream, time for which an arrived request waited because the queue of the stream was full. `None` if any stream is not an open
    /// replay.
    pub queue_full: Option<Vec<Time>>,
}

impl PartTimes {
    /// Returns the busy times from `earlier`, an earlier sample of the same run, to this sample.
    pub fn since(mut self, earlier: &PartTimes) -> PartTimes {
        let each = |later: &mut [Time], earlier: &[Time]| {
            later.iter_mut().zip(earlier).for_each(|(later, &earlier)| *later = later.saturating_sub(earlier));
        };
        each(self.host_link.as_mut_slice(), &earlier.host_link);
        each(&mut self.links, &earlier.links);
        each(&mut self.controllers, &earlier.controllers);
        each(&mut self.dies, &earlier.dies);
        each(&mut self.dies_gc, &earlier.dies_gc);
        match (&mut self.links_held, &earlier.links_held) {
            (HoldTimes::PacketHolds(later), HoldTimes::PacketHolds(earlier))
            | (HoldTimes::OperationHolds(later), HoldTimes::OperationHolds(earlier)) => each(later, earlier),
            _ => {}
        }
        self.work.iter_mut().zip(&earlier.work).for_each(|(later, &earlier)| *later = later.since(earlier));
        let optional = |later: Option<Time>, earlier: Option<Time>| {
            later.map(|later| later.saturating_sub(earlier.unwrap_or_default()))
        };
        self.adapter = optional(self.adapter, earlier.adapter);
        self.firmware = optional(self.firmware, earlier.firmware);
        self.dram = optional(self.dram, earlier.dram);
        self.throttle = self.throttle.saturating_sub(earlier.throttle);
        if let (Some(later), Some(earlier)) = (&mut self.queue_full, &earlier.queue_full) {
            each(later, earlier);
        }
        self.span = self.span.saturating_sub(earlier.span);
        self
    }

    /// Returns `busy` as a share of the span, at most 1; 0 for a span without length.
    pub fn share(&self, busy: Time) -> f64 {
        if self.span == Time::ZERO { 0.0 } else { (busy.as_secs_f64() / self.span.as_secs_f64()).min(1.0) }
    }

    /// Returns the busy share of each part over the span.
    pub fn utilisation(&self) -> Utilisation {
        let shares = |busy: &[Time]| -> Vec<f64> { busy.iter().map(|&busy| self.share(busy)).collect() };
        let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
        let [links, controllers, dies] = [&self.links, &self.controllers, &self.dies].map(|busy| shares(busy));
        let [link_to_drive, link_to_host] = self.host_link.map(|busy| self.share(busy));
        Utilisation {
            link_to_drive,
            link_to_host,
            adapter: self.adapter.map(|busy| self.share(busy)),
            firmware: self.firmware.map(|busy| self.share(busy)),
            links_mean: mean(&links),
            controllers_mean: mean(&controllers),
            dies_mean: mean(&dies),
            dies_gc_mean: mean(&shares(&self.dies_gc)),
            links,
            controllers,
            dies,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(span_us: u64, busy_us: u64) -> PartTimes {
        let busy = Time::from_us(busy_us);
        let work = DieWork { array: busy, ..DieWork::default() };
        PartTimes {
            span: Time::from_us(span_us),
            host_link: [busy, Time::ZERO],
            adapter: None,
            firmware: Some(busy),
            dram: Some(busy),
            throttle: busy,
            links: vec![busy; 2],
            links_held: HoldTimes::OperationHolds(vec![busy; 2]),
            controllers: vec![busy],
            dies: vec![busy, Time::ZERO],
            dies_gc: vec![busy, Time::ZERO],
            work: vec![work, DieWork::default()],
            queue_full: Some(vec![busy, Time::from_us(100)]),
        }
    }

    #[test]
    fn shares_of_a_window_leave_out_what_was_before_it() {
        let window = times(30, 25).since(&times(10, 20));
        let shares = window.utilisation();
        assert_eq!(window.span, Time::from_us(20));
        assert_eq!((shares.link_to_drive, shares.link_to_host, shares.adapter), (0.25, 0.0, None));
        assert_eq!(
            (shares.firmware, &shares.links[..], &shares.controllers[..]),
            (Some(0.25), &[0.25; 2][..], &[0.25][..])
        );
        assert_eq!((&shares.dies[..], shares.dies_mean, shares.dies_gc_mean), (&[0.25, 0.0][..], 0.125, 0.125));
        assert_eq!(window.work[0].array, Time::from_us(5));
        assert_eq!(window.links_held.by_operations(), [Time::from_us(5); 2]);
        assert_eq!((window.dram, window.throttle), (Some(Time::from_us(5)), Time::from_us(5)));
    }

    #[test]
    fn the_full_queue_of_a_window_is_that_of_the_stream_that_waited_in_it() {
        let window = times(30, 25).since(&times(10, 20));
        assert_eq!(window.queue_full, Some(vec![Time::from_us(5), Time::ZERO]));
    }

    #[test]
    fn parts_of_a_span_of_no_time_are_not_busy() {
        assert_eq!(times(0, 0).utilisation().dies_mean, 0.0);
    }
}
