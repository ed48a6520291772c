//! Why an interconnect cannot be built.

/// An interconnect does not fit the rest of the configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}: {help}")]
pub struct FabricError {
    /// The keys to look at, `section.key`, the likeliest culprit first.
    pub keys: Vec<&'static str>,
    /// What does not fit.
    pub message: String,
    /// What to do about it.
    pub help: String,
}
