//! Reallocation of the pages of read-intensive areas (MBM, section IV.B).
//!
//! A read request longer than `mbm.read-threshold` checks the layout of its pages. Pages are rewritten if reading them takes more operations than in
//! an even layout over the dies, or if a channel holds more than its even share. `mbm.reallocation-trigger` selects one or both of these conditions.
//! The paper describes one method, and calls it an alternative ("migrating redundant data from an overloaded channel to an underloaded channel"); the
//! trigger `channel` uses it. The other triggers use a method that the paper does not describe \[choice\]. A die with more than its even share gives
//! its last pages to the dies with the fewest pages. Pages that stay on their die but cannot share read operations are rewritten together. The
//! request has read the data into the controller, so a move costs only a program.

use crate::config::ReallocationTrigger;
use crate::flash::geometry::Geometry;
use crate::ids::{DieId, Lpn, PlaneId, Ppn};

/// Returns the number of read operations for `pages`, all on one die. Pages at equal offsets of different planes share an operation, and so do
/// mapping units of one page.
fn operations(geometry: &Geometry, pages: &[Ppn]) -> u32 {
    let page = |ppn: Ppn| ppn.0 / geometry.units_per_page;
    let place = |&ppn: &Ppn| (geometry.array_page(ppn), geometry.plane_of(ppn), page(ppn));
    let mut offsets: Vec<(u32, PlaneId, u32)> = pages.iter().map(place).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let mut count = 0;
    for group in offsets.chunk_by(|one, other| one.0 == other.0) {
        // Pages at one offset share an operation, but two pages of one plane need two.
        count += group.chunk_by(|one, other| one.1 == other.1).map(|plane| plane.len() as u32).max().unwrap_or(0);
    }
    count
}

/// Returns the number of read operations that `pages` pages need if they are laid out evenly over the dies.
fn min_operations(geometry: &Geometry, pages: u32) -> u32 {
    let dies = geometry.dies();
    let operations = |units: u32| units.div_ceil(geometry.units_per_page).div_ceil(geometry.planes_per_die);
    let (each, more) = (pages / dies, pages % dies);
    more * operations(each + 1) + (dies - more) * operations(each)
}

/// Returns the pages of a request that must be rewritten, each with its target die. Empty if the layout does not meet the condition of `trigger`.
/// `places` are the mapped pages of the request, with their locations.
pub(super) fn pages_to_move(
    geometry: &Geometry,
    trigger: ReallocationTrigger,
    places: &[(Lpn, Ppn)],
) -> Vec<(Lpn, DieId)> {
    let count = places.len() as u32;
    let mut by_die: Vec<Vec<(Lpn, Ppn)>> = vec![Vec::new(); geometry.dies() as usize];
    for &(lpn, ppn) in places {
        by_die[geometry.die_of_plane(geometry.plane_of(ppn)).index()].push((lpn, ppn));
    }
    let pages = |die: &[(Lpn, Ppn)]| die.iter().map(|&(_, ppn)| ppn).collect::<Vec<Ppn>>();
    let needed: u32 = by_die.iter().map(|die| operations(geometry, &pages(die))).sum();
    let dies_per_channel = (geometry.dies() / geometry.channels) as usize;
    let even_on_channel = count.div_ceil(geometry.channels) as usize;
    let of_channel = |channel: &[Vec<(Lpn, Ppn)>]| channel.iter().map(Vec::len).sum::<usize>();
    let is_channel_loaded = by_die.chunks(dies_per_channel).any(|channel| of_channel(channel) > even_on_channel);
    let takes_more = needed > min_operations(geometry, count);
    let is_triggered = match trigger {
        ReallocationTrigger::Either => takes_more || is_channel_loaded,
        ReallocationTrigger::Transactions => takes_more,
        ReallocationTrigger::Channel => is_channel_loaded,
    };
    if !is_triggered {
        return Vec::new();
    }
    let moves_within_channel = trigger != ReallocationTrigger::Channel;

    let mut moving = Vec::new();
    // While a channel or die has more than its even share, move the last page of its fullest die. The target is the die on the least loaded channel;
    // on a tie, the die with the fewest pages.
    let even_on_die = count.div_ceil(geometry.dies()) as usize;
    loop {
        let channel_load =
            |die: usize| of_channel(&by_die[die / dies_per_channel * dies_per_channel..][..dies_per_channel]);
        let load = |die: &usize| (channel_load(*die), by_die[*die].len());
        let Some(fullest) = (0..by_die.len())
            .filter(|&die| {
                channel_load(die) > even_on_channel || moves_within_channel && by_die[die].len() > even_on_die
            })
            .max_by_key(|&die| (by_die[die].len(), channel_load(die)))
        else {
            break;
        };
        let Some(emptiest) = (0..by_die.len()).min_by_key(load) else { break };
        if by_die[fullest].len() <= by_die[emptiest].len() && channel_load(fullest) <= channel_load(emptiest) + 1 {
            break;
        }
        let Some((lpn, ppn)) = by_die[fullest].pop() else { break };
        by_die[emptiest].push((lpn, ppn));
        moving.retain(|&(moved, _): &(Lpn, DieId)| moved != lpn);
        moving.push((lpn, DieId(emptiest as u32)));
    }
    if !moves_within_channel {
        return moving;
    }
    // Pages that stay on their die but cannot share an operation are rewritten together on that die.
    for (die, staying) in by_die.iter().enumerate() {
        let staying: Vec<(Lpn, Ppn)> =
            staying.iter().copied().filter(|(lpn, _)| moving.iter().all(|(moved, _)| moved != lpn)).collect();
        let in_pages = (staying.len() as u32).div_ceil(geometry.units_per_page);
        let ideal = in_pages.div_ceil(geometry.planes_per_die);
        if operations(geometry, &pages(&staying)) > ideal {
            moving.extend(staying.iter().map(|&(lpn, _)| (lpn, DieId(die as u32))));
        }
    }
    moving
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;

    /// Checks a request with all four pages on the first of the two dies of a channel, at three offsets: reading them takes three operations instead
    /// of one per die. The last two pages go to the other die, although the channel stays as loaded as before. The first two share an operation and
    /// stay.
    #[test]
    fn a_die_gives_half_of_its_pages_to_the_idle_die_of_its_channel() {
        let shape = config::Geometry { channels: 1, chips_per_channel: 2, planes_per_die: 2, ..Default::default() };
        let geometry = Geometry::new(&shape).expect("the geometry is valid");
        assert_eq!(geometry.dies(), 2);
        let page = |plane, offset| geometry.ppn(geometry.first_block(PlaneId(plane)), offset);
        let places = [(10, page(0, 0)), (11, page(1, 0)), (12, page(0, 1)), (13, page(0, 2))];
        let places = places.map(|(lpn, ppn)| (Lpn(lpn), ppn));
        let mut moves = pages_to_move(&geometry, ReallocationTrigger::Either, &places);
        moves.sort();
        assert_eq!(moves, [(Lpn(12), DieId(1)), (Lpn(13), DieId(1))]);
    }
}
