//! What checks of a finished configuration find.

use super::Config;
use super::error::ConfigErrorKind;

/// Finds everything in a configuration that cannot go together; the bounds of single keys hold already.
pub(crate) type Checks = fn(&Config) -> Vec<Clash>;

/// Settings that cannot go together.
pub(crate) struct Clash {
    /// What is wrong.
    pub kind: ConfigErrorKind,
    /// The keys to look at, `section.key`, the likeliest culprit first.
    pub keys: Vec<String>,
    /// What cannot go together.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Clash {
    /// A conflict of `keys`.
    pub fn new(keys: &[&str], message: String) -> Clash {
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Clash { kind: ConfigErrorKind::Conflict, keys, message, help: None }
    }

    /// The same with what to do about it.
    pub fn help(mut self, help: &str) -> Clash {
        self.help = Some(help.to_owned());
        self
    }
}
