//! Static description of a kind of interconnect.

use crate::config::{self, Config, PageMove};
use crate::flash::geometry::Geometry;
use crate::units::{Time, Wattage};

use super::registry::KINDS;
use super::{AnyFabric, FabricError};

/// Properties of a kind of interconnect (bus, pSSD, ...), known before an interconnect is built.
///
/// Code outside the folder of a kind distinguishes kinds only by these properties, except for the oracles (independent checks of a run), which have a
/// separate [table](crate::check::expected_fabrics). There are no defaults.
#[derive(Clone, Debug)]
pub struct FabricInfo {
    /// Value of `fabric.kind` that selects this kind.
    pub name: &'static str,
    /// Explanation of the interconnect in a few sentences, for recordings of a run.
    pub caption: &'static str,
    /// Names of the configuration sections, such as `packets`, that this kind reads and some other kind does not.
    pub sections: &'static [&'static str],
    /// Keys of `[fabric]` that affect this kind, besides `kind` and `hold-path`.
    pub used_keys: &'static [&'static str],
    /// Keys of `[fabric]` that are accepted without effect on this kind, so that one configuration can serve several kinds. Other keys that are not
    /// in `used_keys` are rejected if set.
    pub accepted_unused_keys: &'static [&'static str],
    /// Values of `gc.move`, the ways in which GC moves pages, that this kind supports.
    pub moves: &'static [PageMove],
    /// Constructor of the interconnect for `fabric.hold-path`, under which paths are kept for whole transactions; `None` if this kind does
    /// not support it.
    pub build_held: Option<Build>,
    /// Whether each die has its own controller (on-die controller), which takes time to decode and frame packets.
    pub die_controllers: bool,
    /// Location of the routers, if there are any.
    pub routers: RouterPlacement,
    /// Function that selects the power of one router from `[power]`; without effect for a kind without routers.
    pub router_power: fn(&config::Power) -> Wattage,
    /// Check of the whole configuration against requirements of this kind; an error names the keys to change.
    pub check: fn(&Config) -> Result<(), FabricError>,
    /// Constructor of an interconnect of this kind, without `fabric.hold-path`.
    pub build: Build,
}

/// A constructor of interconnects. The configuration must have passed [`check`]. An error means that the network cannot be built, for example because
/// it is too large.
pub type Build = fn(&Config, &Geometry) -> Result<AnyFabric, FabricError>;

/// Location of the routers of an interconnect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouterPlacement {
    /// No routers in the interconnect.
    None,
    /// Routers on the board, next to the chips.
    Beside,
    /// Routers inside the chips.
    Inside,
}

impl FabricInfo {
    /// Returns the time of the on-die controller to decode or frame a packet, which adds to the array time; zero without on-die controllers.
    pub fn on_die_controller_time(&self, config: &Config) -> Time {
        if self.die_controllers { config.packets.on_die_controller_time } else { Time::ZERO }
    }

    /// Returns whether this kind arbitrates path requests by `fabric.arbitration`.
    pub fn supports_arbitration(&self) -> bool {
        self.used_keys.contains(&"fabric.arbitration")
    }
}

/// Returns the names of the kinds that match `is_one`, as in "bus, pssd or ideal"; empty if none matches.
fn kinds_where(is_one: impl Fn(&FabricInfo) -> bool) -> String {
    let names: Vec<&str> = KINDS.iter().filter(|info| is_one(info)).map(|info| info.name).collect();
    match names.as_slice() {
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
        [] => String::new(),
    }
}

