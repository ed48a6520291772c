//! Random permutations of page numbers.

use crate::engine::random::SimRng;

/// Random affine permutation of the numbers below n, in runs of consecutive numbers that stay together: run i becomes run (a i + b) mod m, where m is
/// the number of runs and a is coprime to m.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Permutation {
    step: u32,
    first: u32,
    /// Inverse of `step` modulo `runs`.
    inverse: u32,
    /// Number of runs (groups of consecutive numbers that stay together).
    runs: u32,
    /// Length of a run, as a count of numbers.
    length: u32,
}

impl Permutation {
    /// Draws a permutation of the numbers below `n`, a multiple of `length`, in runs of `length`.
    pub(in super::super) fn new(n: u32, length: u32, random: &mut SimRng) -> Permutation {
        debug_assert!(n.is_multiple_of(length), "{n} numbers are no runs of {length}");
        let runs = n / length;
        let step = loop {
            let step = random.below(runs);
            if gcd(step, runs) == 1 {
                break step;
            }
        };
        Permutation { step, first: random.below(runs), inverse: inverse(step, runs), runs, length }
    }

    /// Returns the number to which the permutation maps `i`, a number below n.
    pub(in super::super) fn image(&self, i: u32) -> u32 {
        let (run, in_run) = self.split(i);
        let image = (u64::from(self.step) * u64::from(run) + u64::from(self.first)) % u64::from(self.runs);
        image as u32 * self.length + in_run
    }

    /// Returns the number below n that the permutation maps to `image`.
    pub(in super::super) fn preimage(&self, image: u32) -> u32 {
        let (run, in_run) = self.split(image);
        let moved = u64::from(run) + u64::from(self.runs) - u64::from(self.first);
        let preimage = moved % u64::from(self.runs) * u64::from(self.inverse) % u64::from(self.runs);
        preimage as u32 * self.length + in_run
    }

    /// Writes the images of `i`, `i` + 1 and so on under the permutation to `images`. Faster than a call of [`Permutation::image`] for
    /// each.
    pub(in super::super) fn images(&self, i: u32, images: &mut [u32]) {
        let (mut next, gap) = (self.image(i), (self.runs - self.step) * self.length);
        let mut left = self.length - i % self.length;
        for image in images {
            *image = next;
            (next, left) = (next + 1, left - 1);
            if left == 0 {
                let run = next - self.length;
                next = if run >= gap { run - gap } else { run + self.step * self.length };
                left = self.length;
            }
        }
    }

    /// Returns the index of the run that contains the number `i`, and the index of `i` in that run.
    fn split(&self, i: u32) -> (u32, u32) {
        if self.length == 1 { (i, 0) } else { (i / self.length, i % self.length) }
    }
}

/// Returns the inverse of `step` modulo `n` by the extended Euclidean algorithm. `step` must be coprime to `n`.
fn inverse(step: u32, n: u32) -> u32 {
    let (mut before, mut now) = ((i64::from(n), 0), (i64::from(step), 1));
    while now.0 != 0 {
        let times = before.0 / now.0;
        (before, now) = (now, (before.0 - times * now.0, before.1 - times * now.1));
    }
    before.1.rem_euclid(i64::from(n)) as u32
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_goes_to_another_one_and_is_found_by_it() {
        let mut random = SimRng::new(3);
        for (n, length) in
            [(1, 1), (2, 1), (3, 1), (8, 1), (97, 1), (1_000, 1), (4_096, 1), (4, 4), (1_000, 4), (99, 3)]
        {
            let permutation = Permutation::new(n, length, &mut random);
            let mut images: Vec<u32> = (0..n).map(|i| permutation.image(i)).collect();
            let mut from_a_third = vec![0; (n - n / 3) as usize];
            permutation.images(n / 3, &mut from_a_third);
            assert_eq!(from_a_third, images[(n / 3) as usize..]);
            assert!(images.iter().map(|&image| permutation.preimage(image)).eq(0..n));
            assert!(images.chunks(length as usize).all(|run| run.windows(2).all(|pair| pair[1] == pair[0] + 1)));
            images.sort_unstable();
            assert!(images.into_iter().eq(0..n));
        }
    }
}
