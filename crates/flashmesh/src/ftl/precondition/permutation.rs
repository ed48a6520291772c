//! Random permutations of page numbers.

use crate::engine::random::SimRng;

/// A random affine permutation of the numbers below n: i goes to (a i + b) mod n, with a coprime to n.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Permutation {
    step: u32,
    first: u32,
    /// Of `step`, modulo n.
    inverse: u32,
    n: u32,
}

impl Permutation {
    pub(in super::super) fn new(n: u32, random: &mut SimRng) -> Permutation {
        let step = loop {
            let step = random.below(n);
            if gcd(step, n) == 1 {
                break step;
            }
        };
        Permutation { step, first: random.below(n), inverse: inverse(step, n), n }
    }

    /// Where `i`, below n, goes to.
    pub(in super::super) fn image(&self, i: u32) -> u32 {
        ((u64::from(self.step) * u64::from(i) + u64::from(self.first)) % u64::from(self.n)) as u32
    }

    /// The number that goes to `image`, below n.
    pub(in super::super) fn preimage(&self, image: u32) -> u32 {
        let moved = u64::from(image) + u64::from(self.n) - u64::from(self.first);
        (moved % u64::from(self.n) * u64::from(self.inverse) % u64::from(self.n)) as u32
    }

    /// Writes the images of `i`, i + 1 and so on to `images`.
    pub(in super::super) fn images(&self, i: u32, images: &mut [u32]) {
        let (mut next, gap) = (self.image(i), self.n - self.step);
        for image in images {
            *image = next;
            next = if next >= gap { next - gap } else { next + self.step };
        }
    }
}

/// The number whose product with `step`, which is coprime to n, is 1 modulo n: by Euclid's algorithm.
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
        for n in [1, 2, 3, 8, 97, 1_000, 4_096] {
            let permutation = Permutation::new(n, &mut random);
            let mut images: Vec<u32> = (0..n).map(|i| permutation.image(i)).collect();
            let mut from_a_third = vec![0; (n - n / 3) as usize];
            permutation.images(n / 3, &mut from_a_third);
            assert_eq!(from_a_third, images[(n / 3) as usize..]);
            assert!(images.iter().map(|&image| permutation.preimage(image)).eq(0..n));
            images.sort_unstable();
            assert!(images.into_iter().eq(0..n));
        }
    }
}
