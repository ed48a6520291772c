//! Declared results as data, from which the Python classes, the reference page and the schema are generated.

/// A group of quantities: a table of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpec {
    /// The Python class; `None` for a group that only appears flattened in other groups.
    pub class: Option<&'static str>,
    /// The subject of the group, from its doc comment.
    pub doc: String,
    /// The quantities, in the order of their JSON keys.
    pub quantities: Vec<QuantitySpec>,
}

/// A quantity of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct QuantitySpec {
    /// The JSON key, which is also the Python attribute.
    pub name: &'static str,
    /// The shape of the value.
    pub shape: Shape,
    /// The unit of the number, or of the numbers in the list; `ratio` for a dimensionless number. `None` for other values.
    pub unit: Option<&'static str>,
    /// The condition under which the value is `null`; `None` if it never is.
    pub null: Option<&'static str>,
    /// Whether the quantity is a group whose keys JSON writes directly, without a nested object.
    pub is_flattened: bool,
    /// The meaning of the quantity, from its doc comment.
    pub doc: String,
}

/// The shape of a value in JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A whole number, 0 or more.
    Integer,
    /// A number, with or without decimals.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A free text.
    Text,
    /// One of these texts.
    Name(Vec<Name>),
    /// Tables of parameters, as described by python/flashmesh/config.schema.json.
    Configuration,
    /// An object with the quantities of a group.
    Object(GroupSpec),
    /// A list of values of one shape.
    List(Box<Shape>),
    /// An object whose further keys depend on the value of `tag`.
    Tagged {
        /// The key whose value selects the variant.
        tag: &'static str,
        /// The possible values of `tag`, with their further keys.
        variants: Vec<Variant>,
    },
}

/// One of the texts that a quantity can have as its value, such as the kind of an interconnect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// The text, as in JSON.
    pub name: &'static str,
    /// The meaning of the text, from the doc comment of its declaration.
    pub doc: String,
}

/// One variant of a tagged object: a value of its tag, with the keys that the object then has.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The value of the tag that selects this variant.
    pub name: Name,
    /// The keys of the variant besides the tag; `None` without further keys.
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

    /// Returns the quantities in the order of the JSON keys. A flattened group is replaced by its quantities.
    pub fn keys(&self) -> Vec<&QuantitySpec> {
        let each = self.quantities.iter().map(|quantity| match &quantity.shape {
            Shape::Object(group) if quantity.is_flattened => group.keys(),
            _ => vec![quantity],
        });
        each.flatten().collect()
    }
}

impl Shape {
    /// Returns the shape of the innermost items of a list; for other values, the shape itself.
    pub fn item(&self) -> &Shape {
        match self {
            Shape::List(item) => item.item(),
            _ => self,
        }
    }
}

/// Returns the names, each with its doc lines joined to one text.
#[doc(hidden)]
pub fn named(names: &[(&'static str, &[&str])]) -> Vec<Name> {
    names.iter().map(|&(name, doc)| Name { name, doc: joined(doc) }).collect()
}

#[doc(hidden)]
pub fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ").trim().to_owned()
}
