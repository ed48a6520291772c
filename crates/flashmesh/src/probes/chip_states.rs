//! Probe for `measure.chip-states`: share of time that chips spend in transfer, array execution, both and neither.

use crate::flash::geometry::Geometry;
use crate::ids::DieId;
use crate::kernel::probe::{Notice, Probe};
use crate::measure::report::{ChipStatesReport, Report};
use crate::units::Time;

/// Measures for how long chips transfer, execute in their arrays, do both, or do neither (Design for Scalability, PACT 2014, section 4.3).
#[derive(Clone, Debug)]
pub struct ChipStatesProbe {
    dies_per_chip: u32,
    chips: Vec<Chip>,
    totals: Totals,
}

#[derive(Clone, Copy, Debug, Default)]
struct Chip {
    transfers: u32,
    arrays: u32,
    since: Time,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    exclusive_transfer: Time,
    overlapped: Time,
    exclusive_execution: Time,
    idle: Time,
}

impl Totals {
    fn count(&mut self, chip: &mut Chip, now: Time) {
        let state = match (chip.transfers > 0, chip.arrays > 0) {
            (true, false) => &mut self.exclusive_transfer,
            (true, true) => &mut self.overlapped,
            (false, true) => &mut self.exclusive_execution,
            (false, false) => &mut self.idle,
        };
        *state += now - chip.since;
        chip.since = now;
    }
}

impl ChipStatesProbe {
    pub fn new(geometry: &Geometry) -> ChipStatesProbe {
        ChipStatesProbe {
            dies_per_chip: geometry.dies_per_chip,
            chips: vec![Chip::default(); geometry.chips() as usize],
            totals: Totals::default(),
        }
    }

    /// Adds the time since the last state change of the chip of `die` to the totals. Returns the chip, whose state the caller then changes.
    fn chip(&mut self, die: DieId, now: Time) -> &mut Chip {
        let chip = &mut self.chips[(die.0 / self.dies_per_chip) as usize];
        self.totals.count(chip, now);
        chip
    }
}

impl Probe for ChipStatesProbe {
    fn snapshot(&self) -> Option<Box<dyn Probe + Send>> {
        Some(Box::new(self.clone()))
    }

    fn notify(&mut self, now: Time, notice: &Notice<'_>) {
        match *notice {
            Notice::Sent(grant, ..) => self.chip(grant.die, now).transfers += 1,
            Notice::Delivered(grant) => self.chip(grant.die, now).transfers -= 1,
            Notice::ArrayBegan(die, ..) | Notice::Resumed(die, _) => self.chip(die, now).arrays += 1,
            Notice::ArrayEnded(die, _) | Notice::Suspended(die) => self.chip(die, now).arrays -= 1,
            _ => {}
        }
    }

    fn conclude(&mut self, now: Time, report: &mut Report) {
        let ChipStatesProbe { chips, totals, .. } = self;
        chips.iter_mut().for_each(|chip| totals.count(chip, now));
        let Totals { exclusive_transfer, overlapped, exclusive_execution, idle } = *totals;
        let all = (exclusive_transfer + overlapped + exclusive_execution + idle).as_secs_f64();
        let share = |time: Time| if all > 0.0 { time.as_secs_f64() / all } else { 0.0 };
        report.chip_states = Some(ChipStatesReport {
            exclusive_transfer: share(exclusive_transfer),
            overlapped: share(overlapped),
            exclusive_execution: share(exclusive_execution),
            idle: if all > 0.0 { share(idle) } else { 1.0 },
        });
    }
}
