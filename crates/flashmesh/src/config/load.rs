//! Loading of a configuration in layers: defaults, preset, file, fio jobs, overrides.

mod implied;
mod named;
mod overrides;

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::DeTable;

use super::conflict::ConflictChecks;
use super::error::{ConfigError, ConfigErrorKind, Source, UnrenderedProblem};
use super::form::Misfit;
use super::node::{KeyValue, Location, Value, entries};
use super::preset::{self, PRESETS};
use super::reference::{ParameterSpec, dotted};
use super::section::Section;
use super::suggest::{listed, nearest, quoted};
use super::{Config, StreamConfig, Workload};
use named::{NamedTable, NamedTableKind};

/// The layer (source of settings) that set a key. Later layers override earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Layer {
    Preset,
    File,
    Jobs,
    Override,
}

impl Layer {
    pub(super) const ALL: [Layer; 4] = [Layer::Preset, Layer::File, Layer::Jobs, Layer::Override];
}

#[derive(Clone, Debug)]
pub(super) struct Setting {
    pub layer: Layer,
    pub key_location: Location,
    pub value_location: Location,
    pub is_valid: bool,
}

pub(super) enum TablePath {
    /// A section outside named tables, such as `fabric`; empty for the top-level keys.
    Section(String),
    /// A section of the configuration of one stream, such as `stream.oltp.replay`: name of the stream, name of the section.
    Stream(String, &'static str),
    Namespace(String),
}

impl TablePath {
    fn path(&self) -> String {
        match self {
            TablePath::Section(section) => section.clone(),
            TablePath::Stream(name, section) => format!("stream.{name}.{section}"),
            TablePath::Namespace(name) => format!("namespace.{name}"),
        }
    }

    fn section(&self) -> &str {
        match self {
            TablePath::Section(section) => section,
            TablePath::Stream(_, section) => section,
            TablePath::Namespace(_) => "namespace.NAME",
        }
    }
}

const PRESET_KEY: &str = "preset";
const CAPACITY_KEY: &str = "geometry.capacity";
const OVER_PROVISIONING_KEY: &str = "geometry.over-provisioning";

/// Renamed keys: section, old name, new name.
const RENAMED: [(&str, &str, &str); 4] = [
    ("cache", "power-cut", "power.cut"),
    ("cache", "capacitors", "power.capacitors"),
    ("nossd", "local-channels", "nossd.chip-channels, and nossd.controller-channels for the controllers"),
    ("venice", "hold-circuit", "fabric.hold-path; its value for true is \"reads\""),
];

/// A loaded configuration, with notes for its author.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The loaded configuration.
    pub config: Config,
    /// Notes about accepted old names, one sentence each. The notes do not affect the configuration.
    pub notes: Vec<String>,
    /// Notes about keys that have no effect because the file selects another mode, one sentence each.
    pub unused: Vec<String>,
}

#[derive(Default)]
pub(super) struct Loader {
    sources: Vec<Source>,
    pub findings: Vec<UnrenderedProblem>,
    pub config: Config,
    notes: Vec<String>,
    /// Notes about keys of the file that have no effect.
    pub unused: Vec<String>,
    /// The settings by full key, such as `fabric.kind` or `stream.oltp.replay.mode`.
    pub settings: BTreeMap<String, Setting>,
    named: Vec<NamedTable>,
    /// Whether there is only a preset and overrides. Overrides may then define streams and namespaces.
    pub is_bare: bool,
}

/// Loads `file` (name and text), then `jobs`, then `overrides`. Paths of traces, fitted profiles and policies in the file are relative to `folder`.
/// Conflicts found by `checks` point to the lines of their keys. The error has all problems found.
pub(crate) fn load(
    file: Option<(&str, &str)>,
    folder: Option<&Path>,
    jobs: &[String],
    overrides: &[String],
    checks: ConflictChecks,
) -> Result<Loaded, ConfigError> {
    let mut loader = Loader::default();
    let file_entries = file.map(|(name, text)| loader.parse(name, text)).unwrap_or_default();
    // Stop at a file that is not TOML: further errors would only be consequences of the first error.
    if loader.findings.iter().any(|finding| finding.kind == ConfigErrorKind::InvalidToml) {
        return Err(ConfigError::new(&loader.sources, &loader.findings));
    }
    let job_entries: Vec<KeyValue> =
        jobs.iter().filter_map(|text| loader.parse_override("--fio".to_owned(), text)).collect();
    let numbered = overrides.iter().enumerate();
    let override_entries: Vec<KeyValue> =
        numbered.filter_map(|(index, text)| loader.parse_override(format!("--set #{}", index + 1), text)).collect();
    loader.is_bare = job_entries.is_empty() && file_entries.iter().all(|entry| entry.key == PRESET_KEY);
    loader.apply_preset(&file_entries, &override_entries);
    loader.apply(Layer::File, &file_entries);
    loader.relocate_files(folder, None);
    loader.apply(Layer::Jobs, &job_entries);
    loader.apply(Layer::Override, &override_entries);
    loader.make_streams(folder);
    loader.imply_replay_modes();
    loader.replace_capacity();
    loader.report_ineffective();
    loader.finish(checks)
}

