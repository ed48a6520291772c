//! Loading of named tables: `[stream.NAME.*]` and `[namespace.NAME]`.

use std::path::Path;

use super::{Layer, Loader, TablePath, parameters};
use crate::config::error::ConfigErrorKind;
use crate::config::node::{KeyValue, Value};
use crate::config::stream::{NAMED_MAX, PER_STREAM, StreamConfig, is_name};
use crate::config::suggest::{listed, nearest, quoted};
use crate::config::{Config, Namespace};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedTableKind {
    Stream,
    Namespace,
}

impl NamedTableKind {
    pub(super) fn from_key(key: &str) -> Option<NamedTableKind> {
        [NamedTableKind::Stream, NamedTableKind::Namespace].into_iter().find(|kind| kind.key() == key)
    }

    pub(super) fn key(self) -> &'static str {
        match self {
            NamedTableKind::Stream => "stream",
            NamedTableKind::Namespace => "namespace",
        }
    }
}

/// Returns the number of names in the path of a section that begins with `first`: 3 for `stream.NAME.workload`.
pub(super) fn depth(first: &str) -> usize {
    match NamedTableKind::from_key(first) {
        Some(NamedTableKind::Stream) => 3,
        Some(NamedTableKind::Namespace) => 2,
        None => 1,
    }
}

pub(super) struct NamedTable {
    kind: NamedTableKind,
    name: String,
    /// The settings of a stream, kept until the defaults of all streams are known; empty for a namespace, whose settings are applied at once.
    entries: Vec<(Layer, KeyValue)>,
}

impl Loader {
    /// Applies the `[stream]` or `[namespace]` tables of a layer (preset, file, fio jobs or overrides).
    pub(super) fn apply_named(&mut self, layer: Layer, kind: NamedTableKind, entry: &KeyValue) {
        let key = kind.key();
        let Value::Table(tables) = &entry.node.value else {
            let message = format!("[{key}] holds tables that have names, not {}", entry.node.value.type_name());
            let help = match kind {
                NamedTableKind::Stream => "write [stream.NAME.workload], [stream.NAME.replay] or [stream.NAME.queue]",
                NamedTableKind::Namespace => "write [namespace.NAME]",
            };
            self.add_problem(
                ConfigErrorKind::WrongType,
                message,
                Some(help.to_owned()),
                Some(entry.key_location.clone()),
            );
            return;
        };
        for table in tables {
            let Some(at) = self.find_or_add(layer, kind, table) else { continue };
            let Value::Table(inner) = &table.node.value else {
                let (name, found) = (&table.key, table.node.value.type_name());
                let message = format!("[{key}.{name}] is a section, not {found}");
                self.add_problem(ConfigErrorKind::WrongType, message, None, Some(table.key_location.clone()));
                continue;
            };
            match kind {
                NamedTableKind::Stream => {
                    self.named[at].entries.extend(inner.iter().map(|entry| (layer, entry.clone())));
                }
                NamedTableKind::Namespace => {
                    for entry in inner {
                        self.apply_key(layer, &TablePath::Namespace(table.key.clone()), entry);
                    }
                }
            }
        }
    }

