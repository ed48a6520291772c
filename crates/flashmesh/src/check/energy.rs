//! Oracle `energy`: the reported energy is the sum over all observed operations and uses of links, plus the energy of routers and controllers over
//! the whole run.

use crate::config::{self, Config};
use crate::fabric::LinkUse;
use crate::fabric::layout::LinkKind;
use crate::flash::die::OperationKind;
use crate::ids::{DieId, LinkId};
use crate::kernel::probe::FabricEndState;
use crate::power::energy::PowerReport;
use crate::units::{Time, Wattage};

use super::arithmetic::{ExpectedTimes, PageAt};
use super::expected_fabrics::ExpectedFabric;
use super::id_vec::IdVec;

/// Maximum relative difference between sums of the same numbers in different orders.
const ROUNDING: f64 = 1e-9;

#[derive(Clone, Debug)]
pub(super) struct Energy {
    flash: config::Flash,
    times: ExpectedTimes,
    power: config::Power,
    /// Capacitive load of a channel, relative to a channel of 8 chips.
    channel_length: f64,
    router_power: Wattage,
    /// For each die, the kinds of its operations in progress, in order of start. An operation that ends is the last one: a read that
    /// suspended an operation ends before that operation.
    under_way: IdVec<DieId, Vec<OperationKind>>,
    ended: [u64; OperationKind::ALL.len()],
    /// Kind of the operation that ended last, until the notice of its first page; `None` after this notice.
    unreported_operation: Option<OperationKind>,
    /// Sum of the array times of all reads, including those of copybacks, beyond the time of a lower page, in seconds. `beyond_program_s`
    /// is this sum for programs.
    beyond_read_s: f64,
    beyond_program_s: f64,
    used: IdVec<LinkId, Time>,
    transfers: u64,
    /// Whether operations hold links (`fabric.hold-path`), also while no data moves over them.
    holds_paths: bool,
}

impl Energy {
    pub(super) const NAME: &'static str = "energy";

    pub(super) fn new(expected: &ExpectedFabric, config: &Config) -> Energy {
        Energy {
            flash: config.flash.clone(),
            times: ExpectedTimes::new(expected, config),
            power: config.power.clone(),
            channel_length: f64::from(config.geometry.chips_per_channel) / 8.0,
            router_power: if expected.buffers_in_routers {
                config.power.buffered_router_power
            } else {
                config.power.router_power
            },
            under_way: IdVec::default(),
            ended: [0; OperationKind::ALL.len()],
            unreported_operation: None,
            beyond_read_s: 0.0,
            beyond_program_s: 0.0,
            used: IdVec::default(),
            transfers: 0,
            holds_paths: config.fabric.hold_path != config::HoldPath::Never,
        }
    }

    pub(super) fn began(&mut self, die: DieId, kind: OperationKind) {
        self.under_way.at(die).push(kind);
    }

    pub(super) fn array_ended(&mut self, die: DieId) {
        if let Some(kind) = self.under_way.at(die).pop() {
            self.ended[kind.index()] += 1;
            self.unreported_operation = Some(kind);
        }
    }

    /// Adds the time of the last operation in excess of the same operation on a lower page. Uses only the pages of the first reported plane.
    pub(super) fn charge_pages(&mut self, read: Option<PageAt>, programmed: Option<PageAt>) {
        let Some(kind) = self.unreported_operation.take() else { return };
        let times = &self.times;
        let beyond = |page: Option<PageAt>, time: fn(&ExpectedTimes, PageAt) -> Time| {
            page.map_or(0.0, |page| time(times, page).as_secs_f64() - time(times, PageAt::Native(0)).as_secs_f64())
        };
        if kind == OperationKind::Read {
            self.beyond_read_s += beyond(read, ExpectedTimes::read);
        }
        if kind == OperationKind::Copyback {
            let alone = times.read(PageAt::Native(0)).as_secs_f64();
            self.beyond_read_s += read.map_or(0.0, |page| times.read_of_program(page).as_secs_f64() - alone);
        }
        if matches!(kind, OperationKind::Program | OperationKind::Copyback) {
            self.beyond_program_s += beyond(programmed, ExpectedTimes::program);
        }
    }

    /// Adds the time of the last operation in excess of the same operation on a lower page, if mapping units have several pages. `worked` is the
    /// whole array time of the operation.
    pub(super) fn charge_unit(&mut self, read: Option<PageAt>, worked: Time) {
        let Some(kind) = self.unreported_operation.take() else { return };
        let alone = worked.saturating_sub(self.times.decoding(kind)).as_secs_f64();
        let of_read = match (kind, read) {
            (OperationKind::Read, _) => alone,
            (OperationKind::Copyback, Some(unit)) => self.times.read_of_copyback(unit).as_secs_f64(),
            _ => 0.0,
        };
        let page = PageAt::Native(0);
        if matches!(kind, OperationKind::Read | OperationKind::Copyback) {
            self.beyond_read_s += of_read - self.times.read(page).as_secs_f64();
        }
        if matches!(kind, OperationKind::Program | OperationKind::Copyback) {
            self.beyond_program_s += alone - of_read - self.times.program(page).as_secs_f64();
        }
    }