impl Loader {
    pub fn add_problem(
        &mut self,
        kind: ConfigErrorKind,
        message: String,
        help: Option<String>,
        place: Option<Location>,
    ) {
        self.findings.push(UnrenderedProblem { kind, message, help, location: place });
    }

    fn add_source(&mut self, name: String, text: &str) -> usize {
        self.sources.push(Source { name, text: text.to_owned() });
        self.sources.len() - 1
    }

    fn parse(&mut self, name: &str, text: &str) -> Vec<KeyValue> {
        let source = self.add_source(name.to_owned(), text);
        let (table, errors) = DeTable::parse_recoverable(text);
        for error in errors {
            let place = error.span().map(|span| Location { source, span });
            if error.message() == "duplicate key" {
                let key = place.as_ref().and_then(|place| text.get(place.span.clone())).unwrap_or_default();
                let message = format!("{} is given twice", quoted(key));
                self.add_problem(ConfigErrorKind::DuplicateKey, message, None, place);
            } else {
                self.add_problem(ConfigErrorKind::InvalidToml, format!("not TOML: {}", error.message()), None, place);
            }
        }
        entries(table.get_ref(), source, 0)
    }

    fn parse_override(&mut self, name: String, text: &str) -> Option<KeyValue> {
        let source = self.add_source(name, text);
        match overrides::parse(text, source) {
            Ok(entry) => Some(entry),
            Err(finding) => {
                self.findings.push(finding);
                None
            }
        }
    }

    fn apply_preset(&mut self, file: &[KeyValue], overrides: &[KeyValue]) {
        let chosen = overrides.iter().rev().chain(file).find(|entry| entry.key == PRESET_KEY);
        let Some(KeyValue { node, .. }) = chosen else { return };
        let names = PRESETS.iter().map(|preset| preset.name);
        let Value::Text(name) = &node.value else {
            let message = format!("preset: expected a text, found {}", node.value.type_name());
            self.add_problem(ConfigErrorKind::WrongType, message, None, Some(node.location.clone()));
            return;
        };
        match preset::find(name) {
            Some(preset) => {
                if preset.name != name {
                    self.notes.push(format!(
                        "the preset {name} is called {} now; the old name is accepted, and means the same drive",
                        preset.name
                    ));
                }
                let entries = self.parse(&format!("preset {}", preset.name), preset.text);
                self.apply(Layer::Preset, &entries);
            }
            None => {
                let all: Vec<&str> = names.clone().collect();
                let message = format!("there is no preset {}: there are {}", quoted(name), listed(&all));
                let help = nearest(name, names).map(|name| format!("did you mean `{name}`?"));
                self.add_problem(ConfigErrorKind::UnknownPreset, message, help, Some(node.location.clone()));
            }
        }
    }

    fn apply(&mut self, layer: Layer, entries: &[KeyValue]) {
        let section_names: Vec<&'static str> = Config::sections().iter().map(|section| section.name).collect();
        for entry in entries {
            let is_section = !entry.key.is_empty() && section_names.contains(&entry.key.as_str());
            if let Some(kind) = NamedTableKind::from_key(&entry.key) {
                self.apply_named(layer, kind, entry);
                continue;
            }
            match &entry.node.value {
                _ if entry.key == PRESET_KEY => {}
                Value::Table(inner) if is_section => {
                    for key in inner {
                        self.apply_key(layer, &TablePath::Section(entry.key.clone()), key);
                    }
                }
                _ if is_section => {
                    let message = format!("[{}] is a section, not {}", entry.key, entry.node.value.type_name());
                    let help =
                        format!("name the key in it: `{}.KEY = ...`, or put it below `[{}]`", entry.key, entry.key);
                    self.add_problem(ConfigErrorKind::WrongType, message, Some(help), Some(entry.key_location.clone()));
                }
                Value::Table(_) if !is_root_key(&entry.key) => self.unknown_section(entry),
                _ => self.apply_key(layer, &TablePath::Section(String::new()), entry),
            }
        }
        self.imply_workload_kind(layer, None);
    }

