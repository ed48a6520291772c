//! Sets of rows, and of free controllers, as bitmaps.

use crate::ids::ChannelId;

/// A set of rows of the mesh, as a bitmap.
#[derive(Clone, Debug)]
pub(super) struct RowSet(Vec<u64>);

impl RowSet {
    pub fn empty(rows: usize) -> RowSet {
        RowSet(vec![0; rows.div_ceil(64)])
    }

    #[inline]
    pub fn insert(&mut self, row: usize) {
        self.0[row / 64] |= 1 << (row % 64);
    }

    #[inline]
    pub fn remove(&mut self, row: usize) {
        self.0[row / 64] &= !(1 << (row % 64));
    }

    #[inline]
    pub fn contains(&self, row: usize) -> bool {
        self.0[row / 64] >> (row % 64) & 1 != 0
    }

    #[inline]
    pub fn extend(&mut self, others: &RowSet) {
        self.0.iter_mut().zip(&others.0).for_each(|(own, others)| *own |= others);
    }

    #[inline]
    pub fn words(&self) -> usize {
        self.0.len()
    }

    /// Returns the 64-bit word with index `word` of the bitmap. The lowest bit of the first word is the top row.
    #[inline]
    pub fn word(&self, word: usize) -> u64 {
        self.0[word]
    }
}

/// The set of free controllers, as a bitmap. Each row has one controller.
#[derive(Clone, Debug)]
pub(in super::super) struct FreeControllers {
    words: Vec<u64>,
    count: u32,
    rows: u32,
}

impl FreeControllers {
    pub fn all(rows: u32) -> FreeControllers {
        let mut free = FreeControllers { words: vec![0; rows.div_ceil(64) as usize], count: 0, rows };
        (0..rows).for_each(|row| free.insert(ChannelId(row)));
        free
    }

    /// Adds `controller`, which must not be in the set.
    #[inline]
    pub fn insert(&mut self, controller: ChannelId) {
        self.words[controller.index() / 64] |= 1 << (controller.0 % 64);
        self.count += 1;
    }

    /// Removes `controller`, which must be in the set.
    #[inline]
    pub fn remove(&mut self, controller: ChannelId) {
        self.words[controller.index() / 64] &= !(1 << (controller.0 % 64));
        self.count -= 1;
    }

    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub const fn is_all(&self) -> bool {
        self.count == self.rows
    }

    /// Returns the 64-bit word with index `word` of the bitmap. The lowest bit of the first word is the controller of the top row.
    #[inline]
    pub fn word(&self, word: usize) -> u64 {
        self.words[word]
    }

    /// Returns the free controller nearest to `row`; the upper of two equally near ones. With `beyond`, returns the next free controller after
    /// `beyond` in this order. `None` if there is none.
    #[inline]
    pub fn nearest(&self, row: u32, beyond: Option<ChannelId>) -> Option<ChannelId> {
        if self.count == 0 {
            return None;
        }
        // With `beyond`, search from the first rows, above and below, that follow `beyond` in order of distance from `row`.
        let (up, down) = match beyond {
            None => (Some(row), row),
            Some(ChannelId(beyond)) if beyond <= row => (beyond.checked_sub(1), (2 * row - beyond).max(row + 1)),
            Some(ChannelId(beyond)) => ((2 * row).checked_sub(beyond + 1), beyond + 1),
        };
        let above = up.and_then(|up| self.last_to(up));
        let below = self.first_from(down);
        let nearest = match (above, below) {
            (Some(above), Some(below)) if below - row < row - above => below,
            (Some(above), _) => above,
            (None, below) => below?,
        };
        Some(ChannelId(nearest))
    }

    /// Returns the largest row, up to `row`, whose controller is free (row 0 is the top row); `None` if there is none.
    #[inline]
    fn last_to(&self, row: u32) -> Option<u32> {
        let mut word = row as usize / 64;
        let mut bits = self.words[word] & (u64::MAX >> (63 - row % 64));
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = self.words[word];
        }
        Some(64 * word as u32 + 63 - bits.leading_zeros())
    }

    /// Returns the smallest row, from `row` on, whose controller is free; `None` if there is none.
    #[inline]
    fn first_from(&self, row: u32) -> Option<u32> {
        let mut word = row as usize / 64;
        let mut bits = self.words.get(word)? & (u64::MAX << (row % 64));
        while bits == 0 {
            word += 1;
            bits = *self.words.get(word)?;
        }
        Some(64 * word as u32 + bits.trailing_zeros())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;

    #[test]
    fn the_nearest_one_is_that_of_a_search_over_all() {
        let mut random = SimRng::new(7);
        for rows in [1, 2, 8, 63, 64, 65, 130, 200] {
            for busy_of_8 in [0, 4, 7, 8] {
                let mut free = FreeControllers::all(rows);
                let mut is_free = vec![true; rows as usize];
                for row in 0..rows {
                    if random.below(8) < busy_of_8 {
                        free.remove(ChannelId(row));
                        is_free[row as usize] = false;
                    }
                }
                let listed: Vec<usize> =
                    (0..rows as usize).filter(|row| free.word(row / 64) >> (row % 64) & 1 != 0).collect();
                assert_eq!(listed, (0..rows as usize).filter(|&row| is_free[row]).collect::<Vec<_>>());
                assert_eq!((free.is_empty(), free.is_all()), (listed.is_empty(), listed.len() == rows as usize));
                for _ in 0..100 {
                    let row = random.below(rows);
                    let beyond = (random.below(2) == 0).then(|| random.below(rows));
                    let key = |other: u32| (other.abs_diff(row), other);
                    let others = (0..rows).filter(|&other| is_free[other as usize]);
                    let nearest =
                        others.filter(|&other| beyond.is_none_or(|b| key(other) > key(b))).min_by_key(|&o| key(o));
                    assert_eq!(free.nearest(row, beyond.map(ChannelId)), nearest.map(ChannelId), "{row} {beyond:?}");
                }
            }
        }
    }
}
