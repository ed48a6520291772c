//! Puts a configuration together: defaults, then the preset, then the file, then the overrides.

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::DeTable;

use super::check;
use super::error::{ConfigError, ConfigErrorKind, Finding, Source};
use super::form::Misfit;
use super::node::{Entry, Place, Value, entries};
use super::preset::{self, PRESETS};
use super::reference::{ParameterSpec, dotted};
use super::suggest::{listed, nearest, quoted};
use super::{Config, WorkloadKind};

/// Who set a key; a later one wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Preset,
    File,
    Override,
}

/// Where a key got its value.
#[derive(Clone, Debug)]
struct Setting {
    layer: Layer,
    key_place: Place,
    value_place: Place,
    /// Whether the value was taken.
    taken: bool,
}

/// The key that names the preset, beside those of the tree.
const PRESET_KEY: &str = "preset";

#[derive(Default)]
struct Loader {
    sources: Vec<Source>,
    findings: Vec<Finding>,
    config: Config,
    /// By `section.key`.
    settings: BTreeMap<String, Setting>,
}

/// Reads `file` (its name and text) below `overrides`; a trace in it is relative to `folder`.
pub(super) fn load(
    file: Option<(&str, &str)>,
    folder: Option<&Path>,
    overrides: &[String],
) -> Result<Config, ConfigError> {
    let mut loader = Loader::default();
    let file_entries = file.map(|(name, text)| loader.parse(name, text)).unwrap_or_default();
    // The rest of a broken file would only give errors that vanish with the first one.
    if loader.findings.iter().any(|finding| finding.kind == ConfigErrorKind::InvalidToml) {
        return Err(ConfigError::new(&loader.sources, &loader.findings));
    }
    let override_entries: Vec<Entry> =
        overrides.iter().enumerate().filter_map(|(index, text)| loader.parse_override(index, text)).collect();
    loader.apply_preset(&file_entries, &override_entries);
    loader.apply(Layer::File, &file_entries);
    if let (Some(folder), Some(trace)) = (folder, &loader.config.workload.trace) {
        loader.config.workload.trace = Some(folder.join(trace));
    }
    loader.apply(Layer::Override, &override_entries);
    loader.find_unused();
    loader.finish()
}

impl Loader {
    fn find(&mut self, kind: ConfigErrorKind, message: String, help: Option<String>, place: Option<Place>) {
        self.findings.push(Finding { kind, message, help, place });
    }

    fn add_source(&mut self, name: String, text: &str) -> usize {
        self.sources.push(Source { name, text: text.to_owned() });
        self.sources.len() - 1
    }

