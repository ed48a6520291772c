//! Victim policy random-pp: any full block whose share of invalid pages reaches the over-provisioning.

use super::{Candidates, VictimSelector};
use crate::engine::random::SimRng;
use crate::flash::geometry::Geometry;

/// Selects a random full block whose share of invalid pages is at least the over-provisioning (the share of the pages of the drive that the host does
/// not see). If there is no such block, selects a random one among the blocks with the most invalid pages.
#[derive(Clone, Copy, Debug)]
pub struct RandomPp {
    invalid_pages_min: u32,
}

impl RandomPp {
    /// Creates the policy for a drive of this geometry, whose over-provisioning determines the minimum number of invalid pages of a victim.
    pub fn new(geometry: &Geometry) -> RandomPp {
        let pages = u64::from(geometry.native_pages_per_plane()) * u64::from(geometry.planes());
        let spare_pages = pages.saturating_sub(u64::from(geometry.logical_pages));
        let per_block = (spare_pages * u64::from(geometry.pages_per_block)).div_ceil(pages);
        RandomPp { invalid_pages_min: per_block as u32 }
    }
}

impl VictimSelector for RandomPp {
    fn select(&mut self, candidates: &Candidates<'_>, random: &mut SimRng) -> Option<u32> {
        let most = candidates.invalid_pages(candidates.most_invalid()?);
        let invalid_pages_min = self.invalid_pages_min.min(most);
        candidates.draw(random, |candidates, position| candidates.invalid_pages(position) >= invalid_pages_min)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::assert_uniform_over;
    use super::*;
    use crate::config;

    #[test]
    fn every_candidate_with_the_spare_share_invalid_is_chosen_equally_often() {
        // The default over-provisioning is 7 %: 53.8 of the 768 pages of a block, rounded up.
        let mut selector = RandomPp::new(&Geometry::new(&config::Geometry::default()).unwrap());
        assert_eq!(selector.invalid_pages_min, 54);
        selector.invalid_pages_min = 6;
        assert_uniform_over(&mut selector, |plane| {
            let most = plane.invalid_pages.iter().copied().max().unwrap_or(0);
            let invalid_pages_min = most.clamp(1, 6);
            plane.positions().filter(|&position| plane.invalid_pages[position as usize] >= invalid_pages_min).collect()
        });
    }
}
