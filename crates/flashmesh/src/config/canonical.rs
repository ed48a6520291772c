//! The canonical form of a configuration (TOML with every key that is set), and its hash.

use std::path::PathBuf;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::Config;
use super::stream::PER_STREAM;
use super::tree::Written;

/// Returns the JSON of a canonical TOML value. Plain texts, numbers and booleans bypass the TOML parser.
fn json_of(value: &str) -> Value {
    if let Some(text) = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
        && !text.contains(['"', '\\'])
    {
        return Value::from(text);
    }
    if let Ok(number) = value.parse::<i64>() {
        return Value::from(number);
    }
    if let Ok(number) = value.parse::<f64>() {
        return Value::from(number);
    }
    if let Ok(is_set) = value.parse::<bool>() {
        return Value::from(is_set);
    }
    let mut table: Map<String, Value> = toml::from_str(&format!("value = {value}")).expect("canonical values are TOML");
    table.remove("value").expect("the table has the key")
}

impl Config {
    /// Returns the complete configuration as TOML: every key that is set, in the order of declaration.
    ///
    /// If there are streams, the top-level defaults of streams are omitted, because every stream states all of its keys.
    ///
    /// [`Config::from_str`] parses the text into an equal configuration, even if presets have changed since. (In a trace path that is not Unicode,
    /// invalid characters are replaced.)
    pub fn to_toml(&self) -> String {
        self.text_without(&[])
    }

    /// Returns the canonical form (TOML with every key that is set) without the sections named in `sections`, at the top level and in streams.
    pub(crate) fn text_without(&self, sections: &[&str]) -> String {
        let mut text = String::new();
        for (section, entries) in self.canonical_sections() {
            if section.rsplit('.').next().is_some_and(|name| sections.contains(&name)) {
                continue;
            }
            if !section.is_empty() {
                text.push_str(&format!("\n[{section}]\n"));
            }
            for (key, value) in entries {
                if let Some(value) = value {
                    text.push_str(&format!("{key} = {value}\n"));
                }
            }
        }
        text
    }

    /// Returns the complete configuration as JSON: the tables of [`Config::to_toml`] as objects.
    pub fn to_json(&self) -> String {
        let mut tables = Map::new();
        for (section, entries) in self.canonical_sections() {
            let mut table = &mut tables;
            for name in section.split('.').filter(|name| !name.is_empty()) {
                let inner = table.entry(name).or_insert_with(|| Value::Object(Map::new()));
                table = inner.as_object_mut().expect("no section has the name of a key");
            }
            table.extend(entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), json_of(&value?)))));
        }
        Value::Object(tables).to_string()
    }

    /// Returns the sections of the canonical form. Omits the top-level defaults of streams if there are streams, and `[policy]` if no policy is set.
    fn canonical_sections(&self) -> impl Iterator<Item = Written> {
        let is_read = |section: &str| self.stream.is_empty() || !PER_STREAM.contains(&section);
        let policies = |section: &str, keys: &[(&str, Option<String>)]| {
            section != "policy" || keys.iter().any(|(_, value)| value.is_some())
        };
        self.entries().into_iter().filter(move |(section, keys)| is_read(section) && policies(section, keys))
    }

    /// Returns the first key, in the order of declaration, whose values in `self` and `other` differ, with both values (`None` for an unset key).
    /// Returns `None` if the configurations are equal.
    pub(crate) fn first_difference(&self, other: &Config) -> Option<(String, [Option<String>; 2])> {
        let listed = |config: &Config| -> Vec<(String, Option<String>)> {
            let dotted = |section: &str, key: &str| {
                if section.is_empty() { key.to_owned() } else { format!("{section}.{key}") }
            };
            let keys = |(section, entries): Written| {
                entries.into_iter().map(move |(key, value)| (dotted(&section, key), value)).collect::<Vec<_>>()
            };
            config.canonical_sections().flat_map(keys).filter(|(_, value)| value.is_some()).collect()
        };
        let (own, theirs) = (listed(self), listed(other));
        let of = |values: &[(String, Option<String>)], key: &str| {
            values.iter().find(|(name, _)| name == key).and_then(|(_, value)| value.clone())
        };
        own.iter().chain(&theirs).find_map(|(key, _)| {
            let values = [of(&own, key), of(&theirs, key)];
            (values[0] != values[1]).then(|| (key.clone(), values))
        })
    }

    /// Returns a fingerprint of the configuration: the SHA-256 of the canonical form ([`Config::to_toml`]), in hexadecimal.
    ///
    /// Paths of traces, fitted profiles and policies count only by file name, so the hash does not depend on the folder of the run.
    pub fn hash(&self) -> String {
        let mut portable = self.clone();
        let streams = portable.stream.iter_mut().map(|stream| &mut stream.workload);
        for workload in streams.chain([&mut portable.workload]) {
            for path in [&mut workload.trace, &mut workload.fitted].into_iter().flatten() {
                if let Some(name) = path.file_name().map(PathBuf::from) {
                    *path = name;
                }
            }
        }
        portable.policy.strip_folders();
        let digest = Sha256::digest(portable.to_toml().as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_difference_is_that_of_the_first_key_that_either_sets_otherwise() {
        let read = |text| Config::from_str(text, "test", &[]).expect("the configuration is valid");
        let plain = read("");
        assert_eq!(plain.first_difference(&plain), None);
        let other = read("seed = 5\n[fabric]\nkind = \"ideal\"\n");
        let (key, values) = plain.first_difference(&other).expect("the configurations differ");
        assert_eq!((key.as_str(), values[1].as_deref()), ("seed", Some("5")));
        let cut = read("[power]\ncut = \"200us\"\n");
        let one_way = plain.first_difference(&cut).expect("the configurations differ");
        assert_eq!(one_way, ("power.cut".to_owned(), [None, Some("\"200us\"".to_owned())]));
        assert_eq!(cut.first_difference(&plain).expect("the configurations differ").0, one_way.0);
    }

    #[test]
    fn json_is_what_a_parser_makes_of_the_toml() {
        let text = "[workload]\ntrace = \"a \\\"b\\\" \\\\ é.csv\"\nformat = \"msr\"\n\
                    [stream.one.replay]\nmode = \"stress\"\noutstanding = 5\n\
                    [stream.two.replay]\nmode = \"stress\"\noutstanding = 7\n";
        let with_streams = Config::from_str(text, "test", &[]);
        let presets = Config::presets().iter().map(|preset| {
            Config::from_str(&format!("preset = \"{}\"\n", preset.name), "test", &[]).expect("presets are valid")
        });
        let configs = presets.chain([Config::default(), with_streams.expect("the configuration is valid")]);
        for config in configs {
            let parsed: Value = toml::from_str(&config.to_toml()).expect("the canonical form is TOML");
            assert_eq!(config.to_json(), parsed.to_string());
        }
    }
}