    pub(super) fn sent(&mut self) {
        self.transfers += 1;
    }

    pub(super) fn used(&mut self, link_use: LinkUse) {
        *self.used.at(link_use.link) += link_use.until.saturating_sub(link_use.from);
    }

    pub(super) fn finish(&self, report: &PowerReport, links: FabricEndState<'_>, end: Time) -> Result<(), String> {
        let FabricEndState { layout, usage, held, has_transfers_in_flight: is_torn, hops } = links;
        let (mut channels, mut point_to_point) = (0.0, 0.0);
        for ((link, usage), number) in layout.links.iter().zip(usage).zip(0..) {
            let moved = usage.busy_until(end);
            // A notice reports a use of a link when it ends, so `used` does not include the current use of a held link.
            let is_held = is_torn || held.iter().any(|(other, _)| *other == LinkId(number));
            // If as many links were crossed as transfers were sent, every transfer crossed exactly one link. The counts prove nothing with routers,
            // or if the run ended during transfers, which have crossed links but are not counted yet.
            let is_alone = !self.holds_paths && !is_torn && layout.routers == 0 && hops == self.transfers;
            self.check_link(&link.name, LinkId(number), moved, is_alone, is_held)?;
            match link.kind {
                LinkKind::Channel => channels += moved.as_secs_f64(),
                LinkKind::Controller | LinkKind::Mesh | LinkKind::Chip => point_to_point += moved.as_secs_f64(),
            }
        }
        let voltage = self.power.supply_voltage;
        let works = |kind: OperationKind, time: Time| {
            (self.ended[kind.index()] + self.ended[OperationKind::Copyback.index()]) as f64 * time.as_secs_f64()
        };
        let erases_s = self.ended[OperationKind::Erase.index()] as f64 * self.flash.erase_time.as_secs_f64();
        let always = |count: u32, power: Wattage| f64::from(count) * power.as_watts() * end.as_secs_f64();
        let width =
            if layout.links.is_empty() { 1.0 } else { f64::from(layout.wires) / 8.0 / layout.links.len() as f64 };
        let wide = |seconds: f64, power: Wattage| seconds * power.as_watts() * width;
        let (found, power) = (&report.energy_j, &self.power);
        let read_s = works(OperationKind::Read, self.flash.read_time) + self.beyond_read_s;
        let program_s = works(OperationKind::Program, self.flash.program_time) + self.beyond_program_s;
        let parts = [
            ("reads", found.read, read_s * (power.read_current * voltage).as_watts()),
            ("programs", found.program, program_s * (power.program_current * voltage).as_watts()),
            ("erases", found.erase, erases_s * (power.erase_current * voltage).as_watts()),
            ("channels", found.channels, wide(channels, power.channel_power) * self.channel_length),
            ("links", found.links, wide(point_to_point, power.link_power)),
            ("routers", found.routers, always(layout.routers, self.router_power)),
            ("controllers", found.controllers, always(layout.controllers, power.controller_power)),
        ];
        for (name, found, expected) in parts {
            is_near(name, found, expected)?;
        }
        is_near("all parts", found.total, parts.iter().map(|(_, found, _)| found).sum())?;
        is_near("the nominal power", report.nominal_energy_j, report.nominal_w * end.as_secs_f64())
    }

    /// Checks `moved`, the reported time for which bytes moved over a link, against the sum of the observed uses of the link. Both are
    /// equal if every transfer crosses one link (`is_alone`). Otherwise the uses may be longer, because a link is also held during path
    /// setup. If the link `is_held`, the uses may be shorter, because the current use has not been reported.
    fn check_link(&self, name: &str, link: LinkId, moved: Time, is_alone: bool, is_held: bool) -> Result<(), String> {
        let used = self.used.get(link).copied().unwrap_or_default();
        if (moved > used && !is_held) || (moved < used && is_alone) {
            return Err(format!("{name} is said to have moved bytes for {moved}, but was in use for {used}"));
        }
        Ok(())
    }
}

fn is_near(name: &str, found: f64, expected: f64) -> Result<(), String> {
    if (found - expected).abs() <= ROUNDING * expected.abs() {
        return Ok(());
    }
    Err(format!("{name} are said to take {found} J, but what was seen takes {expected} J"))
}

#[cfg(test)]
mod tests {
    use super::super::Oracles;
    use super::super::histories::{assert_fails, assert_silent, config, ns, operation, oracles, us};
    use super::*;
    use crate::fabric::layout::Link;
    use crate::fabric::{Layout, LinkUsage, bus};
    use crate::power::energy::{ArrayOperationCounts, DriveActivity, report};

    const END: Time = Time::from_us(200);

    fn layout(kind: LinkKind, routers: u32) -> Layout {
        let link = |number| Link { kind, name: format!("channel {number}") };
        Layout { links: (0..2).map(link).collect(), wires: 16, controllers: 2, routers }
    }

    fn moved(nanoseconds: u64) -> LinkUsage {
        LinkUsage { busy: ns(nanoseconds), ..LinkUsage::default() }
    }

