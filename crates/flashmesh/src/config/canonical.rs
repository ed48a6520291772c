//! The canonical form of a configuration, and its hash.

use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::Config;
use super::stream::PER_STREAM;

impl Config {
    /// The complete configuration as TOML, every key in the order of declaration; keys that are unset are left away.
    ///
    /// Streams have all of their keys, so what stands above them is left away as well.
    ///
    /// Reading it with [`Config::from_str`] gives an equal configuration, whatever the presets of that version are.
    /// (A trace path that is not Unicode is written with replacement characters.)
    pub fn to_toml(&self) -> String {
        self.text_without(&[])
    }

    /// The canonical form without some sections, those of streams included.
    pub(crate) fn text_without(&self, sections: &[&str]) -> String {
        let mut text = String::new();
        for (section, entries) in self.entries() {
            if section.rsplit('.').next().is_some_and(|name| sections.contains(&name)) {
                continue;
            }
            if !self.stream.is_empty() && PER_STREAM.contains(&section.as_str()) {
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

    /// The canonical form as JSON: the tables of [`Config::to_toml`] as objects.
    pub fn to_json(&self) -> String {
        let tables: serde_json::Value = toml::from_str(&self.to_toml()).expect("the canonical form is TOML");
        tables.to_string()
    }

    /// A fingerprint of the configuration: SHA-256 over the canonical form, in hexadecimal.
    ///
    /// A trace or a fitted profile counts by its file name, so the hash does not depend on the folder a run is started from.
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
        let digest = Sha256::digest(portable.to_toml().as_bytes());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
