//! Detection of keys without effect, such as a time scale when the replay mode is not open.

use super::Config;
use super::error::{ConfigErrorKind, UnrenderedProblem};
use super::load::{Layer, Loader, Setting, parameters};
use super::reference::{Condition, ParameterSpec, UsedWith, dotted};
use super::stream::{PER_STREAM, StreamConfig};
use super::tree::Written;

/// The keys that together select the source of requests.
const SOURCE: [&str; 4] = ["workload.kind", "workload.trace", "workload.profile", "workload.fitted"];

/// Returns the value of a key as TOML text; empty if the key is unset or does not exist.
pub(super) fn value_of(entries: &[Written], section: &str, key: &str) -> String {
    let keys = entries.iter().find(|(name, _)| name == section).map(|(_, keys)| keys.as_slice()).unwrap_or_default();
    keys.iter().find(|(name, _)| *name == key).and_then(|(_, value)| value.clone()).unwrap_or_default()
}

/// Returns the condition in `with` on a key of `[policy]`, which selects a Python policy; `None` if `with` has no such condition.
fn policy_of(with: &UsedWith) -> Option<&Condition> {
    with.any_of.iter().find(|condition| condition.section == "policy")
}

/// The scope in which a key is evaluated: the top level, or the named stream.
#[derive(Clone, Copy)]
struct KeyScope<'a> {
    entries: &'a [Written],
    stream: Option<&'a str>,
}

impl KeyScope<'_> {
    fn section(self, section: &str) -> String {
        match self.stream.filter(|_| StreamConfig::has_section(section)) {
            Some(stream) => dotted(stream, section),
            None => section.to_owned(),
        }
    }

    fn path(self, condition: &Condition) -> String {
        dotted(&self.section(condition.section), condition.key)
    }

    fn value(self, condition: &Condition) -> String {
        value_of(self.entries, &self.section(condition.section), condition.key)
    }

    fn holds(self, with: &UsedWith) -> bool {
        with.any_of.iter().any(|condition| condition.holds(&self.value(condition)))
    }

    fn actual_values(self, with: &UsedWith) -> String {
        let each = with.any_of.iter().map(|condition| match self.value(condition) {
            value if value.is_empty() => format!("{} is not set", self.path(condition)),
            value => format!("{} is {value}", self.path(condition)),
        });
        each.collect::<Vec<_>>().join(" and ")
    }

    /// Returns the remedy, such as `set replay.mode to "open"`.
    fn remedy(self, with: &UsedWith) -> String {
        if let Some(policy) = policy_of(with) {
            return format!("leave {} away", policy.path());
        }
        let each = with.any_of.iter().map(|condition| match condition.is {
            true => format!("set {} to {}", self.path(condition), condition.values.join(" or ")),
            false => format!("set {}", self.path(condition)),
        });
        each.collect::<Vec<_>>().join(", or ")
    }
}

impl Config {
    /// Returns the reason why the key `path`, such as `venice.routing`, has no effect: the current value of the other key that its condition tests.
    /// `None` if the key has an effect or does not exist. Loading is more tolerant: it accepts a key without effect if the same text selects another
    /// mode.
    pub fn why_ineffective(&self, path: &str) -> Option<String> {
        let stream = self.stream.iter().map(|stream| format!("stream.{}", stream.name));
        let stream = stream.into_iter().find(|stream| path.starts_with(&format!("{stream}.")));
        let own = stream.as_ref().map_or(path, |stream| &path[stream.len() + 1..]);
        let (section, key) = own.rsplit_once('.').unwrap_or(("", own));
        let spec = parameters().find(|spec| spec.section == section && spec.key == key)?;
        let entries = self.entries();
        let streams: Vec<String> = match stream {
            Some(stream) => vec![stream],
            None if StreamConfig::has_section(section) => {
                self.stream.iter().map(|each| format!("stream.{}", each.name)).collect()
            }
            None => Vec::new(),
        };
        let above = KeyScope { entries: &entries, stream: None };
        let scopes: Vec<KeyScope<'_>> = match streams.as_slice() {
            [] => vec![above],
            names => names.iter().map(|name| KeyScope { stream: Some(name), ..above }).collect(),
        };
        let reason = |scope: &KeyScope<'_>| {
            spec.used_with.iter().find(|with| !scope.holds(with)).map(|with| scope.actual_values(with))
        };
        let reasons: Option<Vec<String>> = scopes.iter().map(reason).collect();
        reasons?.into_iter().next()
    }
}

