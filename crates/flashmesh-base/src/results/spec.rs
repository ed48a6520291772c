//! What was declared, as data: the source of the Python classes, the reference page and the schema.

/// A group of quantities: a table of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpec {
    /// The Python class; none for a group that only stands flattened in others.
    pub class: Option<&'static str>,
    /// What the quantities are about.
    pub doc: String,
    /// The quantities, in the order of their keys in JSON.
    pub quantities: Vec<QuantitySpec>,
}

/// A quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantitySpec {
    /// The key in JSON and the attribute in Python.
    pub name: &'static str,
    /// What its value is.
    pub shape: Shape,
    /// The unit of a number, or of the numbers of a list; `ratio` where it has none.
    pub unit: Option<&'static str>,
    /// When the value is absent, for one that may be.
    pub null: Option<&'static str>,
    /// Whether the keys of its group stand in place of its own.
    pub is_flattened: bool,
    /// What it means.
    pub doc: String,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A whole number, 0 or more.
    Integer,
    /// A number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A text.
    Text,
    /// One of a fixed list of texts.
    Name(Vec<Name>),
    /// Tables of parameters, as python/flashmesh/config.schema.json describes them.
    Configuration,
    /// Further quantities.
    Object(GroupSpec),
    /// Values of one shape.
    List(Box<Shape>),
    /// An object whose further keys depend on one of them.
    Tagged {
        /// The key that decides.
        tag: &'static str,
        /// What it may be.
        variants: Vec<Variant>,
    },
}

/// A value of a fixed list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// How it is written.
    pub name: &'static str,
    /// What it means.
    pub doc: String,
}

/// An object of those that a key tells apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The value of the key.
    pub name: Name,
    /// The further keys.
    pub group: Option<GroupSpec>,
}

impl GroupSpec {
    #[doc(hidden)]
    pub fn new(class: Option<&'static str>, doc: &[&str]) -> GroupSpec {
        GroupSpec { class, doc: joined(doc), quantities: Vec::new() }
    }

    #[doc(hidden)]
    #[inline(never)]
    pub fn add(
        &mut self,
        name: &'static str,
        shape: Shape,
        unit: Option<&'static str>,
        null: Option<&'static str>,
        is_flattened: bool,
        doc: &[&str],
    ) {
        self.quantities.push(QuantitySpec { name, shape, unit, null, is_flattened, doc: joined(doc) });
    }

    /// The quantities with those of flattened groups in their place: the keys in JSON.
    pub fn keys(&self) -> Vec<&QuantitySpec> {
        let each = self.quantities.iter().map(|quantity| match &quantity.shape {
            Shape::Object(group) if quantity.is_flattened => group.keys(),
            _ => vec![quantity],
        });
        each.flatten().collect()
    }
}

impl Shape {
    /// The shape of what a list holds, or the shape itself.
    pub fn item(&self) -> &Shape {
        match self {
            Shape::List(item) => item.item(),
            _ => self,
        }
    }
}

/// Names with the lines of their documentation.
#[doc(hidden)]
pub fn named(names: &[(&'static str, &[&str])]) -> Vec<Name> {
    names.iter().map(|&(name, doc)| Name { name, doc: joined(doc) }).collect()
}

#[doc(hidden)]
pub fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
}
