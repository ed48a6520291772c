//! Declaration of results: each quantity of the report is declared once, with its name, unit and meaning.
//!
//! [`quantities!`](crate::quantities) declares a group of quantities, in the module that counts them. The declaration expands to the
//! struct, its JSON, and the description ([`GroupSpec`]) from which `cargo run -p flashmesh --example generate` writes the Python
//! classes, docs/results.md and docs/results.schema.json.

mod declare;
mod spec;

#[doc(hidden)]
pub use serde::ser::{Serialize, SerializeMap, Serializer};
pub use spec::{GroupSpec, Name, QuantitySpec, Shape, Variant};
#[doc(hidden)]
pub use spec::{joined, named};

/// A type whose values a report can contain.
pub trait Reported: Serialize {
    /// Whether the value may be absent: `null` in JSON.
    const OPTIONAL: bool = false;

    /// Returns the shape of the value in JSON.
    fn shape() -> Shape;
}

/// A group of quantities, as [`quantities!`](crate::quantities) declares it.
pub trait Group: Serialize {
    /// Returns the quantities with their units and meanings.
    fn spec() -> GroupSpec;

    /// Writes each quantity and its name to `map`.
    ///
    /// # Errors
    /// If the serializer fails.
    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// A type with a fixed list of values, each with a name. A field declared as `field: &'static str as Kind` stores only the name; `Kind` lists the
/// allowed names.
pub trait Named {
    /// Returns every name with its meaning.
    fn names() -> Vec<Name>;
}

impl<T: Group> Group for Box<T> {
    fn spec() -> GroupSpec {
        T::spec()
    }

    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        T::entries(self, map)
    }
}

impl<T: Reported> Reported for Option<T> {
    const OPTIONAL: bool = true;

    fn shape() -> Shape {
        T::shape()
    }
}

impl<T: Reported> Reported for Vec<T> {
    fn shape() -> Shape {
        Shape::List(Box::new(T::shape()))
    }
}

/// Implements [`Reported`] for plain types.
macro_rules! plain {
    ($($shape:ident: $($type:ty),+;)+) => {
        $($(
            impl Reported for $type {
                fn shape() -> Shape {
                    Shape::$shape
                }
            }
        )+)+
    };
}

plain! {
    Integer: u32, u64, usize;
    Number: f64;
    Boolean: bool;
    Text: String, &'static str;
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::names! {
        /// Names for the tests.
        Colour {
            /// A name of one word.
            Red = "red",
            /// A name of two words.
            LightBlue = "light-blue",
        }
    }

    crate::counts! {
        /// Counts for the tests.
        Counted {
            /// Requests of all kinds.
            requests: u64, in "requests";
            /// Pages of all kinds.
            pages: u64, in "pages";
        }
    }

    crate::quantities! {
        /// Group with a quantity of each shape.
        Outer as "Everything" {
            /// How much
            /// of it.
            mean: Option<f64>, in "share", null "when there was none";
            /// The counts, flattened.
            counted: Counted => flatten;
            /// Names in a list.
            colours: Vec<Colour>;
            /// Groups in a list.
            each: Vec<Counted>;
            /// A name stored as a text.
            colour: &'static str as Colour;
        }
    }

    fn outer() -> Outer {
        let counted = Counted { requests: 3, pages: 4 };
        let colours = vec![Colour::Red, Colour::LightBlue];
        Outer { mean: None, counted: counted.clone(), colours, each: vec![counted], colour: Colour::Red.name() }
    }

    #[test]
    fn json_has_the_names_in_the_order_of_declaration_and_flattened_groups_in_their_place() {
        let json = serde_json::to_string(&outer()).expect("the report can be serialised");
        assert_eq!(
            json,
            r#"{"mean":null,"requests":3,"pages":4,"colours":["red","light-blue"],"each":[{"requests":3,"pages":4}],"colour":"red"}"#
        );
    }

    #[test]
    fn a_spec_has_what_was_declared() {
        let spec = Outer::spec();
        assert_eq!((spec.class, spec.doc.as_str()), (Some("Everything"), "Group with a quantity of each shape."));
        let names: Vec<&str> = spec.quantities.iter().map(|quantity| quantity.name).collect();
        assert_eq!(names, ["mean", "counted", "colours", "each", "colour"]);
        let [mean, counted, colours, each, colour] = spec.quantities.as_slice() else { panic!("{names:?}") };
        assert_eq!(
            (mean.doc.as_str(), mean.unit, mean.null),
            ("How much of it.", Some("share"), Some("when there was none"))
        );
        assert!(counted.is_flattened && matches!(&counted.shape, Shape::Object(group) if group.class.is_none()));
        let names = Colour::names();
        assert_eq!(colours.shape, Shape::List(Box::new(Shape::Name(names.clone()))));
        assert_eq!(each.shape, Shape::List(Box::new(Shape::Object(Counted::spec()))));
        assert_eq!(colour.shape, Shape::Name(names));
        assert!(Colour::ALL.iter().enumerate().all(|(index, colour)| colour.index() == index));
    }

    #[test]
    fn counts_combine_one_by_one() {
        let (more, less) = (Counted { requests: 5, pages: 9 }, Counted { requests: 1, pages: 2 });
        assert_eq!(more.zip(&less, |more, less| more - less), Counted { requests: 4, pages: 7 });
    }
}