    fn parse(&mut self, name: &str, text: &str) -> Vec<Entry> {
        let source = self.add_source(name.to_owned(), text);
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let place = error.span().map(|span| Place { source, span });
            if error.message() == "duplicate key" {
                let key = place.as_ref().and_then(|place| text.get(place.span.clone())).unwrap_or_default();
                let message = format!("{} is given twice", quoted(key));
                self.find(ConfigErrorKind::DuplicateKey, message, None, place);
            } else {
                self.find(ConfigErrorKind::InvalidToml, format!("not TOML: {}", error.message()), None, place);
            }
        }
        entries(table.get_ref(), source, 0)
    }

    fn parse_override(&mut self, index: usize, text: &str) -> Option<Entry> {
        let source = self.add_source(format!("--set #{}", index + 1), text);
        match super::overrides::parse(text, source) {
            Ok(entry) => Some(entry),
            Err(finding) => {
                self.findings.push(finding);
                None
            }
        }
    }

    fn apply_preset(&mut self, file: &[Entry], overrides: &[Entry]) {
        let chosen = overrides.iter().rev().chain(file).find(|entry| entry.key == PRESET_KEY);
        let Some(Entry { node, .. }) = chosen else { return };
        let names = PRESETS.iter().map(|preset| preset.name);
        let Value::Text(name) = &node.value else {
            let message = format!("preset: expected a text, found {}", node.value.type_name());
            self.find(ConfigErrorKind::WrongType, message, None, Some(node.place.clone()));
            return;
        };
        match preset::find(name) {
            Some(preset) => {
                let entries = self.parse(&format!("preset {name}"), preset.text);
                self.apply(Layer::Preset, &entries);
            }
            None => {
                let all: Vec<&str> = names.clone().collect();
                let message = format!("there is no preset {}: there are {}", quoted(name), listed(&all));
                let help = nearest(name, names).map(|name| format!("did you mean `{name}`?"));
                self.find(ConfigErrorKind::UnknownPreset, message, help, Some(node.place.clone()));
            }
        }
    }

    fn apply(&mut self, layer: Layer, entries: &[Entry]) {
        let section_names: Vec<&'static str> = Config::sections().iter().map(|section| section.name).collect();
        for entry in entries {
            let is_section = !entry.key.is_empty() && section_names.contains(&entry.key.as_str());
            match &entry.node.value {
                _ if entry.key == PRESET_KEY => {}
                Value::Table(inner) if is_section => {
                    for key in inner {
                        self.apply_key(layer, &entry.key, key);
                    }
                }
                _ if is_section => {
                    let message = format!("[{}] is a section, not {}", entry.key, entry.node.value.type_name());
                    let help =
                        format!("name the key in it: `{}.KEY = ...`, or put it below `[{}]`", entry.key, entry.key);
                    self.find(ConfigErrorKind::WrongType, message, Some(help), Some(entry.key_place.clone()));
                }
                Value::Table(_) if !is_root_key(&entry.key) => self.unknown_section(entry),
                _ => self.apply_key(layer, "", entry),
            }
        }
        self.imply_workload_kind(layer);
    }

    fn apply_key(&mut self, layer: Layer, section: &str, entry: &Entry) {
        match self.config.set(section, &entry.key, &entry.node) {
            None => self.unknown_key(section, entry),
            Some(result) => {
                let (path, taken) = (dotted(section, &entry.key), result.is_ok());
                if let Err(misfit) = result {
                    let finding = misfit_finding(section, &entry.key, misfit, Some(entry.node.place.clone()));
                    self.findings.push(finding);
                }
                let (key_place, value_place) = (entry.key_place.clone(), entry.node.place.clone());
                self.settings.insert(path, Setting { layer, key_place, value_place, taken });
            }
        }
    }

    fn unknown_section(&mut self, entry: &Entry) {
        let names: Vec<&'static str> =
            Config::sections().iter().map(|section| section.name).filter(|name| !name.is_empty()).collect();
        let message = format!("there is no section [{}]", quoted(&entry.key).trim_matches('`'));
        let help = match nearest(&entry.key, names.iter().copied()) {
            Some(name) => format!("did you mean [{name}]?"),
            None => format!("the sections are {}", listed(&names)),
        };
        self.find(ConfigErrorKind::UnknownSection, message, Some(help), Some(entry.key_place.clone()));
    }

    fn unknown_key(&mut self, section: &str, entry: &Entry) {
        let key = &entry.key;
        let own = parameters().filter(|spec| spec.section == section).map(|spec| spec.key);
        let own: Vec<&'static str> = own.chain(section.is_empty().then_some(PRESET_KEY)).collect();
        let elsewhere = parameters().find(|spec| spec.section != section && spec.key == key.replace('_', "-"));
        let help = if let Some(name) = nearest(key, own.iter().copied()) {
            Some(format!("did you mean `{name}`?"))
        } else if let Some(spec) = elsewhere {
            Some(format!("`{}` belongs {}", spec.key, place_of(spec.section)))
        } else if section.is_empty() {
            let names = Config::sections().iter().map(|section| section.name).filter(|name| !name.is_empty());
            nearest(key, names).map(|name| format!("did you mean the section [{name}]?"))
        } else {
            Some(format!("the keys of [{section}] are {}", listed(&own)))
        };
        let message = format!("unknown key {} {}", quoted(key), place_of(section));
        self.find(ConfigErrorKind::UnknownKey, message, help, Some(entry.key_place.clone()));
    }

    /// A trace or a profile implies the kind of workload, and replaces what a lower layer chose.
    fn imply_workload_kind(&mut self, layer: Layer) {
        let set_here = |key: &str| self.settings.get(key).filter(|setting| setting.layer == layer).cloned();
        let (kind, trace, profile) =
            (set_here("workload.kind"), set_here("workload.trace"), set_here("workload.profile"));
        if let (Some(_), Some(profile)) = (&trace, &profile) {
            let message =
                "workload.trace and workload.profile are both given: requests come from one of them".to_owned();
            self.find(ConfigErrorKind::Conflict, message, None, Some(profile.key_place.clone()));
            return;
        }
        let implied = match (&trace, &profile) {
            (Some(setting), _) => Some((WorkloadKind::Trace, setting)),
            (_, Some(setting)) => Some((WorkloadKind::Profile, setting)),
            _ => None,
        };
        let workload = &mut self.config.workload;
        match (implied, &kind) {
            (Some((implied, setting)), Some(_)) if workload.kind != implied => {
                let message = format!("workload.{implied} is given, but workload.kind is `{}`", workload.kind);
                let help = format!("leave workload.kind away: workload.{implied} implies it");
                let place = setting.key_place.clone();
                self.find(ConfigErrorKind::Conflict, message, Some(help), Some(place));
                return;
            }
            (Some((implied, _)), _) => workload.kind = implied,
            (None, Some(_)) => {}
            (None, None) => return,
        }
        // What a lower layer named is no longer meant.
        if workload.kind != WorkloadKind::Trace {
            workload.trace = None;
        }
        if workload.kind != WorkloadKind::Profile {
            workload.profile = None;
        }
    }

    /// Finds keys that nothing reads, such as a time scale where the replay mode is not the open one.
    ///
    /// A key is not blamed when its layer, or a later one, also says in so many words which setting is in effect: a
    /// file may keep values for several modes, and overrides may switch between them.
    fn find_unused(&mut self) {
        let entries = self.config.entries();
        let value_of = |section: &str, key: &str| {
            let (_, keys) = entries.iter().find(|(name, _)| *name == section)?;
            keys.iter().find(|(name, _)| *name == key)?.1.clone()
        };
        for spec in parameters() {
            let (Some(used_with), Some(setting)) = (spec.used_with, self.settings.get(&spec.path())) else { continue };
            let decider = dotted(spec.section, used_with.key);
            let decided_by = self.settings.get(&decider);
            let value = value_of(spec.section, used_with.key).unwrap_or_default();
            let stated = decided_by.is_some_and(|decider| decider.layer >= setting.layer || !decider.taken);
            if used_with.values.contains(&value.as_str()) || stated || !setting.taken {
                continue;
            }
            let message = format!("{} has no effect: {decider} is {value}", spec.path());
            let help = format!("set {decider} to {}, or leave {} away", used_with.values.join(" or "), spec.key);
            let place = Some(setting.key_place.clone());
            self.findings.push(Finding { kind: ConfigErrorKind::Unused, message, help: Some(help), place });
        }
    }

    fn finish(mut self) -> Result<Config, ConfigError> {
        // With a key in error its default stands in for it, and would be blamed for what it is not.
        if self.findings.is_empty() {
            for clash in check::clashes(&self.config) {
                let culprits = clash.keys.iter().filter_map(|key| self.settings.get(*key));
                // Of several culprits the one set last, and of those the likeliest, which stands first.
                let culprit = culprits.rev().max_by_key(|setting| setting.layer);
                let place = culprit.map(|setting| setting.value_place.clone());
                self.findings.push(Finding { kind: clash.kind, message: clash.message, help: clash.help, place });
            }
        }
        if self.findings.is_empty() {
            return Ok(self.config);
        }
        self.findings.sort_by_key(|finding| finding.place.as_ref().map(|place| (place.source, place.span.start)));
        Err(ConfigError::new(&self.sources, &self.findings))
    }
}

