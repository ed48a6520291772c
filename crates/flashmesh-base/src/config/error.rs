//! The kinds of configuration error.

/// The kind of a configuration error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ConfigErrorKind {
    /// A file that cannot be read.
    Unreadable,
    /// A file that is not UTF-8 text.
    NotText,
    /// A text that is not valid TOML.
    InvalidToml,
    /// A key that is given twice.
    DuplicateKey,
    /// A section that does not exist.
    UnknownSection,
    /// A key that does not exist.
    UnknownKey,
    /// A reference to a stream or a namespace that the configuration does not define.
    UnknownName,
    /// An invalid name of a stream or a namespace.
    BadName,
    /// A preset that does not exist.
    UnknownPreset,
    /// A text that is none of the choices of the parameter.
    UnknownChoice,
    /// A value of the wrong type.
    WrongType,
    /// A number without the unit that the parameter needs.
    MissingUnit,
    /// A unit that does not exist, or that measures another quantity.
    UnknownUnit,
    /// A value that is out of bounds.
    OutOfBounds,
    /// A key that has no effect with the other settings.
    Unused,
    /// Settings that exclude each other, or a setting that requires another one.
    Conflict,
    /// An override that is not of the form `key=value`.
    MalformedOverride,
}
