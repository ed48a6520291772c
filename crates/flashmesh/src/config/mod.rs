//! The typed tree of all parameters: declared once, loaded from TOML, with errors that point to the line.
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
//! The value of a key comes from the last layer that sets the key. The layers are: the defaults (equal to the preset `venice-z-nand`, except for
//! `venice.revisits`), the preset named in the file or an override, the file, the jobs of fio, and the overrides in their order. Overrides change the
//! streams and namespaces defined by the file or the jobs. Overrides can define new streams and namespaces only if the file contains nothing but its
//! preset, and there are no jobs.
//!
//! Each of several streams may have its own `[workload]`, `[replay]` and `[queue]`, written as `[stream.NAME.workload]`. The top-level sections of
//! these names hold the defaults of all streams, whichever layer sets the defaults; keys of the stream itself take precedence.
//!
//! To add a parameter, declare it in its file in `sections/`, or in `flashmesh-workload` for `[workload]` and `[replay]`. To add a choice, such as
//! another interconnect, add one line to its enumeration. The reference page, the schema and the Python types are generated from these declarations
//! (`cargo run -p flashmesh --example generate`).

mod canonical;
mod conflict;
mod error;
mod expected_writes;
mod ineffective_keys;
mod instance;
pub(crate) mod load;
mod mapping_units;
mod preset;
mod sections;
mod stream;
mod tree;

pub(crate) use conflict::ConfigConflict;
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
    /// Returns the presets, each with its name, a summary, and its file.
    pub fn presets() -> &'static [Preset] {
        preset::PRESETS
    }

    /// Returns the preset with this name or former name; `None` if there is none.
    pub(crate) fn preset(name: &str) -> Option<&'static Preset> {
        preset::find(name)
    }
}
