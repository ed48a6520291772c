//! Random bijections of page numbers.

use crate::engine::random::SimRng;

/// A random bijection of the numbers below n: i goes to (a i + b) mod n, with a coprime to n.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Renaming {
    step: u32,
    first: u32,
    /// Of `step`, modulo n.
    inverse: u32,
    n: u32,
}

impl Renaming {
    pub(in super::super) fn new(n: u32, random: &mut SimRng) -> Renaming {
        let step = loop {
            let step = random.below(n);
            if gcd(step, n) == 1 {
                break step;
            }
        };
        Renaming { step, first: random.below(n), inverse: inverse(step, n), n }
    }

    /// Where `i`, below n, goes to.
    pub(in super::super) fn image(&self, i: u32) -> u32 {
        ((u64::from(self.step) * u64::from(i) + u64::from(self.first)) % u64::from(self.n)) as u32
    }

    /// Which number goes to `image`, below n.
    pub(in super::super) fn original(&self, image: u32) -> u32 {
        let moved = u64::from(image) + u64::from(self.n) - u64::from(self.first);
        (moved % u64::from(self.n) * u64::from(self.inverse) % u64::from(self.n)) as u32
    }

    /// The images of 0, 1, 2 and so on.
    pub(in super::super) fn images(&self) -> Images {
        Images { step: self.step, next: self.first, left: self.n, n: self.n }
    }
}

/// The images of all numbers, in their order.
pub(in super::super) struct Images {
    step: u32,
    next: u32,
    left: u32,
    n: u32,
}

impl Iterator for Images {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        let image = self.next;
        let gap = self.n - self.step;
        self.next = if image >= gap { image - gap } else { image + self.step };
        Some(image)
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
            let renaming = Renaming::new(n, &mut random);
            let mut images: Vec<u32> = renaming.images().collect();
            assert!((0..n).map(|i| renaming.image(i)).eq(images.iter().copied()));
            assert!(images.iter().map(|&image| renaming.original(image)).eq(0..n));
            images.sort_unstable();
            assert!(images.into_iter().eq(0..n));
        }
    }
}
