//! `Channel_Max_Subs` (MBM, Algorithm 1): the level, as a number of subrequests (reads and writes), up to which waiting writes fill each channel.
//!
//! Writes first fill the channel with the fewest subrequests, up to the level of the next fuller channel. Then both are filled up to the level of the
//! channel after that, and so on. The last writes are divided evenly among the channels filled so far, and the level is rounded up. The listing in
//! the paper subtracts two channels in the wrong order, and does not subtract the writes already assigned; this code follows the paper's text
//! \[choice\].

/// Returns the level up to which `writes` waiting writes fill the channels, as a number of subrequests. `subrequests` are the current levels of the
/// channels; a channel at or above the returned level takes no write.
pub(super) fn channel_max_subs(subrequests: &[u32], writes: u32) -> u32 {
    let mut sorted = subrequests.to_vec();
    sorted.sort_unstable();
    let mut left = writes;
    for filled in 1..=sorted.len() {
        let level = sorted[filled - 1];
        let to_next = sorted.get(filled).map(|next| (next - level).saturating_mul(filled as u32));
        match to_next {
            Some(needed) if needed < left => left -= needed,
            _ => return level + left.div_ceil(filled as u32),
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;

    /// Gives each write to the channel with the fewest subrequests. Returns the most subrequests of a channel that got one.
    fn one_by_one(subrequests: &[u32], writes: u32) -> u32 {
        let mut filled = subrequests.to_vec();
        let mut level = filled.iter().copied().min().unwrap_or(0);
        for _ in 0..writes {
            if let Some(least) = filled.iter_mut().min() {
                *least += 1;
                level = level.max(*least);
            }
        }
        level
    }

    #[test]
    fn it_is_where_writes_end_that_go_to_the_emptiest_channel_one_by_one() {
        let mut random = SimRng::new(11);
        for _ in 0..2_000 {
            let channels = 1 + random.below(6);
            let subrequests: Vec<u32> = (0..channels).map(|_| random.below(9)).collect();
            let writes = random.below(30);
            assert_eq!(
                channel_max_subs(&subrequests, writes),
                one_by_one(&subrequests, writes),
                "{subrequests:?} {writes}"
            );
        }
    }

    #[test]
    fn a_busy_channel_takes_no_write_until_the_others_have_come_to_it() {
        assert_eq!(channel_max_subs(&[0, 9, 0, 0], 6), 2);
        assert_eq!(channel_max_subs(&[0, 9, 0, 0], 27), 9);
        assert_eq!(channel_max_subs(&[0, 9, 0, 0], 31), 10);
    }
}
