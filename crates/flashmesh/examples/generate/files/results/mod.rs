//! Files generated from the declared results.

pub mod markdown;
pub mod python;
pub mod schema;

use flashmesh::report::{GroupSpec, Shape};

/// Returns all groups with a Python class in and below `group`, each once, with dependencies first.
fn classes(group: &GroupSpec) -> Vec<GroupSpec> {
    fn collect(group: &GroupSpec, found: &mut Vec<GroupSpec>) {
        if group.class.is_some() && found.iter().any(|other| other.class == group.class) {
            return;
        }
        for quantity in &group.quantities {
            match quantity.shape.item() {
                Shape::Object(inner) => collect(inner, found),
                Shape::Tagged { variants, .. } => {
                    variants
                        .iter()
                        .filter_map(|variant| variant.group.as_ref())
                        .for_each(|group| collect(group, found));
                }
                _ => {}
            }
        }
        if group.class.is_some() {
            found.push(group.clone());
        }
    }
    let mut found = Vec::new();
    collect(group, &mut found);
    found
}