impl Loader {
    /// Reports keys without effect.
    ///
    /// A key is not reported if its layer (preset, file, fio jobs or overrides), or a later one, explicitly sets the key on which its
    /// effect depends: a file may contain values for several modes, and overrides may switch between them. A top-level key is not reported
    /// if it has an effect in at least one stream. Keys of a preset are never reported. A Python policy does not count as a mode: keys of
    /// the replaced built-in policy in the same file are reported.
    ///
    /// A key of a file for a mode that this file does not select gets a note, unless a later layer selects the mode.
    pub(super) fn report_ineffective(&mut self) {
        let entries = self.config.entries();
        let streams: Vec<String> = self.config.stream.iter().map(|stream| format!("stream.{}", stream.name)).collect();
        let above = KeyScope { entries: &entries, stream: None };
        let scopes: Vec<KeyScope<'_>> =
            streams.iter().map(|stream| KeyScope { stream: Some(stream.as_str()), ..above }).collect();
        let (mut found, mut notes) = (Vec::new(), Vec::new());
        for spec in parameters() {
            let mut first = |find: &mut dyn FnMut(&UsedWith) -> Option<UnrenderedProblem>| {
                found.extend(spec.used_with.iter().find_map(find));
            };
            if streams.is_empty() || !StreamConfig::has_section(spec.section) {
                first(&mut |with| self.ineffective_in_scope(spec, with, above, &mut notes));
                continue;
            }
            for &scope in &scopes {
                first(&mut |with| self.ineffective_in_scope(spec, with, scope, &mut notes));
            }
            first(&mut |with| self.ineffective_in_all(spec, with, above, &scopes));
        }
        if !streams.is_empty() {
            found.extend(self.shadowed_overrides(&streams));
        }
        self.findings.extend(found);
        self.unused.extend(notes);
    }

    /// Returns whether `setting`, which has no effect, deserves a note: a file sets a value other than the default, and no later layer selects the
    /// mode in which the key has an effect. A file in the canonical form sets every key, so that its settings deserve none.
    fn deserves_note(&self, spec: &ParameterSpec, with: &UsedWith, scope: KeyScope<'_>, setting: &Setting) -> bool {
        let is_later = |path: &str| self.settings.get(path).is_some_and(|by| by.layer > setting.layer);
        let is_selected_later = |condition: &Condition| {
            let (own, above) = (scope.path(condition), condition.path());
            // A trace or a profile that a later layer sets implies `workload.kind`.
            let is_implied = above == SOURCE[0] && SOURCE.iter().any(|source| is_later(source));
            is_later(&own) || is_later(&above) || is_implied
        };
        let value = value_of(scope.entries, &scope.section(spec.section), spec.key);
        setting.layer == Layer::File
            && spec.default_text.as_ref().is_none_or(|default| *default != value)
            && !self.sets_every_key(Layer::File)
            && !with.any_of.iter().any(is_selected_later)
    }

    /// Returns the setting of a key in the file, the fio jobs or the overrides; `None` if none of them sets the key, or if the value is invalid.
    fn user_setting(&self, section: &str, key: &str) -> Option<&Setting> {
        self.settings.get(&dotted(section, key)).filter(|setting| setting.is_valid && setting.layer > Layer::Preset)
    }

    fn ineffective_in_scope(
        &self,
        spec: &ParameterSpec,
        with: &UsedWith,
        scope: KeyScope<'_>,
        notes: &mut Vec<String>,
    ) -> Option<UnrenderedProblem> {
        let section = scope.section(spec.section);
        let setting = self.user_setting(&section, spec.key)?;
        if scope.holds(with) {
            return None;
        }
        let message = format!("{} has no effect: {}", dotted(&section, spec.key), scope.actual_values(with));
        if self.is_condition_set(with, scope, setting, false) {
            if self.deserves_note(spec, with, scope, setting) {
                notes.push(message);
            }
            return None;
        }
        Some(unused(setting, message, format!("{}, or leave {} away", scope.remedy(with), spec.key)))
    }

