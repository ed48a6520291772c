//! Loading of configurations, with checks that involve all parts of a drive.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::conflicts::conflicts;
use crate::config::load::load;
use crate::config::{Config, ConfigError, ConfigErrorKind, Loaded, listed, quoted};
use crate::units::printable_path;

/// Maximum size of a configuration file, in bytes. A longer file was probably named by mistake.
const FILE_SIZE_MAX: u64 = 1 << 20;

impl Config {
    /// Reads a configuration file. `overrides` of the form `section.key=value` take precedence.
    ///
    /// A relative path of a trace, a fitted profile or a Python policy is relative to the folder of the file if the file sets the path, and to the
    /// current folder if an override does.
    ///
    /// # Errors
    /// The reason if the file cannot be read as text; otherwise all errors in the text and the overrides.
    pub fn from_file(path: &Path, overrides: &[String]) -> Result<Config, ConfigError> {
        Config::from_file_with_jobs(path, &[], overrides).map(|loaded| loaded.config)
    }

    /// Like [`Config::from_file`], but also applies the settings `jobs`, which have the form of overrides. `jobs` take precedence over the
    /// file, and `overrides` over both. Streams that `jobs` define count as defined by the file. The result also has notes for the author
    /// of the configuration.
    ///
    /// # Errors
    /// Like [`Config::from_file`].
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
        load(Some((&name, text)), path.parent(), jobs, overrides, conflicts)
    }

    /// Reads a configuration from `text`. Messages call the text `name`. `overrides` take precedence.
    ///
    /// # Errors
    /// All errors in the text and the overrides.
    pub fn from_str(text: &str, name: &str, overrides: &[String]) -> Result<Config, ConfigError> {
        Config::from_str_with_jobs(text, name, &[], overrides).map(|loaded| loaded.config)
    }

    /// Like [`Config::from_str`], but also applies the settings of `jobs`, like [`Config::from_file_with_jobs`].
    ///
    /// # Errors
    /// All errors in the text, the jobs and the overrides.
    pub fn from_str_with_jobs(
        text: &str,
        name: &str,
        jobs: &[String],
        overrides: &[String],
    ) -> Result<Loaded, ConfigError> {
        load(Some((name, text)), None, jobs, overrides, conflicts)
    }

    /// Returns the configuration of a preset, by its current name or a former one.
    ///
    /// # Errors
    /// If no preset has that name.
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

    /// Checks a configuration from any source: the bounds of every key, and conflicts between keys.
    ///
    /// # Errors
    /// All errors found, with the names of their keys.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_with(conflicts)
    }
}
