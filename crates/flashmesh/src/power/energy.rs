//! Energy by two separate measures.
//!
//! - *Event energy*: the energy of the events of the run. A die draws the power of its operation while the array works, whatever the number of
//!   planes; a link draws power while bytes move over it; routers and controllers draw power all the time. Mean power is this energy over the
//!   execution time.
//! - *Nominal energy*, the measure of Venice, ISCA 2023, section 6.4: average power times execution time. The average power in the paper hardly
//!   differs between designs, because flash operations dominate and all designs execute the same number. So the paper's average power cannot be event
//!   energy over time: a faster design would have a higher one, and average power times execution time would be the event energy again. Here average
//!   power is the *nominal power* of the drive with all of its parts at work \[choice\]: every die draws the mean power of the operations of the run,
//!   every controller has a transfer in progress over the mean number of links of the run, and routers and controllers draw their constant power.
//!   Nominal power does not depend on the length of the run.
//!
//! A channel shared by several chips draws ten times the power of a link (Venice, ISCA 2023, section 6.6). Any wire bundle with one driver at either
//! end counts as a link: between routers, to a controller, to the pins of a chip, and the private channel of the path-conflict-free ideal \[choice\].
//! Power is proportional to the number of wires: the wide channel of pSSD draws twice as much power as a channel of the bus, the two narrow channels
//! of pnSSD together as much as one \[choice\].

use super::Constant;
use crate::config::{self, Config};
use crate::fabric::layout::LinkKind;
use crate::fabric::{FabricInfo, Layout, LinkUsage};
use crate::flash::die::OperationKind;
use crate::flash::page_type::PageType;
use crate::flash::timing::OperationPageTypes;
use crate::quantities;
use crate::units::{Time, Wattage};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArrayOperationCounts {
    /// Number of array reads, indexed by the type of the page. A copyback counts as a read and a program.
    pub reads: [u64; PageType::ALL.len()],
    pub programs: [u64; PageType::ALL.len()],
    pub erases: u64,
}

impl ArrayOperationCounts {
    pub fn count(&mut self, kind: OperationKind, pages: OperationPageTypes) {
        let reads = matches!(kind, OperationKind::Read | OperationKind::Copyback);
        let programs = matches!(kind, OperationKind::Program | OperationKind::Copyback);
        self.reads[pages.read.index()] += u64::from(reads);
        self.programs[pages.programmed.index()] += u64::from(programs);
        self.erases += u64::from(kind == OperationKind::Erase);
    }
}

#[derive(Clone, Copy, Debug)]
pub struct DriveActivity<'a> {
    pub work: ArrayOperationCounts,
    /// Properties of the interconnect.
    pub info: &'static FabricInfo,
    /// Links, controllers and routers of the interconnect.
    pub layout: &'a Layout,
    pub usage: &'a [LinkUsage],
    pub dies: u32,
    pub end: Time,
}

quantities! {
    /// Energy of the run's events, by consumer.
    #[derive(Copy, Default)]
    Energy as "Energy" {
        /// Total energy of the run: the sum over all consumers.
        total: f64, in "J";
        /// Energy of reads in the array. Each takes the read time of its page type, whatever the number of planes. A copyback counts as a read and a
        /// program.
        read: f64, in "J";
        /// Energy of programs in the array.
        program: f64, in "J";
        /// Energy of erases in the array.
        erase: f64, in "J";
        /// Energy of shared channels, while bytes move over them.
        channels: f64, in "J";
        /// Energy of links with one driver at either end, while bytes move over them.
        links: f64, in "J";
        /// Energy of routers, during the whole run.
        routers: f64, in "J";
        /// Energy of flash controllers, during the whole run.
        controllers: f64, in "J";
    }
}

quantities! {
    /// Power and energy of the drive, by two separate measures: event energy and nominal power.
    PowerReport as "DrivePower" {
        /// Energy of the run's events.
        energy_j: Energy;
        /// Energy of the run's events per simulated second.
        average_w: Option<f64>, in "W", null "in a run that took no time";
        /// Power of the drive with all of its parts at work: each die executes the mean operation of the run, each controller has a transfer over the
        /// mean number of links of the run, and routers and controllers draw their constant power. Nominal power does not depend on the length of the
        /// run.
        nominal_w: f64, in "W";
        /// Energy as the papers measure it: average power times execution time (Venice, ISCA 2023, section 6.4), here with the nominal power.
        nominal_energy_j: f64, in "J";
        /// Powers of single parts, from which the figures are computed.
        constants: Vec<Constant>;
    }
}

