//! Streams: several workloads at once, each with its own replay and its own queue.

use super::Config;
use super::form::Misfit;
use super::node::Node;
use super::section::Section;
use super::sections::{Queue, Replay, Workload};

/// Most streams, and most namespaces, of a drive.
pub(crate) const NAMED_MAX: usize = 256;

const STREAM_DEFAULT: &str = "host";

/// Declares the sections that every stream has of its own.
macro_rules! per_stream {
    ($($(#[$meta:meta])+ $field:ident: $section:ident,)+) => {
        /// A stream of requests: `[stream.NAME.*]`, or what stands above all streams where there is only one.
        #[derive(Clone, Debug, PartialEq)]
        pub struct StreamConfig {
            /// Its name.
            pub name: String,
            $($(#[$meta])+ pub $field: $section,)+
        }

        /// The sections of a stream. Above all streams they hold the values that streams start from.
        pub(super) const PER_STREAM: &[&str] = &[$(stringify!($field)),+];

        impl StreamConfig {
            /// The stream `name` as it is where it says nothing itself.
            pub(super) fn of(config: &Config, name: &str) -> StreamConfig {
                StreamConfig { name: name.to_owned(), $($field: config.$field.clone(),)+ }
            }

            /// Whether every stream has the section `name` to itself, as `[stream.NAME.workload]`.
            pub fn has_section(name: &str) -> bool {
                PER_STREAM.contains(&name)
            }

            /// Sets a key; `None` when there is no such key.
            pub(super) fn set(&mut self, section: &str, key: &str, node: &Node) -> Option<Result<(), Misfit>> {
                match section {
                    $(stringify!($field) => self.$field.set(key, node),)+
                    _ => None,
                }
            }

            /// The sections with their keys and canonical values.
            pub(super) fn entries(&self) -> Vec<(&'static str, Vec<(&'static str, Option<String>)>)> {
                vec![$((stringify!($field), self.$field.entries())),+]
            }

            /// The values out of bounds, each with section and key.
            pub(super) fn misfits(&self) -> Vec<(&'static str, &'static str, Misfit)> {
                let mut misfits = Vec::new();
                $(
                    let own = self.$field.misfits().into_iter();
                    misfits.extend(own.map(|(key, misfit)| (stringify!($field), key, misfit)));
                )+
                misfits
            }
        }

        impl Config {
            /// Forgets the values that streams start from: with streams, nothing else reads them.
            pub(super) fn reset_stream_defaults(&mut self) {
                $(self.$field = $section::default();)+
            }
        }
    };
}

per_stream! {
    /// Where its requests come from.
    workload: Workload,
    /// When its requests are issued.
    replay: Replay,
    /// Its queue pair.
    queue: Queue,
}

impl Config {
    /// The streams of the run in the order of the text; without `[stream.*]` a single one, named `host`.
    pub fn streams(&self) -> Vec<StreamConfig> {
        if self.stream.is_empty() { vec![StreamConfig::of(self, STREAM_DEFAULT)] } else { self.stream.clone() }
    }
}

/// Whether `name` is a bare TOML key.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}