impl Config {
    /// Checks a configuration, however it was put together: the bounds of every key, and what takes several keys.
    ///
    /// # Errors
    /// Everything that is wrong, with the names of the keys.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let mut findings: Vec<Finding> = self
            .misfits()
            .into_iter()
            .map(|(section, key, misfit)| misfit_finding(section, key, misfit, None))
            .collect();
        if findings.is_empty() {
            findings = check::clashes(self)
                .into_iter()
                .map(|clash| Finding { kind: clash.kind, message: clash.message, help: clash.help, place: None })
                .collect();
        }
        if findings.is_empty() { Ok(()) } else { Err(ConfigError::new(&[], &findings)) }
    }

    /// Every parameter, in the order of declaration.
    pub fn parameters() -> impl Iterator<Item = &'static ParameterSpec> {
        parameters()
    }
}

fn parameters() -> impl Iterator<Item = &'static ParameterSpec> {
    Config::sections().iter().flat_map(|section| &section.parameters)
}

fn is_root_key(key: &str) -> bool {
    parameters().any(|spec| spec.section.is_empty() && spec.key == key)
}

/// The section as messages have it: "in [geometry]".
fn place_of(section: &str) -> String {
    if section.is_empty() { "above all sections".to_owned() } else { format!("in [{section}]") }
}

/// `misfit` with its key, and with the bounds when they are what is missed.
fn misfit_finding(section: &str, key: &str, misfit: Misfit, place: Option<Place>) -> Finding {
    let path = dotted(section, key);
    let bounds = parameters().find(|spec| spec.section == section && spec.key == key).map(|spec| &spec.bounds_text);
    let message = match bounds {
        Some(bounds) if misfit.kind == ConfigErrorKind::OutOfBounds && !bounds.is_empty() => {
            format!("{path}: {}: it must be {bounds}", misfit.message)
        }
        _ => format!("{path}: {}", misfit.message),
    };
    Finding { kind: misfit.kind, message, help: misfit.help, place }
}
