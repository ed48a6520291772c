//! What can be wrong with a configuration.

/// What is wrong with a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigErrorKind {
    /// The file cannot be read.
    Unreadable,
    /// The file is not UTF-8 text.
    NotText,
    /// The text is not TOML.
    InvalidToml,
    /// A key is given twice.
    DuplicateKey,
    /// There is no such section.
    UnknownSection,
    /// There is no such key.
    UnknownKey,
    /// A stream or a namespace that is named in one place is not given in another.
    UnknownName,
    /// A stream or a namespace has a name that cannot be one.
    BadName,
    /// There is no such preset.
    UnknownPreset,
    /// The value is none of the choices.
    UnknownChoice,
    /// The value has another type.
    WrongType,
    /// The value needs a unit.
    MissingUnit,
    /// The unit does not exist or measures something else.
    UnknownUnit,
    /// The value is beyond its bounds.
    OutOfBounds,
    /// The key is not read beside the other settings.
    Unused,
    /// Settings that cannot go together, or one that lacks another.
    Conflict,
    /// An override that is no `key=value`.
    MalformedOverride,
}