    pub fn apply_key(&mut self, layer: Layer, table: &TablePath, entry: &KeyValue) {
        let result = match table {
            TablePath::Section(section) => self.config.set(section, &entry.key, &entry.node),
            TablePath::Stream(name, section) => {
                self.stream_mut(name).and_then(|stream| stream.set(section, &entry.key, &entry.node))
            }
            TablePath::Namespace(name) => {
                let found = self.config.namespace.iter_mut().find(|(known, _)| known == name);
                found.and_then(|(_, namespace)| namespace.set(&entry.key, &entry.node))
            }
        };
        match result {
            None => self.unknown_key(table, entry),
            Some(result) => {
                let (path, taken) = (dotted(&table.path(), &entry.key), result.is_ok());
                if let Err(misfit) = result {
                    let place = Some(entry.node.location.clone());
                    self.findings.push(misfit_finding(&table.path(), table.section(), &entry.key, misfit, place));
                }
                let (key_place, value_place) = (entry.key_location.clone(), entry.node.location.clone());
                self.settings.insert(
                    path,
                    Setting { layer, key_location: key_place, value_location: value_place, is_valid: taken },
                );
            }
        }
    }

    fn stream_mut(&mut self, name: &str) -> Option<&mut StreamConfig> {
        self.config.stream.iter_mut().find(|stream| stream.name == name)
    }

    /// Returns the workload section of a stream, with the section's name; the top-level section if `stream` is `None` or unknown.
    fn workload_mut(&mut self, stream: Option<&str>) -> (String, &mut Workload) {
        match stream.and_then(|name| self.config.stream.iter().position(|stream| stream.name == name)) {
            Some(at) => {
                let stream = &mut self.config.stream[at];
                (format!("stream.{}.workload", stream.name), &mut stream.workload)
            }
            None => ("workload".to_owned(), &mut self.config.workload),
        }
    }

    pub fn relocate_files(&mut self, folder: Option<&Path>, stream: Option<&str>) {
        let Some(folder) = folder else { return };
        let (section, _) = self.workload_mut(stream);
        let is_own = |key: &str| self.settings.get(&dotted(&section, key)).is_some_and(|own| own.layer == Layer::File);
        let own = [is_own("trace"), is_own("fitted")];
        if stream.is_none() {
            let settings = &self.settings;
            let is_own = |key: &str| settings.get(&dotted("policy", key)).is_some_and(|own| own.layer == Layer::File);
            self.config.policy.relocate(folder, is_own);
        }
        let (_, workload) = self.workload_mut(stream);
        for (path, is_own) in [&mut workload.trace, &mut workload.fitted].into_iter().zip(own) {
            if let (Some(path), true) = (path, is_own) {
                *path = folder.join(&*path);
            }
        }
    }

    fn unknown_section(&mut self, entry: &KeyValue) {
        let names = table_names();
        let message = format!("there is no section [{}]", quoted(&entry.key).trim_matches('`'));
        let help = match nearest(&entry.key, names.iter().copied()) {
            Some(name) => format!("did you mean [{name}]?"),
            None => format!("the sections are {}", listed(&names)),
        };
        self.add_problem(ConfigErrorKind::UnknownSection, message, Some(help), Some(entry.key_location.clone()));
    }

    fn unknown_key(&mut self, table: &TablePath, entry: &KeyValue) {
        let (key, section) = (&entry.key, table.section());
        let own = parameters().filter(|spec| spec.section == section).map(|spec| spec.key);
        let own: Vec<&'static str> = own.chain(section.is_empty().then_some(PRESET_KEY)).collect();
        let elsewhere = parameters().find(|spec| spec.section != section && spec.key == key.replace('_', "-"));
        let renamed =
            RENAMED.iter().find(|(old_section, old_key, _)| (*old_section, *old_key) == (section, key.as_str()));
        let help = if let Some((_, _, now)) = renamed {
            Some(format!("it is called {now}"))
        } else if let Some(name) = nearest(key, own.iter().copied()) {
            Some(format!("did you mean `{name}`?"))
        } else if let Some(spec) = elsewhere {
            Some(format!("`{}` belongs {}", spec.key, section_phrase(spec.section)))
        } else if section.is_empty() {
            nearest(key, table_names()).map(|name| format!("did you mean the section [{name}]?"))
        } else {
            Some(format!("the keys of [{section}] are {}", listed(&own)))
        };
        let message = format!("unknown key {} {}", quoted(key), section_phrase(&table.path()));
        self.add_problem(ConfigErrorKind::UnknownKey, message, help, Some(entry.key_location.clone()));
    }

