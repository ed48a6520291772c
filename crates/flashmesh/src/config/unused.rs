//! Finds keys that nothing reads, such as a time scale where the replay mode is not the open one.

use super::error::{ConfigErrorKind, Finding};
use super::load::{Layer, Loader, Setting, parameters};
use super::reference::{ParameterSpec, UsedWith, dotted};
use super::stream::PER_STREAM;
use super::tree::Written;

/// The keys that decide together where requests come from.
const SOURCE: [&str; 4] = ["workload.kind", "workload.trace", "workload.profile", "workload.fitted"];

/// The canonical value of a key; empty when it is unset.
fn value_of(entries: &[Written], section: &str, key: &str) -> String {
    let keys = entries.iter().find(|(name, _)| name == section).map(|(_, keys)| keys.as_slice()).unwrap_or_default();
    keys.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.clone()).unwrap_or_default()
}

impl Loader {
    /// Finds keys that nothing reads.
    ///
    /// A key is not blamed when its layer, or a later one, also says in so many words which setting is in effect: a
    /// file may keep values for several modes, and overrides may switch between them. One above all streams is not
    /// blamed as long as one of them reads it.
    pub(super) fn find_unused(&mut self) {
        let entries = self.config.entries();
        let streams: Vec<String> = self.config.stream.iter().map(|stream| format!("stream.{}", stream.name)).collect();
        let mut found = Vec::new();
        for spec in parameters() {
            let Some(used_with) = spec.used_with else { continue };
            if streams.is_empty() || !PER_STREAM.contains(&spec.section) {
                found.extend(self.unread(spec, used_with, spec.section, &entries));
                continue;
            }
            for stream in &streams {
                found.extend(self.unread(spec, used_with, &dotted(stream, spec.section), &entries));
            }
            let read = |stream: &String| {
                let value = value_of(&entries, &dotted(stream, spec.section), used_with.key);
                used_with.values.contains(&value.as_str())
            };
            if !streams.iter().any(read) {
                found.extend(self.unread(spec, used_with, spec.section, &entries));
            }
        }
        if !streams.is_empty() {
            found.extend(self.hidden(&streams));
        }
        self.findings.extend(found);
    }

    /// What there is to say about `spec` in `section` where its decider has another value.
    fn unread(&self, spec: &ParameterSpec, used_with: UsedWith, section: &str, entries: &[Written]) -> Option<Finding> {
        let setting = self.settings.get(&dotted(section, spec.key))?;
        let decider = dotted(section, used_with.key);
        let says =
            |by: &Setting, from: bool| !by.taken || by.layer > setting.layer || (from && by.layer == setting.layer);
        let own = self.settings.get(&decider).is_some_and(|by| says(by, true));
        // What stands above all streams switches a stream only from a later layer.
        let above = section != spec.section
            && self.settings.get(&dotted(spec.section, used_with.key)).is_some_and(|by| says(by, false));
        let value = value_of(entries, section, used_with.key);
        if used_with.values.contains(&value.as_str()) || own || above || !setting.taken {
            return None;
        }
        let message = format!("{} has no effect: {decider} is {value}", dotted(section, spec.key));
        let help = format!("set {decider} to {}, or leave {} away", used_with.values.join(" or "), spec.key);
        let place = Some(setting.key_place.clone());
        Some(Finding { kind: ConfigErrorKind::Unused, message, help: Some(help), place })
    }

    /// Overrides above all streams of what every stream says itself.
    fn hidden(&self, streams: &[String]) -> Vec<Finding> {
        let mut found = Vec::new();
        for (path, setting) in self.settings.iter().filter(|(_, setting)| setting.layer == Layer::Override) {
            if !PER_STREAM.iter().any(|section| path.split('.').next() == Some(section)) {
                continue;
            }
            let same = if SOURCE.contains(&path.as_str()) { &SOURCE[..] } else { &[path.as_str()][..] };
            let says = |stream: &String| same.iter().any(|path| self.settings.contains_key(&dotted(stream, path)));
            if streams.iter().all(says) {
                let message = format!("{path} has no effect: every stream says it itself");
                let help = format!("set it in a stream: {}.{path}", streams[0]);
                let place = Some(setting.key_place.clone());
                found.push(Finding { kind: ConfigErrorKind::Unused, message, help: Some(help), place });
            }
        }
        found
    }
}