    /// Returns oracles after a read, a program, and a use of channel 1 for 50 ns.
    fn history() -> Oracles {
        let mut oracles = oracles();
        let end = operation(&mut oracles, DieId(0), OperationKind::Read, us(1));
        oracles.page_read(crate::ids::Ppn(0), crate::ids::Lpn(0), None, end);
        oracles.data_out_ended(DieId(0), end);
        operation(&mut oracles, DieId(1), OperationKind::Program, end);
        oracles.energy.sent();
        oracles.link_used(LinkUse { link: LinkId(1), die: DieId(2), from: us(4), until: us(4) + ns(50) }, us(5));
        oracles
    }

    /// Returns the counts of reads, programs, erases and copybacks in `operations`, all on lower pages.
    fn work(operations: [u64; 4]) -> ArrayOperationCounts {
        let mut work = ArrayOperationCounts::default();
        for (kind, count) in OperationKind::ALL.into_iter().zip(operations) {
            (0..count).for_each(|_| work.count(kind, Default::default()));
        }
        work
    }

    /// Checks a report against the oracles of [`history`]: `operations` and the busy time of channel 1, with an error from `change`. Returns the
    /// oracles.
    fn judged(operations: [u64; 4], busy_ns: u64, change: impl Fn(&mut PowerReport)) -> Oracles {
        let (layout, usage) = (layout(LinkKind::Channel, 0), [moved(0), moved(busy_ns)]);
        let activity = DriveActivity {
            work: work(operations),
            info: &bus::INFO,
            layout: &layout,
            usage: &usage,
            dies: 4,
            end: END,
        };
        let mut power = report(&config(), &activity);
        change(&mut power);
        let mut oracles = history();
        oracles.reported(
            &power,
            FabricEndState { layout: &layout, usage: &usage, held: &[], has_transfers_in_flight: false, hops: 1 },
            END,
        );
        oracles
    }

    #[test]
    fn energy_of_what_was_seen_is_right() {
        assert_silent(&judged([1, 1, 0, 0], 50, |_| ()));
    }

    #[test]
    fn an_operation_counted_twice_forgotten_or_taken_for_another_is_caught() {
        assert_fails(&judged([2, 1, 0, 0], 50, |_| ()), "energy", "reads are said to take");
        assert_fails(&judged([1, 0, 0, 0], 50, |_| ()), "energy", "programs are said to take 0 J");
        assert_fails(&judged([1, 1, 1, 0], 50, |_| ()), "energy", "erases are said to take");
        assert_fails(&judged([0, 0, 0, 1], 51, |_| ()), "energy", "but was in use for 50ns");
    }

    #[test]
    fn a_link_that_moved_for_longer_or_shorter_than_it_was_used_is_caught() {
        for busy in [49, 51] {
            let text = format!("channel 1 is said to have moved bytes for {busy}ns, but was in use for 50ns");
            assert_fails(&judged([1, 1, 0, 0], busy, |_| ()), "energy", &text);
        }
    }

    #[test]
    fn one_of_several_links_may_be_held_for_longer_than_it_moves_and_one_still_held_has_not_been_told() {
        let energy = history().energy;
        let judge_mesh = |routers, hops, busy, held: &[(LinkId, DieId)]| {
            let (layout, usage) = (layout(LinkKind::Mesh, routers), [moved(0), moved(busy)]);
            let activity = DriveActivity {
                work: work([1, 1, 0, 0]),
                info: &bus::INFO,
                layout: &layout,
                usage: &usage,
                dies: 4,
                end: END,
            };
            energy.finish(
                &report(&config(), &activity),
                FabricEndState { layout: &layout, usage: &usage, held, has_transfers_in_flight: false, hops },
                END,
            )
        };
        let judge = |hops, busy, held: &[(LinkId, DieId)]| judge_mesh(0, hops, busy, held);
        let held = [(LinkId(1), DieId(0))];
        assert_eq!(judge(2, 30, &[]), Ok(()));
        assert!(judge(1, 30, &[]).is_err() && judge(2, 70, &[]).is_err());
        assert_eq!((judge(2, 70, &held), judge(1, 70, &held)), (Ok(()), Ok(())));
        assert!(judge(1, 30, &held).is_err());
        assert_eq!(judge_mesh(4, 1, 30, &[]), Ok(()));
        assert!(judge_mesh(4, 1, 70, &[]).is_err());
    }

    #[test]
    fn sums_that_do_not_add_up_are_caught() {
        let wrong_total = judged([1, 1, 0, 0], 50, |power| power.energy_j.total *= 1.000_001);
        assert_fails(&wrong_total, "energy", "all parts are said to take");
        let wrong_channels = judged([1, 1, 0, 0], 50, |power| power.energy_j.channels *= 2.0);
        assert_fails(&wrong_channels, "energy", "channels are said to take");
        let wrong_nominal = judged([1, 1, 0, 0], 50, |power| power.nominal_energy_j += 1e-6);
        assert_fails(&wrong_nominal, "energy", "the nominal power");
    }
}
