//! Files generated from the declared parameters.

pub mod markdown;
pub mod python;
pub mod schema;

use flashmesh::config::{Condition, ParameterSpec, SectionSpec, UsedWith};

/// Returns a sentence on the conditions under which a parameter takes effect; empty if it has none besides those of its section.
fn used_with(section: &SectionSpec, spec: &ParameterSpec, show: impl Fn(&Condition) -> String) -> String {
    let own = spec.used_with.iter().filter(|with| Some(*with) != section.used_with.as_ref());
    let each: Vec<String> = own.map(|with| any_of(with, &show)).collect();
    if each.is_empty() { String::new() } else { format!(" Only with {}.", each.join(", and with ")) }
}

/// Returns a sentence on the conditions under which the keys of a section take effect, with exceptions; empty without conditions.
fn section_used_with(section: &SectionSpec, show: impl Fn(&Condition) -> String) -> String {
    let Some(with) = &section.used_with else { return String::new() };
    let own = |condition: &Condition| condition.section == section.name;
    let keys = if with.any_of.iter().any(own) { "Its other keys" } else { "Its keys" };
    let own_with = section.parameters.iter().filter(|spec| section.used_apart.contains(&spec.key));
    let apart: Vec<String> =
        own_with.filter(|spec| !spec.used_with.is_empty()).map(|spec| format!("`{}`", spec.key)).collect();
    let save = if apart.is_empty() { String::new() } else { format!(", save {}", apart.join(" and ")) };
    format!("{keys} are read only with {}{save}.", any_of(with, &show))
}

fn any_of(with: &UsedWith, show: &impl Fn(&Condition) -> String) -> String {
    with.any_of.iter().map(show).collect::<Vec<_>>().join(" or ")
}
