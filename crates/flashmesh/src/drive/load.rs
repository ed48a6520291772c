//! Reads configurations, and checks them against all parts of a drive.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::check::clashes;
use crate::config::load::load;
use crate::config::{Config, ConfigError, ConfigErrorKind, Loaded, listed, quoted};
use crate::units::printable_path;

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
        Config::from_file_with_jobs(path, &[], overrides).map(|loaded| loaded.config)
    }

    /// The same with the settings of `jobs`, of the form of overrides, between the file and the overrides. Streams that they name
    /// count as named by the file. What was read comes with notes for whoever wrote it.
    ///
    /// # Errors
    /// As [`Config::from_file`].
    pub fn from_file_with_jobs(path: &Path, jobs: &[String], overrides: &[String]) -> Result<Loaded, ConfigError> {
        let name = printable_path(path);
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
        load(Some((&name, text)), path.parent(), jobs, overrides, clashes)
    }

    /// Reads a configuration from `text`, called `name` in messages, below `overrides`.
    ///
    /// # Errors
    /// For everything that is wrong.
    pub fn from_str(text: &str, name: &str, overrides: &[String]) -> Result<Config, ConfigError> {
        Config::from_str_with_jobs(text, name, &[], overrides).map(|loaded| loaded.config)
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
    ) -> Result<Loaded, ConfigError> {
        load(Some((name, text)), None, jobs, overrides, clashes)
    }

    /// The configuration of a preset, by its name or one that it had before.
    ///
    /// # Errors
    /// When there is no preset of that name.
    pub fn from_preset(name: &str) -> Result<Config, ConfigError> {
        match Config::preset(name) {
            Some(_) => Config::from_str(&format!("preset = \"{name}\""), name, &[]),
            None => {
                let names: Vec<&str> = Config::presets().iter().map(|preset| preset.name).collect();
                let message = format!("there is no preset {}: there are {}", quoted(name), listed(&names));
                Err(ConfigError::of_file(ConfigErrorKind::UnknownPreset, message))
            }
        }
    }

    /// Checks a configuration, however it was put together: the bounds of every key, and what takes several keys.
    ///
    /// # Errors
    /// Everything that is wrong, with the names of the keys.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_with(clashes)
    }
}