/// Number of chips on the channel to which `power.channel-power` applies. The power of a channel is proportional to its number of chips.
const CHIPS_PER_CHANNEL: f64 = 8.0;

/// Returns the power of a link of `kind` with 8 wires while data moves over it. A shared channel is assumed to have 8 chips.
pub fn link_power(power: &config::Power, kind: LinkKind) -> Wattage {
    match kind {
        LinkKind::Channel => power.channel_power,
        LinkKind::Controller | LinkKind::Mesh | LinkKind::Chip => power.link_power,
    }
}

pub fn report(config: &Config, activity: &DriveActivity<'_>) -> PowerReport {
    let DriveActivity { work, info, layout, usage, dies, end } = *activity;
    let (power, flash) = (&config.power, &config.flash);
    let seconds = |counts: [u64; PageType::ALL.len()], time: fn(PageType, &Config) -> Time| -> f64 {
        let each = PageType::ALL.into_iter().zip(counts);
        each.map(|(page_type, count)| count as f64 * time(page_type, config).as_secs_f64()).sum()
    };
    let work = [
        (seconds(work.reads, PageType::read_time), power.read_current),
        (seconds(work.programs, PageType::program_time), power.program_current),
        (work.erases as f64 * flash.erase_time.as_secs_f64(), power.erase_current),
    ];
    let array_s: f64 = work.iter().map(|(seconds, _)| seconds).sum();
    let [read, program, erase] = work.map(|(seconds, current)| seconds * (current * power.supply_voltage).as_watts());

    let mut moving_s = [0.0; LinkKind::ALL.len()];
    for (link, usage) in layout.links.iter().zip(usage) {
        moving_s[link.kind.index()] += usage.busy_until(end).as_secs_f64();
    }
    let length = |kind: LinkKind| match kind {
        LinkKind::Channel => f64::from(config.geometry.chips_per_channel) / CHIPS_PER_CHANNEL,
        LinkKind::Controller | LinkKind::Mesh | LinkKind::Chip => 1.0,
    };
    let link_energy =
        |kind: LinkKind| moving_s[kind.index()] * link_power(power, kind).as_watts() * length(kind) * layout.width();
    let channels = link_energy(LinkKind::Channel);
    let links = link_energy(LinkKind::Controller) + link_energy(LinkKind::Mesh) + link_energy(LinkKind::Chip);

    let always_w = |parts: u32, power: Wattage| f64::from(parts) * power.as_watts();
    let routers_w = always_w(layout.routers, (info.router_power)(power));
    let controllers_w = always_w(layout.controllers, power.controller_power);
    let end_s = end.as_secs_f64();
    let (routers, controllers) = (routers_w * end_s, controllers_w * end_s);
    let total = read + program + erase + channels + links + routers + controllers;

    let mean = |energy: f64, seconds: f64| if seconds > 0.0 { energy / seconds } else { 0.0 };
    // A transfer between a controller and a chip crosses exactly one controller link, so the busy time of controller links is the time of all such
    // transfers. Chip-to-chip transfers of NoSSD cross none: their energy counts, but not their time.
    let at_controllers = LinkKind::ALL.into_iter().filter(|kind| kind.leads_to_controller());
    let transfers_s: f64 = at_controllers.map(|kind| moving_s[kind.index()]).sum();
    let nominal_w = f64::from(dies) * mean(read + program + erase, array_s)
        + f64::from(layout.controllers) * mean(channels + links, transfers_s)
        + routers_w
        + controllers_w;
    PowerReport {
        energy_j: Energy { total, read, program, erase, channels, links, routers, controllers },
        average_w: (end > Time::ZERO).then(|| total / end_s),
        nominal_w,
        nominal_energy_j: nominal_w * end_s,
        constants: constants(power),
    }
}

