//! The pages of a namespace lie on the planes that it is bound to, and nowhere else.

use std::ops::Range;

use crate::config::Config;
use crate::flash::geometry::Geometry;
use crate::flash::namespace::NamespaceConfig;
use crate::ids::{Lpn, Ppn};

/// The namespaces that are bound to a part of the array, each with its logical pages.
#[derive(Debug)]
pub(super) struct Namespaces {
    geometry: Geometry,
    bound: Vec<(Range<u32>, NamespaceConfig)>,
}

impl Namespaces {
    pub(super) const NAME: &'static str = "namespaces";

    pub(super) fn new(geometry: &Geometry, config: &Config) -> Namespaces {
        let planes = |namespace: &NamespaceConfig| {
            let NamespaceConfig { channels, ways, dies, planes, .. } = namespace;
            [channels, ways, dies, planes].map(|set| set.as_slice().len()).iter().product::<usize>()
        };
        let page_size = geometry.page_size.as_u64();
        let mut bound = Vec::new();
        for namespace in config.namespaces(geometry).unwrap_or_default() {
            let first = (namespace.start.as_u64() / page_size) as u32;
            if planes(&namespace) < geometry.planes() as usize {
                bound.push((first..first + (namespace.capacity.as_u64() / page_size) as u32, namespace));
            }
        }
        Namespaces { geometry: geometry.clone(), bound }
    }

    /// `lpn` has come to `ppn`.
    pub(super) fn lies(&self, lpn: Lpn, ppn: Ppn) -> Result<(), String> {
        let Some((_, namespace)) = self.bound.iter().find(|(pages, _)| pages.contains(&lpn.0)) else { return Ok(()) };
        let plane = self.geometry.plane_of(ppn);
        if namespace.has_plane(&self.geometry, plane) {
            return Ok(());
        }
        Err(format!(
            "logical page {} of namespace `{}` is at page {}, in plane {}, which is none of its planes",
            lpn.0, namespace.name, ppn.0, plane.0
        ))
    }

    /// The run is over: all pages are where they belong, those that were there before it as well.
    pub(super) fn finish(&self, lookup: impl Fn(Lpn) -> Option<Ppn>) -> Result<(), String> {
        let mut pages = self.bound.iter().flat_map(|(pages, _)| pages.clone()).map(Lpn);
        pages.try_for_each(|lpn| lookup(lpn).map_or(Ok(()), |ppn| self.lies(lpn, ppn)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::planted::{assert_fails, assert_silent, config, oracles_with, program, us, write};
    use crate::check::{Oracles, Origin};
    use crate::config::{Indices, Namespace};
    use crate::ftl::Ftl;
    use crate::ids::{Lpn, Ppn};
    use crate::units::Bytes;

    /// Pages 0 to 31 may lie anywhere, pages 32 to 63 on the first plane of the dies of channel 1: planes 4 and 6.
    fn oracles() -> Oracles {
        let mut config = config();
        let anywhere = Namespace { capacity: Some(Bytes::from_kib(4 * 32)), ..Namespace::default() };
        let bound =
            Namespace { channels: Some(Indices::new([1])), planes: Some(Indices::new([0])), ..anywhere.clone() };
        config.namespace = vec![("a".to_owned(), anywhere), ("b".to_owned(), bound)];
        oracles_with(&config)
    }

    #[test]
    fn pages_on_the_planes_of_their_namespace_are_right() {
        let mut oracles = oracles();
        // A plane has 32 pages.
        let now = write(&mut oracles, 0, 0, 31, us(0));
        let now = write(&mut oracles, 1, 4 * 32, 32, now);
        let now = write(&mut oracles, 2, 6 * 32, 63, now);
        program(&mut oracles, 6 * 32 + 4, 32, Origin::Moved(Ppn(4 * 32)), now);
        assert_silent(&oracles);
    }

    #[test]
    fn a_write_to_a_plane_of_others_is_caught() {
        let mut oracles = oracles();
        write(&mut oracles, 0, 5 * 32, 32, us(0));
        let message = "logical page 32 of namespace `b` is at page 160, in plane 5, which is none of its planes";
        assert_fails(&oracles, "namespaces", message);
    }

    #[test]
    fn a_move_and_a_placement_to_a_plane_of_others_are_caught() {
        let mut moved = oracles();
        let now = write(&mut moved, 0, 4 * 32, 32, us(0));
        program(&mut moved, 0, 32, Origin::Moved(Ppn(4 * 32)), now);
        assert_fails(&moved, "namespaces", "logical page 32 of namespace `b` is at page 0");

        let mut placed = oracles();
        let ftl = Ftl::new(&super::super::planted::geometry(), &config());
        placed.page_placed(Ppn(0), Lpn(40), &ftl, us(0));
        assert_fails(&placed, "namespaces", "logical page 40 of namespace `b` is at page 0");
    }

    #[test]
    fn a_page_that_nothing_touched_is_caught_at_the_end() {
        let mut oracles = oracles();
        oracles.finish_with(|lpn| (lpn == Lpn(50)).then_some(Ppn(7)), || Ok(()), true, us(1));
        assert_fails(&oracles, "namespaces", "logical page 50 of namespace `b` is at page 7");
    }
}
