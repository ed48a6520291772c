//! The macro that declares a section, and the interface of every section.

use super::form::Misfit;
use super::node::Node;
use super::reference::SectionSpec;

/// A section of the configuration, as [`section!`] declares it.
pub trait Section {
    fn spec() -> SectionSpec;

    fn set(&mut self, key: &str, node: &Node) -> Option<Result<(), Misfit>>;

    /// Returns each key with its value as canonical TOML; `None` if unset.
    fn entries(&self) -> Vec<(&'static str, Option<String>)>;

    /// Returns an error for each key whose value is out of bounds. Only values assigned in code can be out of bounds, because parsing rejects such
    /// values.
    fn misfits(&self) -> Vec<(&'static str, Misfit)>;
}

pub const fn dashes<const N: usize>(name: &str) -> [u8; N] {
    let (name, mut dashed, mut at) = (name.as_bytes(), [0; N], 0);
    while at < N {
        dashed[at] = if name[at] == b'_' { b'-' } else { name[at] };
        at += 1;
    }
    dashed
}

/// Appends an entry of a key and its TOML text. Never inlined: [`section!`] expands to a call for every key.
#[inline(never)]
pub fn add_entry(entries: &mut Vec<(&'static str, Option<String>)>, key: &'static str, text: Option<String>) {
    entries.push((key, text));
}

/// Returns the name of a field without the `r#` of a raw identifier.
pub const fn plain(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// Returns the key of a field: its name with dashes.
#[doc(hidden)]
#[macro_export]
macro_rules! __key_of {
    ($field:ident) => {{
        const FIELD: &str = $crate::config::section::plain(stringify!($field));
        const DASHED: [u8; FIELD.len()] = $crate::config::section::dashes(FIELD);
        const KEY: &str = match std::str::from_utf8(&DASHED) {
            Ok(key) => key,
            Err(_) => FIELD,
        };
        KEY
    }};
}
pub use __key_of as key_of;

/// Returns the type that parses a field: the one after `as`, or the type of the field.
#[doc(hidden)]
#[macro_export]
macro_rules! __form_of {
    ($type:ty) => {
        $type
    };
    ($type:ty, $form:ty) => {
        $form
    };
}
pub use __form_of as form_of;

#[doc(hidden)]
#[macro_export]
macro_rules! __optional {
    () => {
        None
    };
    ($given:expr) => {
        Some($given)
    };
}
pub use __optional as optional;

/// Returns whether the operator of a condition lists allowed values (`=`, true) or excluded values (`!=`, false).
#[doc(hidden)]
#[macro_export]
macro_rules! __is_one_of {
    (=) => {
        true
    };
    (!=) => {
        false
    };
}
pub use __is_one_of as is_one_of;

/// Returns the alternatives of a condition, such as `"key" = ["value"] or "section.key" != ["value"]`.
#[doc(hidden)]
#[macro_export]
macro_rules! __used_with {
    ($section:literal, $($key:literal $is:tt [$($value:literal),+]) or +) => {
        &[$(
            $crate::config::reference::Condition::new(
                $section,
                $key,
                $crate::config::section::is_one_of!($is),
                &[$($value),+],
            )
        ),+]
    };
}
pub use __used_with as used_with;

/// Returns the smallest compiled variant of the simulation (`plain`, `any` or `probed`) for values other than the default, and the condition after
/// `where`, if any.
#[doc(hidden)]
#[macro_export]
macro_rules! __needs {
    ($section:literal, $instance:ident) => {
        ($crate::config::section::needs!($instance), None)
    };
    ($section:literal, $instance:ident, $($key:literal $is:tt [$($value:literal),+]) or +) => {
        (
            $crate::config::section::needs!($instance),
            Some($crate::config::section::used_with!($section, $($key $is [$($value),+]) or +)),
        )
    };
    (plain) => {
        $crate::config::instance::Instance::Plain
    };
    (any) => {
        $crate::config::instance::Instance::Any
    };
    (probed) => {
        $crate::config::instance::Instance::Probed
    };
}
pub use __needs as needs;

/// Binds the bounds after `in` to a variable; without `in`, every value is allowed.
#[doc(hidden)]
#[macro_export]
macro_rules! __limits {
    ($name:ident) => {
        let $name = $crate::config::bounds::Bounds::Any;
    };
    ($name:ident, $bounds:expr) => {
        let $name = $crate::config::bounds::Bounds::from($bounds);
    };
}
pub use __limits as limits;

/// Declares a section of the configuration. No other place lists the parameters of the section.
///
/// ```text
/// section! {
///     /// Subject of the section.
///     Geometry, "geometry" {
///         /// Meaning of the parameter. Its type determines the unit.
///         channels: u32 = 8, in 1..=1024, needs plain;
///         /// A parameter that is parsed as another type (`Share`) than its field.
///         over_provisioning: f64 as Share = 0.07, in 0.01..=0.9, needs plain;
///         /// A parameter that may be unset.
///         capacity: Option<Bytes> = None, unset "all pages less the over-provisioning", in Bytes::new(512).., needs plain;
///         /// A parameter with an effect only under two conditions on other keys; an empty text stands for unset.
///         d: u32 = 10, in 1..=1024, with "victim" = ["\"d-choices\""], with "capacity" != [""], needs plain;
///         /// A parameter with an effect under either of two conditions, the second on a key of another section.
///         e: u32 = 10, in 1..=1024, with "victim" = ["\"d-choices\""] or "ftl.allocation" = ["\"dynamic\""], needs plain;
///         /// A parameter for which the plain instance supports only the default value.
///         r#move: Move = Move::ThroughController, needs any;
///         /// A parameter for which the plain instance supports all values but one.
///         order: Order = Order::Static, needs any where "order" = ["\"dynamic\""];
///         /// A parameter that `flashmesh ask` varies: by a factor, by a sum, or among listed values.
///         f: u32 = 10, in 1..=1024, needs plain, step "x2";
///     }
/// }
/// ```
///
/// `needs` is the smallest compiled variant of the simulation ([`Instance`](super::instance::Instance)) that supports values other than the default.
/// The instance of a run is derived from the `needs` of all parameters.
///
/// A condition on all parameters of a section follows its name; `but for` lists the exempt keys:
/// `Nvme, "nvme", with "host.interface" = ["\"nvme\""] but for ["doorbell-size", "read-request-size"] { ... }`.
///
/// The declaration expands to the struct, its defaults and its [`Section`] implementation, from which the reference, the schema and the Python types
/// are generated.
#[doc(hidden)]
#[macro_export]
macro_rules! __section {
    (
        $(#[doc = $section_doc:expr])+
        $name:ident, $section:literal
            $(, with $($all_key:literal $all_is:tt [$($all_value:literal),+]) or + but for [$($apart:literal),*])? {
            $(
                $(#[doc = $doc:expr])+
                $field:ident: $type:ty $(as $form:ty)? = $default:expr
                    $(, unset $unset:literal)?
                    $(, in $bounds:expr)?
                    $(, with $($with_key:literal $with_is:tt [$($with_value:literal),+]) or +)*
                    , needs $instance:ident
                        $(where $($needs_key:literal $needs_is:tt [$($needs_value:literal),+]) or +)?
                    $(, step $step:literal)?;
            )+
        }
    ) => {
        $(#[doc = $section_doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name {
            $(
                $(#[doc = $doc])+
                pub $field: $type,
            )+
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)+ }
            }
        }

        impl $crate::config::section::Section for $name {
            fn spec() -> $crate::config::reference::SectionSpec {
                use $crate::config::reference::{Condition, Declared, SectionSpec};
                const OF_SECTION: Option<&[Condition]> = $crate::config::section::optional!($(
                    $crate::config::section::used_with!($section, $($all_key $all_is [$($all_value),+]) or +)
                )?);
                const APART: &[&str] = &[$($($apart),*)?];
                let mut spec = SectionSpec::new($section, stringify!($name), &[$($section_doc),+], OF_SECTION, APART);
                $({
                    type F = $crate::config::section::form_of!($type $(, $form)?);
                    const DECLARED: Declared = Declared {
                        key: $crate::config::section::key_of!($field),
                        field: $crate::config::section::plain(stringify!($field)),
                        unset_means: $crate::config::section::optional!($($unset)?),
                        step: $crate::config::section::optional!($($step)?),
                        used_with: &[$($crate::config::section::used_with!(
                            $section,
                            $($with_key $with_is [$($with_value),+]) or +
                        )),*],
                        needs: $crate::config::section::needs!(
                            $section,
                            $instance
                            $(, $($needs_key $needs_is [$($needs_value),+]) or +)?
                        ),
                        doc: &[$($doc),+],
                    };
                    $crate::config::section::limits!(limits $(, $bounds)?);
                    spec.add::<F>(&DECLARED, &limits, &$default);
                })+
                spec
            }

            fn set(
                &mut self,
                key: &str,
                node: &$crate::config::node::Node,
            ) -> Option<Result<(), $crate::config::form::Misfit>> {
                $({
                    type F = $crate::config::section::form_of!($type $(, $form)?);
                    if key == $crate::config::section::key_of!($field) {
                        $crate::config::section::limits!(limits $(, $bounds)?);
                        return Some($crate::config::bounds::read::<F>(node, &limits, &mut self.$field));
                    }
                })+
                None
            }

            fn entries(&self) -> Vec<(&'static str, Option<String>)> {
                let mut entries = Vec::new();
                $({
                    type F = $crate::config::section::form_of!($type $(, $form)?);
                    let text = <F as $crate::config::form::Form>::write(&self.$field);
                    $crate::config::section::add_entry(&mut entries, $crate::config::section::key_of!($field), text);
                })+
                entries
            }

            fn misfits(&self) -> Vec<(&'static str, $crate::config::form::Misfit)> {
                let mut misfits = Vec::new();
                $({
                    type F = $crate::config::section::form_of!($type $(, $form)?);
                    $crate::config::section::limits!(limits $(, $bounds)?);
                    let key = $crate::config::section::key_of!($field);
                    $crate::config::bounds::note::<F>(key, &self.$field, &limits, &mut misfits);
                })+
                misfits
            }
        }
    };
}
pub use __section as section;
