//! Custom quantities in a report.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::results::{Group, GroupSpec, Reported, Serialize, SerializeMap, Serializer, Shape};

/// Groups of quantities that custom probes add in [`Probe::conclude`](crate::kernel::probe::Probe::conclude). In the JSON of the report they are
/// under the key `own`, which is absent without such groups.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UserQuantities(BTreeMap<&'static str, Value>);

impl UserQuantities {
    /// Adds `group` under `name`, and replaces an earlier group with this name.
    pub fn add(&mut self, name: &'static str, group: &impl Group) {
        self.0.insert(name, serde_json::to_value(group).expect("a group has string keys"));
    }

    /// Returns the group with this name as JSON; `None` if no probe added it.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}

impl Group for UserQuantities {
    /// Returns an empty declaration, because the code that adds a custom quantity also declares it.
    fn spec() -> GroupSpec {
        GroupSpec { class: None, doc: "Groups that probes of the user add.".to_owned(), quantities: Vec::new() }
    }

    fn entries<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        if self.0.is_empty() { Ok(()) } else { map.serialize_entry("own", &self.0) }
    }
}

impl Serialize for UserQuantities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Reported for UserQuantities {
    fn shape() -> Shape {
        Shape::Object(UserQuantities::spec())
    }
}