/// Checks an interconnect of kind `info` against the rest of `config`.
///
/// # Errors
/// If the kind does not support a setting of the configuration. The error has the reason and the keys to change.
pub fn check(info: &FabricInfo, config: &Config) -> Result<(), FabricError> {
    check_keys(info, config)?;
    let r#move = config.gc.r#move;
    if !info.moves.contains(&r#move) {
        let able = kinds_where(|info| info.moves.contains(&r#move));
        return Err(FabricError {
            keys: vec!["gc.move", "fabric.kind"],
            message: format!("gc.move = `{move}` needs fabric.kind = {able}, found {}", info.name),
            help: "choose such a kind, or gc.move = \"through-controller\"".to_owned(),
        });
    }
    if config.fabric.hold_path != config::HoldPath::Never {
        check_held(info, config)?;
    }
    (info.check)(config)
}

/// Checks that each key of `[fabric]` with a value other than its default affects this kind, or is accepted without effect.
fn check_keys(info: &FabricInfo, config: &Config) -> Result<(), FabricError> {
    let standard = config::Fabric::default();
    // The pattern has no `..`: a new key does not compile until it is classified here.
    let config::Fabric {
        kind: _,
        hold_path: _,
        // These three keys have an effect only with `channel_load`, so checking that key is enough.
        driver_resistance_ohm: _,
        chip_capacitance_ff: _,
        controller_capacitance_ff: _,
        channel_rate,
        channel_load,
        arbitration,
    } = &config.fabric;
    let keys = [
        ("fabric.channel-rate", *channel_rate != standard.channel_rate),
        ("fabric.channel-load", *channel_load != standard.channel_load),
        ("fabric.arbitration", *arbitration != standard.arbitration),
    ];
    for (key, is_set) in keys {
        if is_set && !info.used_keys.contains(&key) && !info.accepted_unused_keys.contains(&key) {
            let able = kinds_where(|info| info.used_keys.contains(&key));
            return Err(FabricError {
                keys: vec![key, "fabric.kind"],
                message: format!("{key} does not act on fabric.kind = {}", info.name),
                help: format!("leave it away, or choose fabric.kind = {able}"),
            });
        }
    }
    Ok(())
}

/// Checks that `fabric.hold-path`, which is set, fits the kind and the rest of the configuration.
fn check_held(info: &FabricInfo, config: &Config) -> Result<(), FabricError> {
    if info.build_held.is_none() {
        let able = kinds_where(|info| info.build_held.is_some());
        return Err(FabricError {
            keys: vec!["fabric.hold-path", "fabric.kind"],
            message: format!("fabric.hold-path goes with fabric.kind = {able}, found {}", info.name),
            help: "choose such a kind, or set fabric.hold-path to false".to_owned(),
        });
    }
    if config.fabric.hold_path.holds_programs() && config.suspension() != config::Suspension::Off {
        let key = if config.ftl.policy == config::FirmwarePolicy::Mbm { "mbm.suspension" } else { "flash.suspension" };
        return Err(FabricError {
            keys: vec!["fabric.hold-path", key],
            message: format!(
                "fabric.hold-path = {} holds the path for as long as the array works, and {key} = {} needs it for the read that suspends the array",
                config.fabric.hold_path,
                config.suspension()
            ),
            help: format!("set {key} = \"off\", or fabric.hold-path = false or \"reads\""),
        });
    }
    if config.fabric.arbitration == config::Arbitration::DataFirstTogether {
        return Err(FabricError {
            keys: vec!["fabric.arbitration", "fabric.hold-path"],
            message: format!(
                "fabric.arbitration = data-first-together gives a granted channel to another die, and fabric.hold-path = {} holds it",
                config.fabric.hold_path
            ),
            help: "set fabric.arbitration to \"data-first-round-robin\", or fabric.hold-path to false".to_owned(),
        });
    }
    if config.gc.r#move.crosses_chips() {
        return Err(FabricError {
            keys: vec!["fabric.hold-path", "gc.move"],
            message: format!(
                "fabric.hold-path holds the path to a chip for its controller, and gc.move = {} needs one to another chip",
                config.gc.r#move
            ),
            help: "set gc.move to \"through-controller\", or fabric.hold-path to false".to_owned(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::info_of;
    use super::*;
    use crate::config::FabricKind;

    #[test]
    fn sections_that_go_with_kinds_go_with_those_that_say_so() {
        let mut conditional = 0;
        for section in Config::sections() {
            let mut conditions = section.used_with.iter().flat_map(|with| &with.any_of);
            let Some(condition) = conditions.find(|of| (of.section, of.key) == ("fabric", "kind")) else {
                continue;
            };
            conditional += 1;
            for &kind in FabricKind::ALL {
                let is_read = condition.holds(&format!("\"{kind}\""));
                assert_eq!(info_of(kind).sections.contains(&section.name), is_read, "{kind} and [{}]", section.name);
            }
        }
        let named: std::collections::BTreeSet<_> = KINDS.iter().flat_map(|info| info.sections).collect();
        assert_eq!(conditional, named.len(), "a kind names a section that goes with any kind");
    }

    #[test]
    fn every_kind_says_of_every_key_of_fabric_whether_it_acts() {
        let section =
            Config::sections().iter().find(|section| section.name == "fabric").expect("the section is declared");
        for info in KINDS {
            for parameter in &section.parameters {
                let key = format!("fabric.{}", parameter.key);
                let named = info.used_keys.iter().chain(info.accepted_unused_keys).filter(|of| **of == key).count();
                let is_of_all = ["fabric.kind", "fabric.hold-path"].contains(&key.as_str());
                // The keys of the electrical load (ohm and fF) have an effect only with `channel-load`, which pnSSD and ideal reject because they do
                // not model the load. So skip these keys.
                let is_of_load = key.ends_with("-ohm") || key.ends_with("-ff");
                let is_refused = key == "fabric.channel-load" && ["pnssd", "ideal"].contains(&info.name);
                assert_eq!(named, usize::from(!is_of_all && !is_of_load && !is_refused), "{}: {key}", info.name);
            }
        }
    }
}