fn constants(power: &config::Power) -> Vec<Constant> {
    let standard = config::Power::default();
    let of = |name, get: fn(&config::Power) -> Wattage, source| {
        let source = if get(power) == get(&standard) { source } else { "configuration" };
        Constant { name, value: get(power).as_watts(), unit: "W", source }
    };
    const DATA_SHEET: &str = "25 mA at 3.3 V, as NAND data sheets state it [choice]";
    vec![
        of("die reading", |power| power.read_current * power.supply_voltage, DATA_SHEET),
        of("die programming", |power| power.program_current * power.supply_voltage, DATA_SHEET),
        of("die erasing", |power| power.erase_current * power.supply_voltage, DATA_SHEET),
        of(
            "shared channel of 8 wires and 8 chips, moving",
            |power| power.channel_power,
            "Venice, ISCA 2023, section 6.6: a link draws 90 % less",
        ),
        of("link of 8 wires, moving", |power| power.link_power, "Venice, ISCA 2023, Table 4"),
        of("router", |power| power.router_power, "Venice, ISCA 2023, Table 4"),
        of(
            "router with buffers",
            |power| power.buffered_router_power,
            "Venice, ISCA 2023, section 6.4: about 1 % more for the drive [choice]",
        ),
        of("flash controller", |power| power.controller_power, "no paper states one [choice]"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::layout::Link;
    use crate::fabric::{bus, nossd, venice};

    fn links(kinds: &[LinkKind]) -> Vec<Link> {
        kinds.iter().map(|&kind| Link { kind, name: String::new() }).collect()
    }

    fn layout(kinds: &[LinkKind], wires_each: u32, controllers: u32, routers: u32) -> Layout {
        Layout { links: links(kinds), wires: kinds.len() as u32 * wires_each, controllers, routers }
    }

    fn moved(us: &[u64]) -> Vec<LinkUsage> {
        us.iter().map(|&us| LinkUsage { busy: Time::from_us(us), ..LinkUsage::default() }).collect()
    }

    #[track_caller]
    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1e-6), "{found} is not {expected}");
    }

    /// Charges ten reads and a copyback's read (11 x 3 us), two programs and a copyback's program (3 x 100 us) and an erase (1 ms), at 82.5 mW.
    #[test]
    fn operations_draw_their_power_while_the_array_works() {
        let layout = layout(&[LinkKind::Channel; 2], 8, 2, 0);
        let activity = DriveActivity {
            work: ArrayOperationCounts { reads: [11, 0, 0, 0, 0], programs: [3, 0, 0, 0, 0], erases: 1 },
            info: &venice::INFO,
            layout: &layout,
            usage: &moved(&[30, 10]),
            dies: 4,
            end: Time::from_ms(2),
        };
        let PowerReport { energy_j, average_w, nominal_w, nominal_energy_j, .. } =
            report(&Config::default(), &activity);
        assert_near(energy_j.read, 33e-6 * 82.5e-3);
        assert_near(energy_j.program, 300e-6 * 82.5e-3);
        assert_near(energy_j.erase, 1e-3 * 82.5e-3);
        assert_near(energy_j.channels, 40e-6 * 10.8e-3);
        assert_eq!((energy_j.links, energy_j.routers, energy_j.controllers), (0.0, 0.0, 0.0));
        assert_near(energy_j.total, 1333e-6 * 82.5e-3 + 40e-6 * 10.8e-3);
        assert_near(average_w.expect("the run took time"), energy_j.total / 2e-3);
        // Nominal power counts all four dies and both channels as always busy.
        assert_near(nominal_w, 4.0 * 82.5e-3 + 2.0 * 10.8e-3);
        assert_near(nominal_energy_j, nominal_w * 2e-3);
    }

    /// Transfers for 10 us over a controller link, two mesh links and a chip link, at 1.08 mW each.
    #[test]
    fn a_transfer_over_a_mesh_draws_the_power_of_each_link_it_crosses() {
        let kinds = [LinkKind::Controller, LinkKind::Controller, LinkKind::Mesh, LinkKind::Mesh, LinkKind::Chip];
        let layout = layout(&kinds, 8, 2, 4);
        let activity = DriveActivity {
            work: ArrayOperationCounts::default(),
            info: &venice::INFO,
            layout: &layout,
            usage: &moved(&[10, 0, 10, 10, 10]),
            dies: 4,
            end: Time::from_us(100),
        };
        let mut config = Config::default();
        config.power.controller_power = Wattage::from_uw(500);
        let PowerReport { energy_j, nominal_w, constants, .. } = report(&config, &activity);
        assert_near(energy_j.links, 4.0 * 10e-6 * 1.08e-3);
        assert_near(energy_j.routers, 4.0 * 0.241e-3 * 100e-6);
        assert_near(energy_j.controllers, 2.0 * 0.5e-3 * 100e-6);
        assert_near(nominal_w, 2.0 * 4.0 * 1.08e-3 + 4.0 * 0.241e-3 + 2.0 * 0.5e-3);
        let source = |name: &str| constants.iter().find(|constant| constant.name == name).map(|found| found.source);
        assert_eq!(source("router"), Some("Venice, ISCA 2023, Table 4"));
        assert_eq!(source("flash controller"), Some("configuration"));
    }

    /// Checks Venice, ISCA 2023, section 6.4: a drive with NoSSD routers draws about 1 % more than with Venice routers. Its 64 dies (82.5 mW) and 8
    /// channels (10.8 mW) draw 5.37 W.
    #[test]
    fn the_routers_of_nossd_draw_more_than_those_of_venice() {
        let layout = layout(&[LinkKind::Mesh], 8, 8, 64);
        let usage = moved(&[0]);
        let [venice, nossd] = [&venice::INFO, &nossd::INFO].map(|info| {
            let activity = DriveActivity {
                work: ArrayOperationCounts::default(),
                info,
                layout: &layout,
                usage: &usage,
                dies: 64,
                end: Time::from_ms(1),
            };
            report(&Config::default(), &activity).energy_j.routers
        });
        assert_near(venice, 64.0 * 0.241e-6);
        assert_near(nossd, 64.0 * 1.08e-6);
        assert!(((nossd - venice) / 1e-3 / 5.37 - 0.01).abs() < 1e-4);
    }

    #[test]
    fn a_channel_of_twice_as_many_chips_draws_twice_as_much() {
        let layout = layout(&[LinkKind::Channel], 8, 1, 0);
        let usage = moved(&[30]);
        let [short, long] = [8, 16].map(|chips| {
            let activity = DriveActivity {
                work: ArrayOperationCounts::default(),
                info: &bus::INFO,
                layout: &layout,
                usage: &usage,
                dies: 1,
                end: Time::from_us(50),
            };
            let mut config = Config::default();
            config.geometry.chips_per_channel = chips;
            report(&config, &activity).energy_j.channels
        });
        assert_near(short, 30e-6 * 10.8e-3);
        assert_near(long, 2.0 * short);
    }

    #[test]
    fn a_channel_twice_as_wide_draws_twice_as_much() {
        let [narrow, wide] = [8, 16].map(|wires| {
            let layout = layout(&[LinkKind::Channel; 2], wires, 2, 0);
            let usage = moved(&[30, 10]);
            let activity = DriveActivity {
                work: ArrayOperationCounts::default(),
                info: &bus::INFO,
                layout: &layout,
                usage: &usage,
                dies: 1,
                end: Time::from_us(50),
            };
            report(&Config::default(), &activity).energy_j.total
        });
        assert_near(wide, 2.0 * narrow);
    }

    #[test]
    fn a_run_in_which_nothing_happened_took_no_energy() {
        let layout = layout(&[LinkKind::Channel], 8, 1, 0);
        let activity = DriveActivity {
            work: ArrayOperationCounts::default(),
            info: &bus::INFO,
            layout: &layout,
            usage: &moved(&[0]),
            dies: 1,
            end: Time::ZERO,
        };
        let report = report(&Config::default(), &activity);
        assert_eq!((report.energy_j, report.average_w), (Energy::default(), None));
        assert_eq!((report.nominal_w, report.nominal_energy_j), (0.0, 0.0));
    }
}
