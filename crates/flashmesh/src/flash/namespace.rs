//! Resolution of namespaces: offset, capacity and planes of each.

use super::geometry::Geometry;
use crate::config::{Config, Indices, Namespace, Queue, listed, nearest, quoted};
use crate::error::NamespaceError;
use crate::ids::PlaneId;
use crate::units::Bytes;

/// Name of the only namespace of a drive without `[namespace.*]`.
const NAMESPACE_DEFAULT: &str = "drive";

/// A namespace: a range of addresses on a set of planes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedNamespace {
    pub name: String,
    /// Address of the first byte on the drive, a multiple of the page size.
    pub start: Bytes,
    /// Size of the namespace, a multiple of the page size.
    pub capacity: Bytes,
    pub channels: Indices,
    pub ways: Indices,
    pub dies: Indices,
    pub planes: Indices,
}

impl ResolvedNamespace {
    pub fn has_plane(&self, geometry: &Geometry, plane: PlaneId) -> bool {
        let die = geometry.die_of_plane(plane);
        let chip = geometry.chip_of(die);
        let has = |set: &Indices, number: u32| set.as_slice().binary_search(&number).is_ok();
        has(&self.channels, geometry.channel_of(chip).0)
            && has(&self.ways, chip.0 % geometry.chips_per_channel)
            && has(&self.dies, die.0 % geometry.dies_per_chip)
            && has(&self.planes, geometry.plane_in_die(plane))
    }
}

fn error(keys: Vec<String>, message: String, help: String) -> NamespaceError {
    NamespaceError { keys, message, help }
}

impl Config {
    /// Returns the namespaces of a drive of this geometry, in the order of the configuration. Without `[namespace.*]` the whole drive is one
    /// namespace.
    ///
    /// # Errors
    /// If the namespaces do not fit the drive; the error names the keys to change.
    pub fn namespaces(&self, geometry: &Geometry) -> Result<Vec<ResolvedNamespace>, NamespaceError> {
        if self.namespace.is_empty() {
            return Ok(vec![resolved(
                NAMESPACE_DEFAULT,
                &Namespace::default(),
                geometry,
                Bytes::ZERO,
                geometry.capacity(),
            )?]);
        }
        let mut start = Bytes::ZERO;
        let capacities = self.capacities(geometry)?;
        let resolve = |((name, namespace), capacity): (&(String, Namespace), Bytes)| {
            let resolved = resolved(name, namespace, geometry, start, capacity)?;
            start += capacity;
            Ok(resolved)
        };
        self.namespace.iter().zip(capacities).map(resolve).collect()
    }

    fn capacities(&self, geometry: &Geometry) -> Result<Vec<Bytes>, NamespaceError> {
        let page = geometry.page_size.as_u64();
        let key = |name: &str| format!("namespace.{name}.capacity");
        let mut left = u64::from(geometry.logical_pages);
        let mut open = 0;
        for (name, namespace) in &self.namespace {
            let Some(capacity) = namespace.capacity else {
                open += 1;
                continue;
            };
            let pages = capacity.as_u64() / page;
            if pages == 0 {
                let message = format!("{} ({capacity}) is less than a page of {}", key(name), geometry.page_size);
                return Err(error(vec![key(name)], message, "give it at least a page".to_owned()));
            }
            left = left.checked_sub(pages).ok_or_else(|| {
                let room = Bytes::new(left * page);
                let message = format!(
                    "{} ({capacity}) does not fit the drive: of its {:#} there are {room:#} left",
                    key(name),
                    geometry.capacity()
                );
                let keys = vec![key(name), "geometry.capacity".to_owned()];
                error(keys, message, "lower it, or leave it away for a share of what the others leave".to_owned())
            })?;
        }
        let share = left.checked_div(open).unwrap_or(0);
        let capacity = |(name, namespace): &(String, Namespace)| match namespace.capacity {
            Some(capacity) => Ok(Bytes::new(capacity.as_u64() / page * page)),
            None if share == 0 => {
                let message = format!(
                    "the other namespaces leave nothing of the {:#} of the drive to {name}",
                    geometry.capacity()
                );
                let others = self.namespace.iter().filter(|(_, other)| other.capacity.is_some());
                let keys = others.rev().map(|(other, _)| key(other)).collect();
                Err(error(keys, message, "lower the capacity of another".to_owned()))
            }
            None => Ok(Bytes::new(share * page)),
        };
        self.namespace.iter().map(capacity).collect()
    }

    /// Returns the index in `namespaces` of the namespace that receives the requests of `queue`; 0 if `queue` names no namespace.
    ///
    /// # Errors
    /// If `queue` names a namespace that does not exist; the error names `key` as the key to change.
    pub(crate) fn namespace_of(
        &self,
        queue: &Queue,
        namespaces: &[ResolvedNamespace],
        key: &str,
    ) -> Result<usize, NamespaceError> {
        let Some(wanted) = &queue.namespace else { return Ok(0) };
        let names: Vec<&str> = self.namespace.iter().map(|(name, _)| name.as_str()).collect();
        let found = namespaces.iter().position(|namespace| namespace.name == *wanted);
        found.filter(|_| !names.is_empty()).ok_or_else(|| {
            let help = match nearest(wanted, names.iter().copied()) {
                Some(name) => format!("did you mean `{name}`?"),
                None if names.is_empty() => "no [namespace.NAME] is given: leave the key away".to_owned(),
                None => format!("the namespaces are {}", listed(&names)),
            };
            error(vec![key.to_owned()], format!("{key}: there is no namespace {}", quoted(wanted)), help)
        })
    }
}

fn resolved(
    name: &str,
    namespace: &Namespace,
    geometry: &Geometry,
    start: Bytes,
    capacity: Bytes,
) -> Result<ResolvedNamespace, NamespaceError> {
    let set = |key: &str, given: &Option<Indices>, limit: &str, count: u32| {
        let Some(set) = given else { return Ok(Indices::new(0..count)) };
        let key = format!("namespace.{name}.{key}");
        match set.as_slice().last() {
            None => Err(error(vec![key.clone()], format!("{key} is empty"), "name one at least".to_owned())),
            Some(&last) if last >= count => {
                let message = format!("{key} has {last}, and {limit} is {count}");
                Err(error(vec![key, limit.to_owned()], message, format!("the numbers are 0 to {}", count - 1)))
            }
            Some(_) => Ok(set.clone()),
        }
    };
    Ok(ResolvedNamespace {
        name: name.to_owned(),
        start,
        capacity,
        channels: set("channels", &namespace.channels, "geometry.channels", geometry.channels)?,
        ways: set("ways", &namespace.ways, "geometry.chips-per-channel", geometry.chips_per_channel)?,
        dies: set("dies", &namespace.dies, "geometry.dies-per-chip", geometry.dies_per_chip)?,
        planes: set("planes", &namespace.planes, "geometry.planes-per-die", geometry.planes_per_die)?,
    })
}
