//! Selection of the smallest compiled variant of the simulation (instance) that supports a configuration.

use super::ineffective_keys::value_of;
use super::load::parameters;
use super::reference::{Condition, ParameterSpec, UsedWith, dotted};
use super::tree::Written;
use super::{Config, Instance};

impl Config {
    /// Returns the keys (as `section.key`) whose values the plain instance (smallest compiled variant of the simulation) does not support,
    /// each with the smallest instance that its value needs. Keys with their default, and keys without effect, are left out.
    pub fn required_instances(&self) -> Vec<(String, Instance)> {
        let entries = self.entries();
        let wanting = parameters().filter(|spec| spec.needs.instance > Instance::Plain);
        let of_section = |spec: &'static ParameterSpec| {
            let sections = entries.iter().filter(move |(section, _)| is_section(section, spec));
            sections.map(move |(section, _)| (section.as_str(), spec))
        };
        let needing = wanting.flat_map(of_section).filter(|(section, spec)| requires_instance(&entries, section, spec));
        needing.map(|(section, spec)| (dotted(section, spec.key), spec.needs.instance)).collect()
    }
}

/// Returns whether `section`, as written in a configuration, is the section of a parameter: literally, as a section of a stream, or as a
/// named table.
fn is_section(section: &str, spec: &ParameterSpec) -> bool {
    let table = spec.section.strip_suffix("NAME");
    section == spec.section
        || section
            .strip_prefix("stream.")
            .is_some_and(|rest| rest.rsplit_once('.').is_some_and(|(_, own)| own == spec.section))
        || table.is_some_and(|table| section.starts_with(table))
}

/// Returns whether the value of a parameter in `section` needs the instance (compiled variant of the simulation) in `spec.needs`.
fn requires_instance(entries: &[Written], section: &str, spec: &ParameterSpec) -> bool {
    let value = |condition: &Condition| {
        let section = if condition.section == spec.section { section } else { condition.section };
        value_of(entries, section, condition.key)
    };
    let holds = |with: &UsedWith| with.any_of.iter().any(|condition| condition.holds(&value(condition)));
    value_of(entries, section, spec.key) != spec.default_text.clone().unwrap_or_default()
        && spec.used_with.iter().all(holds)
        && spec.needs.only_where.as_ref().is_none_or(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(text: &str) -> Vec<(String, Instance)> {
        Config::from_str(text, "test", &[]).unwrap_or_else(|error| panic!("{error}")).required_instances()
    }

    #[test]
    fn defaults_and_keys_that_the_plain_instance_serves_need_nothing() {
        assert_eq!(needs(""), []);
        assert_eq!(needs("gc.move = \"through-controller\"\nhost.interface = \"nvme\"\nftl.allocation = \"PDWC\""), []);
    }

    #[test]
    fn keys_name_the_instance_that_they_need() {
        let text = "gc.move = \"chip-to-chip\"\nfabric.kind = \"pnssd\"\nmeasure.chip-states = true";
        let expected = [("gc.move", Instance::Any), ("measure.chip-states", Instance::Probed)];
        assert_eq!(needs(text), expected.map(|(key, instance)| (key.to_owned(), instance)));
    }

    #[test]
    fn only_some_values_of_a_key_need_more() {
        assert_eq!(needs("ftl.allocation = \"dynamic\""), [("ftl.allocation".to_owned(), Instance::Any)]);
    }

    #[test]
    fn another_key_decides_whether_a_key_needs_more() {
        let text = |dies| format!("flash.die-interleaving = false\ngeometry.dies-per-chip = {dies}");
        assert_eq!(needs(&text(1)), []);
        assert_eq!(needs(&text(2)), [("flash.die-interleaving".to_owned(), Instance::Any)]);
    }

    #[test]
    fn a_key_that_nothing_reads_needs_nothing() {
        let mut config = Config::default();
        config.mbm.ws = false;
        assert_eq!(config.required_instances(), []);
        config.ftl.policy = crate::config::FirmwarePolicy::Mbm;
        let keys: Vec<String> = config.required_instances().into_iter().map(|(key, _)| key).collect();
        assert_eq!(keys, ["ftl.policy", "mbm.ws"]);
    }
}