    /// Returns the setting of a key; `None` if no layer (preset, file, fio jobs, overrides) sets the key. A stream inherits the top-level
    /// setting.
    fn setting_of(&self, key: &str) -> Option<&Setting> {
        self.settings.get(key).or_else(|| {
            let (_, own) = key.strip_prefix("stream.")?.split_once('.')?;
            self.settings.get(own)
        })
    }

    fn finish(mut self, checks: ConflictChecks) -> Result<Loaded, ConfigError> {
        // No checks for conflicts after an error: the key in error has its default value, which could cause misleading conflicts.
        if self.findings.is_empty() {
            for clash in checks(&self.config) {
                let culprits = clash.keys.iter().filter_map(|key| self.setting_of(key));
                // Report the conflict at the key that was set in the latest layer (preset, file, fio jobs, overrides). Among several such
                // keys, choose the first key that the conflict names, which is the likeliest cause.
                let culprit = culprits.rev().max_by_key(|setting| setting.layer);
                let place = culprit.map(|setting| setting.value_location.clone());
                self.findings.push(UnrenderedProblem {
                    kind: clash.kind,
                    message: clash.message,
                    help: clash.help,
                    location: place,
                });
            }
        }
        if self.findings.is_empty() {
            if !self.config.stream.is_empty() {
                self.config.reset_stream_defaults();
            }
            return Ok(Loaded { config: self.config, notes: self.notes, unused: self.unused });
        }
        self.findings.sort_by_key(|finding| finding.location.as_ref().map(|place| (place.source, place.span.start)));
        Err(ConfigError::new(&self.sources, &self.findings))
    }
}

impl Config {
    /// Checks a configuration, whether loaded or assembled in code: the bounds of every key, then `checks`.
    ///
    /// # Errors
    /// All problems, with the names of their keys.
    pub(crate) fn validate_with(&self, checks: ConflictChecks) -> Result<(), ConfigError> {
        let mut findings: Vec<UnrenderedProblem> = self
            .misfits()
            .into_iter()
            .map(|(path, section, key, misfit)| misfit_finding(&path, section, key, misfit, None))
            .collect();
        if findings.is_empty() {
            findings = checks(self)
                .into_iter()
                .map(|clash| UnrenderedProblem {
                    kind: clash.kind,
                    message: clash.message,
                    help: clash.help,
                    location: None,
                })
                .collect();
        }
        if findings.is_empty() { Ok(()) } else { Err(ConfigError::new(&[], &findings)) }
    }

    /// Returns all parameters, in the order of declaration.
    pub fn parameters() -> impl Iterator<Item = &'static ParameterSpec> {
        parameters()
    }
}

pub(super) fn parameters() -> impl Iterator<Item = &'static ParameterSpec> {
    Config::sections().iter().flat_map(|section| &section.parameters)
}

/// Returns the names of all sections. A named table counts once, under the part before the name, such as `stream`.
fn table_names() -> Vec<&'static str> {
    let names = Config::sections().iter().map(|section| section.table().unwrap_or(section.name));
    names.filter(|name| !name.is_empty()).chain([NamedTableKind::Stream.key()]).collect()
}

fn is_root_key(key: &str) -> bool {
    parameters().any(|spec| spec.section.is_empty() && spec.key == key)
}

/// Returns the place of a section for messages: "in \[geometry\]".
fn section_phrase(section: &str) -> String {
    if section.is_empty() { "above all sections".to_owned() } else { format!("in [{section}]") }
}

/// Returns the problem of a value: `misfit` with its key added, and with the bounds if they are exceeded.
fn misfit_finding(path: &str, section: &str, key: &str, misfit: Misfit, place: Option<Location>) -> UnrenderedProblem {
    let path = dotted(path, key);
    let bounds = parameters().find(|spec| spec.section == section && spec.key == key).map(|spec| &spec.bounds_text);
    let message = match bounds {
        Some(bounds) if misfit.kind == ConfigErrorKind::OutOfBounds && !bounds.is_empty() => {
            format!("{path}: {}: it must be {bounds}", misfit.message)
        }
        _ => format!("{path}: {}", misfit.message),
    };
    UnrenderedProblem { kind: misfit.kind, message, help: misfit.help, location: place }
}
