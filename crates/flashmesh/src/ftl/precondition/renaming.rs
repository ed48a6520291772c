//! Random bijections of page numbers.

use crate::engine::random::SimRng;

/// A random bijection of the numbers below n: i goes to (a i + b) mod n, with a coprime to n. Iterates over the images
/// of 0, 1, 2 and so on.
pub(super) struct Renaming {
    step: u32,
    next: u32,
    left: u32,
    n: u32,
}

impl Renaming {
    pub(super) fn new(n: u32, random: &mut SimRng) -> Renaming {
        let step = loop {
            let step = random.below(n);
            if gcd(step, n) == 1 {
                break step;
            }
        };
        Renaming { step, next: random.below(n), left: n, n }
    }
}

impl Iterator for Renaming {
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

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
