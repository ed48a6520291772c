//! What checks of a finished configuration find.

use super::Config;
use super::error::ConfigErrorKind;

/// Finds settings that cannot go together; single keys are within their bounds.
pub(crate) type Checks = fn(&Config) -> Vec<Clash>;

/// Settings that cannot go together.
pub(crate) struct Clash {
    pub kind: ConfigErrorKind,
    /// Keys, `section.key`, likeliest culprit first.
    pub keys: Vec<String>,
    pub message: String,
    pub help: Option<String>,
}

impl Clash {
    pub fn new(keys: &[&str], message: String) -> Clash {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Clash { kind: ConfigErrorKind::Conflict, keys, message, help: None }
    }

    pub fn help(mut self, help: &str) -> Clash {
        self.help = Some(help.to_owned());
        self
    }
}
