//! The macro that declares an enumeration with the text of each value.

/// Declares an enumeration and the text of each value. No other place lists the texts.
///
/// ```text
/// choices! {
///     /// Meaning of the choice.
///     FabricKind {
///         /// Meaning of the value.
///         Bus = "bus",
///     }
/// }
/// ```
///
/// A new value needs one line here, and a `match` arm wherever the compiler reports a missing one.
#[doc(hidden)]
#[macro_export]
macro_rules! __choices {
    (
        $(#[doc = $enum_doc:expr])+
        $name:ident {
            $(
                $(#[doc = $doc:expr])+
                $variant:ident = $text:literal,
            )+
        }
    ) => {
        $(#[doc = $enum_doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nText form: `\"", $text, "\"`.")]
                $variant,
            )+
        }

        impl $name {
            /// All values, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Returns the text that selects this value.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $text,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl $crate::results::Named for $name {
            fn names() -> Vec<$crate::results::Name> {
                $crate::results::named(&[$(($text, &[$($doc),+])),+])
            }
        }

        impl $crate::config::form::Form for $name {
            type Value = $name;
            $crate::config::form::plain_form!();

            fn parameter_type() -> $crate::config::reference::ParameterType {
                $crate::config::reference::ParameterType::Choice
            }

            fn choices() -> Vec<$crate::config::reference::Choice> {
                $crate::config::reference::choices_of(<$name as $crate::results::Named>::names())
            }

            fn read(node: &$crate::config::node::Node) -> Result<$name, $crate::config::form::Misfit> {
                $crate::config::choices::place_of(node, &[$($text),+]).map(|place| $name::ALL[place])
            }

            fn write(value: &$name) -> Option<String> {
                Some($crate::config::form::toml_string(value.name()))
            }
        }
    };
}
pub use __choices as choices;

use super::error::ConfigErrorKind;
use super::form::Misfit;
use super::node::{Node, Value};
use super::suggest;

/// Returns the index in `names` of the text in `node`.
///
/// # Errors
/// If `node` is not a text, or not one of `names`.
pub fn place_of(node: &Node, names: &[&'static str]) -> Result<usize, Misfit> {
    let listed = || suggest::listed(names);
    let Value::Text(written) = &node.value else {
        let (listed, found) = (listed(), node.value.type_name());
        return Err(Misfit::new(ConfigErrorKind::WrongType, format!("expected one of {listed}, found {found}")));
    };
    if let Some(place) = names.iter().position(|name| name == written) {
        return Ok(place);
    }
    let mut misfit = Misfit::new(
        ConfigErrorKind::UnknownChoice,
        format!("{} is none of the choices: {}", suggest::quoted(written), listed()),
    );
    misfit.help = suggest::nearest(written, names.iter().copied()).map(|name| format!("did you mean `{name}`?"));
    Err(misfit)
}