    /// Returns the index of a named table (stream or namespace); a new table is added first. Reports a problem and returns `None` if the name is
    /// invalid, unknown in an override, or beyond [`NAMED_MAX`].
    fn find_or_add(&mut self, layer: Layer, kind: NamedTableKind, table: &KeyValue) -> Option<usize> {
        let (key, name) = (kind.key(), &table.key);
        if let Some(at) = self.named.iter().position(|known| known.kind == kind && known.name == *name) {
            return Some(at);
        }
        let place = Some(table.key_location.clone());
        if !is_name(name) {
            let message = format!("{} cannot be the name of a {key}", quoted(name));
            let help = "a name has 1 to 64 letters, digits, `_` and `-`".to_owned();
            self.add_problem(ConfigErrorKind::BadName, message, Some(help), place);
            return None;
        }
        let known: Vec<&NamedTable> = self.named.iter().filter(|known| known.kind == kind).collect();
        // Overrides may define new names only if the file contains nothing but a preset, and there are no fio jobs. Otherwise an unknown name counts
        // as misspelt.
        if layer == Layer::Override && !self.is_bare {
            let names: Vec<&str> = known.iter().map(|known| known.name.as_str()).collect();
            let message = format!("there is no {key} {}", quoted(name));
            let help = match (nearest(name, names.iter().copied()), kind) {
                (Some(name), _) => format!("did you mean `{name}`?"),
                (None, _) if !names.is_empty() => {
                    format!("the {key}s are {}; a further one has to be given where they are", listed(&names))
                }
                (None, NamedTableKind::Stream) => {
                    format!("leave `stream.{name}.` away for the only stream there is, or name streams in the file")
                }
                (None, NamedTableKind::Namespace) => "namespaces have to be named in the file".to_owned(),
            };
            self.add_problem(ConfigErrorKind::UnknownName, message, Some(help), place);
            return None;
        }
        if known.len() == NAMED_MAX {
            let message = format!("{} is one {key} too many: there can be {NAMED_MAX}", quoted(name));
            self.add_problem(ConfigErrorKind::OutOfBounds, message, None, place);
            return None;
        }
        if kind == NamedTableKind::Namespace {
            self.config.namespace.push((name.clone(), Namespace::default()));
        }
        self.named.push(NamedTable { kind, name: name.clone(), entries: Vec::new() });
        Some(self.named.len() - 1)
    }

    /// Builds the streams once their defaults are known. Paths of traces and fitted profiles that the file sets are relative to `folder`.
    pub(super) fn make_streams(&mut self, folder: Option<&Path>) {
        let tables = std::mem::take(&mut self.named);
        for table in tables.iter().filter(|table| table.kind == NamedTableKind::Stream) {
            let name = &table.name;
            self.config.stream.push(StreamConfig::of(&self.config, name));
            for layer in Layer::ALL {
                for (_, entry) in table.entries.iter().filter(|(at, _)| *at == layer) {
                    self.apply_in_stream(layer, name, entry);
                }
                self.imply_workload_kind(layer, Some(name));
                if layer == Layer::File {
                    self.relocate_files(folder, Some(name));
                }
            }
        }
        self.named = tables;
    }

    fn apply_in_stream(&mut self, layer: Layer, stream: &str, entry: &KeyValue) {
        let known = PER_STREAM.iter().find(|section| **section == entry.key);
        match (&entry.node.value, known) {
            (Value::Table(inner), Some(section)) => {
                for key in inner {
                    self.apply_key(layer, &TablePath::Stream(stream.to_owned(), section), key);
                }
            }
            (other, Some(section)) => {
                let message = format!("[stream.{stream}.{section}] is a section, not {}", other.type_name());
                self.add_problem(ConfigErrorKind::WrongType, message, None, Some(entry.key_location.clone()));
            }
            (value, None) => self.unknown_in_stream(stream, entry, matches!(value, Value::Table(_))),
        }
    }

    fn unknown_in_stream(&mut self, stream: &str, entry: &KeyValue, is_table: bool) {
        let key = &entry.key;
        let owner = |spec: &&crate::config::ParameterSpec| spec.key == *key && PER_STREAM.contains(&spec.section);
        let help = if let Some(section) = nearest(key, PER_STREAM.iter().copied()) {
            format!("did you mean [stream.{stream}.{section}]?")
        } else if is_table && Config::sections().iter().any(|section| section.name == key) {
            format!("[{key}] is about the whole drive; a stream has {}", listed(PER_STREAM))
        } else if let Some(spec) = parameters().find(owner) {
            format!("`{key}` belongs in [stream.{stream}.{}]", spec.section)
        } else {
            format!("the sections of a stream are {}", listed(PER_STREAM))
        };
        let (kind, message) = if is_table {
            (ConfigErrorKind::UnknownSection, format!("there is no section {} in a stream", quoted(key)))
        } else {
            (ConfigErrorKind::UnknownKey, format!("unknown key {} in [stream.{stream}]", quoted(key)))
        };
        self.add_problem(kind, message, Some(help), Some(entry.key_location.clone()));
    }
}
