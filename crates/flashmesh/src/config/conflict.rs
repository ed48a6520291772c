//! Conflicts between settings of a complete configuration.

use super::Config;
use super::error::ConfigErrorKind;

/// A check that finds conflicting settings. Each key of the configuration is already known to be within its bounds.
pub(crate) type ConflictChecks = fn(&Config) -> Vec<ConfigConflict>;

/// A conflict between settings.
pub(crate) struct ConfigConflict {
    pub kind: ConfigErrorKind,
    /// The keys in conflict, as `section.key`, the likeliest cause first.
    pub keys: Vec<String>,
    pub message: String,
    pub help: Option<String>,
}

impl ConfigConflict {
    pub fn new(keys: &[&str], message: String) -> ConfigConflict {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        ConfigConflict { kind: ConfigErrorKind::Conflict, keys, message, help: None }
    }

    pub fn with_help(mut self, help: &str) -> ConfigConflict {
        self.help = Some(help.to_owned());
        self
    }
}
