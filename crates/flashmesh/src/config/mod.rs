//! One typed tree of parameters: declared once, read from TOML, with errors that point at the line.
//!
//! ```
//! use flashmesh::config::{Config, FabricKind};
//!
//! let text = r#"
//! preset = "venice-z-nand"
//!
//! [workload]
//! pattern = "zipf"
//! read-share = "70%"
//! "#;
//! let config = Config::from_str(text, "drive.toml", &["fabric.kind=ideal".to_owned()])?;
//! assert_eq!(config.fabric.kind, FabricKind::Ideal);
//! assert_eq!(config.workload.read_share, 0.7);
//!
//! let error = Config::from_str("[geometry]\nchanels = 8", "drive.toml", &[]).unwrap_err();
//! assert!(error.to_string().contains("did you mean `channels`?"));
//! # Ok::<(), flashmesh::config::ConfigError>(())
//! ```
//!
//! A value comes from the last of these that sets it: the defaults (those of the `venice-z-nand` preset, but for `venice.revisits`), the preset that the
//! file or an override names, the file, what jobs of fio ask, the overrides in their order. Overrides change the streams and the
//! namespaces that file or jobs name; only where the file says nothing but its preset may they name some.
//!
//! `[workload]`, `[replay]` and `[queue]` may be given once more for each of several streams, as `[stream.NAME.workload]`.
//! A stream starts from what these sections say above all streams, whatever layer says it; what the stream says itself
//! goes before it.
//!
//! Adding a parameter is one declaration in its file below `sections/`, or in `flashmesh-workload` for `[workload]` and
//! `[replay]`; adding a choice, such as another interconnect, is one line in its enumeration. The reference page, the schema and
//! the Python types follow from them (`cargo run -p flashmesh --example generate`).

mod canonical;
mod clash;
mod error;
mod expected_writes;
mod instance;
pub(crate) mod load;
mod named;
mod overrides;
mod preset;
mod sections;
mod stream;
mod tree;
mod units;
mod unused;

pub(crate) use clash::Clash;
pub use error::{ConfigError, ConfigErrorKind, Position, Problem};
pub use expected_writes::{ExpectedWrites, WriteSizes};
pub use flashmesh_base::config::instance::Instance;
pub use flashmesh_base::config::reference::{
    Choice, Condition, Needs, ParameterSpec, ParameterType, SectionSpec, UsedWith,
};
pub(crate) use flashmesh_base::config::suggest::{listed, nearest, quoted};
use flashmesh_base::config::{choices, form, node, reference, section, suggest};
pub use load::Loaded;
pub use preset::Preset;
pub use sections::*;
pub use stream::StreamConfig;
pub(crate) use stream::{NAMED_MAX, is_name};
pub use tree::Config;

impl Config {
    /// The presets, each with its name, a line about it, and its file.
    pub fn presets() -> &'static [Preset] {
        preset::PRESETS
    }

    /// The preset of a name, which may be one that it had before.
    pub(crate) fn preset(name: &str) -> Option<&'static Preset> {
        preset::find(name)
    }
}
