//! One typed tree of parameters: declared once, read from TOML, with errors that point at the line.
//!
//! ```
//! use flashmesh::config::{Config, FabricKind};
//!
//! let text = r#"
//! preset = "z-nand"
//!
//! [workload]
//! pattern = "zipf"
//! read-share = "70%"
//! "#;
//! let config = Config::from_str(text, "drive.toml", &["fabric.kind=ideal".to_owned()])?;
//! assert_eq!(config.fabric.kind, FabricKind::Ideal);
//! assert_eq!(config.workload.read_share, 0.7);
//!
//! let error = Config::from_str("[geometry]\nchanels = 8", "drive.toml", &[]).unwrap_err();
//! assert!(error.to_string().contains("did you mean `channels`?"));
//! # Ok::<(), flashmesh::config::ConfigError>(())
//! ```
//!
//! A value comes from the last of these that sets it: the defaults (those of the `z-nand` preset), the preset that the
//! file or an override names, the file, what jobs of fio ask, the overrides in their order. Overrides change the streams and the
//! namespaces that file or jobs name; only where the file says nothing but its preset may they name some.
//!
//! `[workload]`, `[replay]` and `[queue]` may be given once more for each of several streams, as `[stream.NAME.workload]`.
//! A stream starts from what these sections say above all streams, whatever layer says it; what the stream says itself
//! goes before it.
//!
//! Adding a parameter is one declaration in its file below `sections/`; adding a choice, such as another interconnect,
//! is one line in its enumeration. The reference page, the schema and the Python types follow from them
//! (`cargo run -p flashmesh --example generate`).

mod bounds;
mod canonical;
mod check;
mod choices;
mod error;
mod form;
mod load;
mod named;
mod namespace;
mod node;
mod overrides;
mod preset;
mod reference;
mod section;
mod sections;
mod stream;
mod suggest;
mod tree;
mod unused;

use std::fs::File;
use std::io::Read;
use std::path::Path;

pub use error::{ConfigError, ConfigErrorKind, Position, Problem};
pub use namespace::{NamespaceConfig, NamespaceError};
pub use preset::Preset;
pub use reference::{Choice, Condition, ParameterSpec, ParameterType, SectionSpec, UsedWith};
pub use sections::*;
pub use stream::StreamConfig;
pub use tree::Config;

/// No configuration is longer; what is, was given by mistake.
const FILE_SIZE_MAX: u64 = 1 << 20;

impl Config {
    /// Reads a configuration file, below `overrides` of the form `section.key=value`.
    ///
    /// A relative `workload.trace` is relative to the folder of the file when it stands in the file, and to the current
    /// folder when it stands in an override.
    ///
    /// # Errors
    /// When the file cannot be read as text, and for everything in it that is wrong.
    pub fn from_file(path: &Path, overrides: &[String]) -> Result<Config, ConfigError> {
        Config::from_file_with_jobs(path, &[], overrides)
    }

    /// The same with the settings of `jobs`, of the form of overrides, between the file and the overrides. Streams that they name
    /// count as named by the file.
    ///
    /// # Errors
    /// As [`Config::from_file`].
    pub fn from_file_with_jobs(path: &Path, jobs: &[String], overrides: &[String]) -> Result<Config, ConfigError> {
        let name = path.display().to_string();
        let unreadable = |reason: &dyn std::fmt::Display| {
            ConfigError::of_file(ConfigErrorKind::Unreadable, format!("{name}: {reason}"))
        };
        let file = File::open(path).map_err(|error| unreadable(&error))?;
        let mut bytes = Vec::new();
        file.take(FILE_SIZE_MAX + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
        if bytes.len() as u64 > FILE_SIZE_MAX {
            return Err(unreadable(&"longer than 1 MiB, which no configuration is"));
        }
        let text = std::str::from_utf8(&bytes).map_err(|error| {
            let before = &bytes[..error.valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            let message = format!("{name}:{line}: not UTF-8 text: is this a configuration?");
            ConfigError::of_file(ConfigErrorKind::NotText, message)
        })?;
        load::load(Some((&name, text)), path.parent(), jobs, overrides)
    }

    /// Reads a configuration from `text`, called `name` in messages, below `overrides`.
    ///
    /// # Errors
    /// For everything that is wrong.
    pub fn from_str(text: &str, name: &str, overrides: &[String]) -> Result<Config, ConfigError> {
        Config::from_str_with_jobs(text, name, &[], overrides)
    }

    /// The same with the settings of `jobs` between the text and the overrides, as in [`Config::from_file_with_jobs`].
    ///
    /// # Errors
    /// For everything that is wrong.
    pub fn from_str_with_jobs(
        text: &str,
        name: &str,
        jobs: &[String],
        overrides: &[String],
    ) -> Result<Config, ConfigError> {
        load::load(Some((name, text)), None, jobs, overrides)
    }

    /// The configuration of a preset.
    ///
    /// # Errors
    /// When there is no preset of that name.
    pub fn from_preset(name: &str) -> Result<Config, ConfigError> {
        match preset::find(name) {
            Some(preset) => load::load(Some((name, preset.text)), None, &[], &[]),
            None => {
                let names: Vec<&str> = preset::PRESETS.iter().map(|preset| preset.name).collect();
                let message =
                    format!("there is no preset {}: there are {}", suggest::quoted(name), suggest::listed(&names));
                Err(ConfigError::of_file(ConfigErrorKind::UnknownPreset, message))
            }
        }
    }

    /// The presets, each with its name, a line about it, and its file.
    pub fn presets() -> &'static [Preset] {
        preset::PRESETS
    }
}
