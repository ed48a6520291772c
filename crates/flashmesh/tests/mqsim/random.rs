//! The random numbers of MQSim: MRG32k3a (L'Ecuyer, Operations Research 47, 1999), whose seeds are powers of matrices taken in
//! 64-bit arithmetic that wraps around, so that they are not those of the published generator.

const M1: i64 = 4_294_967_087;
const M2: i64 = 4_294_944_443;

type Matrix = [[i64; 3]; 3];

/// Numbers in (0, 1).
#[derive(Debug)]
pub struct Mrg {
    first: [f64; 3],
    second: [f64; 3],
}

fn product(a: &Matrix, b: &Matrix, modulus: i64) -> Matrix {
    let mut product = [[0; 3]; 3];
    for (row, cells) in product.iter_mut().enumerate() {
        for (column, cell) in cells.iter_mut().enumerate() {
            for at in 0..3 {
                *cell = a[row][at].wrapping_mul(b[at][column]).wrapping_add(*cell) % modulus;
            }
        }
    }
    product
}

fn applied(a: &Matrix, vector: [i64; 3], modulus: i64) -> [i64; 3] {
    let mut product = [0; 3];
    for (row, cell) in product.iter_mut().enumerate() {
        for at in 0..3 {
            *cell = a[row][at].wrapping_mul(vector[at]).wrapping_add(*cell) % modulus;
        }
    }
    product
}

/// The state that `seed` begins with: advanced n x 2^e steps, n = seed / 200 + 1, e = seed mod 200.
fn state(step: Matrix, seed: u32, modulus: i64) -> [f64; 3] {
    let mut power = (0..seed % 200).fold(step, |power, _| product(&power, &power, modulus));
    let mut count = seed / 200 + 1;
    let mut state = [1; 3];
    while count > 0 {
        if count % 2 == 1 {
            state = applied(&power, state, modulus);
        }
        count /= 2;
        power = product(&power, &power, modulus);
    }
    state.map(|word| word as f64)
}

/// `value` modulo `modulus`, not negative.
fn reduced(value: f64, modulus: i64) -> f64 {
    let modulus = modulus as f64;
    let rest = value - (value / modulus).trunc() * modulus;
    if rest < 0.0 { rest + modulus } else { rest }
}

impl Mrg {
    pub fn new(seed: u32) -> Mrg {
        Mrg {
            first: state([[0, 1, 0], [0, 0, 1], [M1 - 810_728, 1_403_580, 0]], seed, M1),
            second: state([[0, 1, 0], [0, 0, 1], [M2 - 1_370_589, 0, 527_612]], seed, M2),
        }
    }

    pub fn next(&mut self) -> f64 {
        let [a, b, c] = self.first;
        let first = reduced(1_403_580.0 * b - 810_728.0 * a, M1);
        self.first = [b, c, first];
        let [a, b, c] = self.second;
        let second = reduced(527_612.0 * c - 1_370_589.0 * a, M2);
        self.second = [b, c, second];
        let difference = first - second;
        let difference = if difference < 0.0 { difference + M1 as f64 } else { difference };
        (difference + 1.0) * 2.328_306_549_295_728e-10
    }
}
