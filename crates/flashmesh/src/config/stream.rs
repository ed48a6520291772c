//! Streams: several workloads at once, each with its own replay and queue.

use super::Config;
use super::form::Misfit;
use super::node::Node;
use super::section::Section;
use super::sections::{Queue, Replay, Workload};

/// The maximum number of streams, and of namespaces.
pub(crate) const NAMED_MAX: usize = 256;

const STREAM_DEFAULT: &str = "host";

/// Declares the sections that every stream has separately.
macro_rules! per_stream {
    ($($(#[$meta:meta])+ $field:ident: $section:ident,)+) => {
        /// A stream of requests: `[stream.NAME.*]`, or the top-level sections if there is only one stream.
        #[derive(Clone, Debug, PartialEq)]
        pub struct StreamConfig {
            /// The name of the stream.
            pub name: String,
            $($(#[$meta])+ pub $field: $section,)+
        }

        /// The sections of a stream. The top-level sections of the same names hold the defaults of all streams.
        pub(super) const PER_STREAM: &[&str] = &[$(stringify!($field)),+];

        impl StreamConfig {
            /// Returns a stream `name` with the defaults of all streams, which the top-level sections of `config` hold.
            pub(super) fn of(config: &Config, name: &str) -> StreamConfig {
                StreamConfig { name: name.to_owned(), $($field: config.$field.clone(),)+ }
            }

            /// Returns whether every stream has its own section `name`, as in `[stream.NAME.workload]`.
            pub fn has_section(name: &str) -> bool {
                PER_STREAM.contains(&name)
            }

            /// Sets a key of a section of the stream. Returns `None` if there is no such key, and an error if the value does not fit the key.
            pub(super) fn set(&mut self, section: &str, key: &str, node: &Node) -> Option<Result<(), Misfit>> {
                match section {
                    $(stringify!($field) => self.$field.set(key, node),)+
                    _ => None,
                }
            }

            /// Returns the sections with their keys and canonical values; a value is `None` if the key is unset.
            pub(super) fn entries(&self) -> Vec<(&'static str, Vec<(&'static str, Option<String>)>)> {
                vec![$((stringify!($field), self.$field.entries())),+]
            }

            /// Returns the values out of bounds: section, key, and error.
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
            /// Resets the top-level sections that hold the defaults of streams. Once the streams are built, nothing uses these sections.
            pub(super) fn reset_stream_defaults(&mut self) {
                $(self.$field = $section::default();)+
            }
        }
    };
}

per_stream! {
    /// The source of requests.
    workload: Workload,
    /// The rule by which requests are issued.
    replay: Replay,
    /// The queue pair.
    queue: Queue,
}

impl Config {
    /// Returns the streams of the run in the order of the text; without `[stream.*]`, a single stream named `host`.
    pub fn streams(&self) -> Vec<StreamConfig> {
        if self.stream.is_empty() { vec![StreamConfig::of(self, STREAM_DEFAULT)] } else { self.stream.clone() }
    }
}

/// Returns whether `name` is a bare TOML key of at most 64 characters.
pub(crate) fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&name.len()) && name.bytes().all(plain)
}
