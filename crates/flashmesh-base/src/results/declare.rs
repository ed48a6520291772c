//! The macros that declare quantities and fixed lists of names.

/// Declares a group of quantities. No other place lists the quantities.
///
/// ```
/// flashmesh_base::quantities! {
///     /// Subject of the group. `as` names its Python class.
///     #[derive(Default)]
///     TrimReport as "Trim" {
///         /// Meaning of the count, and the part of the run it covers.
///         pages: u64, in "pages";
///         /// A quantity that may be absent.
///         latency_mean_ps: Option<f64>, in "ps", null "when nothing was trimmed";
///     }
/// }
/// let json = serde_json::to_string(&TrimReport::default()).unwrap();
/// assert_eq!(json, r#"{"pages":0,"latency_mean_ps":null}"#);
/// ```
///
/// The value of a quantity is a number, a boolean, a text, a name ([`names!`](crate::names)), another group, or a list or
/// an `Option` of these. `name: &'static str as Kind` is a text restricted to the names of `Kind`; `group: Part => flatten`
/// replaces the quantity by the quantities of `Part`. The declaration expands to the struct, its JSON and its
/// [`GroupSpec`](crate::results::GroupSpec).
#[macro_export]
macro_rules! quantities {
    (
        $(#[doc = $group_doc:expr])+
        $(#[derive($($derive:ident),+)])?
        $group:ident $(as $class:literal)? {
            $(
                $(#[doc = $doc:expr])+
                $name:ident: $type:ty $(as $form:ty)? $(, in $unit:literal)? $(, null $null:literal)? $(=> $flatten:ident)?;
            )+
        }
    ) => {
        $(#[doc = $group_doc])+
        #[derive(Clone, Debug, PartialEq $($(, $derive)+)?)]
        pub struct $group {
            $(
                $(#[doc = $doc])+
                $(#[doc = concat!("\n\nUnit: ", $unit, ".")])?
                $(#[doc = concat!("\n\n`None` ", $null, ".")])?
                pub $name: $type,
            )+
        }

        impl $crate::results::Group for $group {
            fn spec() -> $crate::results::GroupSpec {
                let mut spec = $crate::results::GroupSpec::new($crate::__given!($($class)?), &[$($group_doc),+]);
                $({
                    const NULL: Option<&str> = $crate::__given!($($null)?);
                    const _: () = assert!(
                        <$type as $crate::results::Reported>::OPTIONAL == NULL.is_some(),
                        "`null` says when an `Option`, and nothing else, is absent"
                    );
                    const UNIT: Option<&str> = $crate::__given!($($unit)?);
                    let (shape, is_flattened) = ($crate::__shape!($type $(, $form)?), $crate::__is_given!($($flatten)?));
                    spec.add(stringify!($name), shape, UNIT, NULL, is_flattened, &[$($doc),+]);
                })+
                spec
            }

            fn entries<M: $crate::results::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $($crate::__entry!(map, stringify!($name), &self.$name $(, $flatten)?);)+
                Ok(())
            }
        }

        impl $crate::results::Serialize for $group {
            fn serialize<S: $crate::results::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let mut map = serializer.serialize_map(None)?;
                $crate::results::Group::entries(self, &mut map)?;
                $crate::results::SerializeMap::end(map)
            }
        }

        impl $crate::results::Reported for $group {
            fn shape() -> $crate::results::Shape {
                $crate::results::Shape::Object(<$group as $crate::results::Group>::spec())
            }
        }
    };
}

/// Declares a group of counts like [`quantities!`](crate::quantities), with a method that combines two groups count by count.
#[macro_export]
macro_rules! counts {
    (
        $(#[doc = $group_doc:expr])+
        $group:ident $(as $class:literal)? {
            $(
                $(#[doc = $doc:expr])+
                $name:ident: u64, in $unit:literal;
            )+
        }
    ) => {
        $crate::quantities! {
            $(#[doc = $group_doc])+
            #[derive(Default, Eq)]
            $group $(as $class)? {
                $(
                    $(#[doc = $doc])+
                    $name: u64, in $unit;
                )+
            }
        }

        impl $group {
            /// Combines two groups: applies `combine` to each count of `self` and the count of the same name in `other`.
            pub fn zip(&self, other: &$group, combine: fn(u64, u64) -> u64) -> $group {
                $group { $($name: combine(self.$name, other.$name),)+ }
            }
        }
    };
}

/// Declares an enumeration whose values results write as names. No other place lists the names.
#[macro_export]
macro_rules! names {
    (
        $(#[doc = $enum_doc:expr])+
        $(#[derive($($derive:ident),+)])?
        $enum:ident {
            $(
                $(#[doc = $doc:expr])+
                $variant:ident = $text:literal,
            )+
        }
    ) => {
        $(#[doc = $enum_doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq $($(, $derive)+)?)]
        pub enum $enum {
            $(
                $(#[doc = $doc])+
                #[doc = concat!("\n\nWritten `", $text, "`.")]
                $variant,
            )+
        }

        impl $enum {
            /// All values, in the order of their indices.
            pub const ALL: [$enum; [$($text),+].len()] = [$($enum::$variant),+];

            /// Returns the name that results write.
            pub const fn name(self) -> &'static str {
                match self {
                    $($enum::$variant => $text,)+
                }
            }

            /// Returns the position of the value in [`ALL`](Self::ALL).
            #[inline]
            pub const fn index(self) -> usize {
                self as usize
            }
        }

        impl $crate::results::Named for $enum {
            fn names() -> Vec<$crate::results::Name> {
                $crate::results::named(&[$(($text, &[$($doc),+])),+])
            }
        }

        impl $crate::results::Reported for $enum {
            fn shape() -> $crate::results::Shape {
                $crate::results::Shape::Name(<$enum as $crate::results::Named>::names())
            }
        }

        impl $crate::results::Serialize for $enum {
            fn serialize<S: $crate::results::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }
    };
}

/// Declares an enumeration whose values JSON writes as objects: the value of the key `tag` names the variant, which determines the other keys.
#[macro_export]
macro_rules! tagged {
    (
        $(#[doc = $enum_doc:expr])+
        $enum:ident by $tag:literal {
            $(
                $(#[doc = $doc:expr])+
                $variant:ident $(($group:ty))? = $text:literal,
            )+
        }
    ) => {
        $(#[doc = $enum_doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub enum $enum {
            $(
                $(#[doc = $doc])+
                $variant $(($group))?,
            )+
        }

        impl $crate::results::Reported for $enum {
            fn shape() -> $crate::results::Shape {
                $crate::results::Shape::Tagged {
                    tag: $tag,
                    variants: vec![$($crate::results::Variant {
                        name: $crate::results::Name { name: $text, doc: $crate::results::joined(&[$($doc),+]) },
                        group: $crate::__given!($(<$group as $crate::results::Group>::spec())?),
                    }),+],
                }
            }
        }

        impl $crate::results::Serialize for $enum {
            fn serialize<S: $crate::results::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::results::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                match self {
                    $(
                        $crate::__variant!($enum, $variant $(, group, $group)?) => {
                            map.serialize_entry($tag, $text)?;
                            $(<$group as $crate::results::Group>::entries(group, &mut map)?;)?
                        }
                    )+
                }
                map.end()
            }
        }
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __given {
    () => {
        None
    };
    ($given:expr) => {
        Some($given)
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __is_given {
    () => {
        false
    };
    ($given:ident) => {
        true
    };
}

/// Returns the shape of a quantity. If the declaration has a type after `as`, the shape is the list of its names.
#[doc(hidden)]
#[macro_export]
macro_rules! __shape {
    ($type:ty) => {
        <$type as $crate::results::Reported>::shape()
    };
    ($type:ty, $form:ty) => {
        $crate::results::Shape::Name(<$form as $crate::results::Named>::names())
    };
}

/// Writes a quantity, or the quantities of a flattened group, to a map.
#[doc(hidden)]
#[macro_export]
macro_rules! __entry {
    ($map:ident, $name:expr, $value:expr) => {
        $crate::results::SerializeMap::serialize_entry($map, $name, $value)?
    };
    ($map:ident, $name:expr, $value:expr, flatten) => {
        $crate::results::Group::entries($value, $map)?
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __variant {
    ($enum:ident, $variant:ident) => {
        $enum::$variant
    };
    ($enum:ident, $variant:ident, $group:ident, $type:ty) => {
        $enum::$variant($group)
    };
}
