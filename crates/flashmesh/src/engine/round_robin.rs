//! Cyclic order, as used by round robin.

/// Returns the numbers below `size` in cyclic order, beginning with `start`.
#[inline]
pub(crate) fn cyclic(start: u32, size: u32) -> impl Iterator<Item = u32> {
    (start..size).chain(0..start)
}

/// Returns the position of `place`, from 0, in the cyclic order of the numbers below `places` that starts after `last`. Avoids a division, which
/// would take most of the time of a round-robin choice.
#[inline(always)]
pub(crate) fn round_robin_rank(place: u32, last: u32, places: u32) -> u32 {
    let distance = place + places - last - 1;
    if distance < places { distance } else { distance - places }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_successor_of_the_last_is_first_and_the_last_itself_is_behind_all_others() {
        for places in 1..6 {
            for last in 0..places {
                let order: Vec<u32> = cyclic((last + 1) % places, places).collect();
                let behind: Vec<u32> = order.iter().map(|&place| round_robin_rank(place, last, places)).collect();
                assert_eq!(behind, (0..places).collect::<Vec<_>>(), "{places} places, the last one {last}");
                assert_eq!(order.last(), Some(&last));
            }
        }
    }
}