    /// Returns the finding for a top-level key that has no effect in any stream; `None` if the key has an effect, or is not set by the user.
    fn ineffective_in_all(
        &self,
        spec: &ParameterSpec,
        with: &UsedWith,
        above: KeyScope<'_>,
        streams: &[KeyScope<'_>],
    ) -> Option<UnrenderedProblem> {
        let setting = self.user_setting(spec.section, spec.key)?;
        if streams.iter().any(|scope| scope.holds(with))
            || streams.iter().all(|&scope| self.is_condition_set(with, scope, setting, true))
        {
            return None;
        }
        let (path, key) = (dotted(spec.section, spec.key), spec.key);
        if with.any_of.iter().all(|condition| !StreamConfig::has_section(condition.section)) || !above.holds(with) {
            let message = format!("{path} has no effect: {}", above.actual_values(with));
            return Some(unused(setting, message, format!("{}, or leave {key} away", above.remedy(with))));
        }
        let message = format!("{path} has no effect in any stream: {}", streams[0].actual_values(with));
        Some(unused(setting, message, format!("{}, or leave {key} away", streams[0].remedy(with))))
    }

    /// Returns whether the user deliberately set the key on which `setting` depends (the condition key), in the layer of `setting` (preset, file, fio
    /// jobs or overrides) or a later one. In a stream, the top-level setting of the condition key also counts if its layer is later, or with
    /// `stands_above` (if `setting` is itself at the top level) if its layer is the same.
    fn is_condition_set(&self, with: &UsedWith, scope: KeyScope<'_>, setting: &Setting, stands_above: bool) -> bool {
        if let Some(policy) = policy_of(with) {
            // Every run of a comparison has its own overrides. The code that knows all runs checks whether a key has an effect in any run.
            let is_override = setting.layer == Layer::Override;
            return self.is_set(policy, policy.section, scope, setting, is_override)
                || self.sets_every_key(setting.layer);
        }
        with.any_of.iter().any(|condition| {
            let own = scope.section(condition.section);
            self.is_set(condition, &own, scope, setting, true)
                || (own != condition.section && self.is_set(condition, condition.section, scope, setting, stands_above))
        })
    }

    /// Returns whether every key is set in `layer` (preset, file, fio jobs or overrides) or a later layer, as in the canonical form, which must load
    /// without an error.
    fn sets_every_key(&self, layer: Layer) -> bool {
        let above = |spec: &&ParameterSpec| !StreamConfig::has_section(spec.section) && !spec.section.contains("NAME");
        let is_said = |spec: &ParameterSpec| self.settings.get(&spec.path()).is_some_and(|by| by.layer >= layer);
        parameters().filter(|spec| spec.default_text.is_some()).filter(above).all(is_said)
    }

    fn is_set(&self, condition: &Condition, section: &str, scope: KeyScope<'_>, setting: &Setting, same: bool) -> bool {
        let said = |key: &str, same: bool| {
            let by = self.settings.get(&dotted(section, key));
            by.is_some_and(|by| !by.is_valid || by.layer > setting.layer || (same && by.layer == setting.layer))
        };
        if said(condition.key, same) {
            return true;
        }
        // A source of requests that a later layer (file, fio jobs or overrides) sets, such as a trace, implies `workload.kind`.
        let path = dotted(condition.section, condition.key);
        if path == SOURCE[0] {
            let keys = SOURCE.iter().filter_map(|path| path.split_once('.'));
            return keys.skip(1).any(|(_, key)| said(key, false));
        }
        // A text that sets all other keys of the section, like the canonical form, leaves this key unset on purpose.
        let others = || parameters().filter(|spec| spec.section == condition.section && spec.default_text.is_some());
        scope.value(condition).is_empty() && others().all(|spec| said(spec.key, same))
    }

    fn shadowed_overrides(&self, streams: &[String]) -> Vec<UnrenderedProblem> {
        let mut found = Vec::new();
        for (path, setting) in self.settings.iter().filter(|(_, setting)| setting.layer == Layer::Override) {
            if !PER_STREAM.iter().any(|section| path.split('.').next() == Some(section)) {
                continue;
            }
            let same = if SOURCE.contains(&path.as_str()) { &SOURCE[..] } else { &[path.as_str()][..] };
            let says = |stream: &String| same.iter().any(|path| self.settings.contains_key(&dotted(stream, path)));
            if streams.iter().all(says) {
                let message = format!("{path} has no effect: every stream says it itself");
                found.push(unused(setting, message, format!("set it in a stream: {}.{path}", streams[0])));
            }
        }
        found
    }
}

fn unused(setting: &Setting, message: String, help: String) -> UnrenderedProblem {
    let place = Some(setting.key_location.clone());
    UnrenderedProblem { kind: ConfigErrorKind::Unused, message, help: Some(help), location: place }
}
