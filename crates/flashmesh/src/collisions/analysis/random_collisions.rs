//! Collision probabilities by chance, for k outstanding reads that are placed uniformly at random on n dies.

/// Returns the probability that at least two of `outstanding` (k) reads share one of `dies` (n) dies: the birthday problem, 1 - n! / ((n - k)! n^k).
pub fn state_collision_probability(outstanding: u32, dies: u32) -> f64 {
    if outstanding > dies {
        return 1.0;
    }
    1.0 - (0..outstanding).map(|before| f64::from(dies - before) / f64::from(dies)).product::<f64>()
}

/// Returns the probability that an arriving read, one of `outstanding` (k) reads, meets another read at its die, one of `dies` (n): 1 - (1 - 1/n)^(k
/// - 1).
pub fn read_collision_probability(outstanding: u32, dies: u32) -> f64 {
    let elsewhere = 1.0 - 1.0 / f64::from(dies);
    1.0 - (1..outstanding).map(|_| elsewhere).product::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_birthday_problem() {
        assert_eq!((state_collision_probability(0, 16), state_collision_probability(1, 16)), (0.0, 0.0));
        assert!((state_collision_probability(23, 365) - 0.507_297).abs() < 1e-6);
        assert_eq!(state_collision_probability(17, 16), 1.0);
    }

    #[test]
    fn eight_random_reads_on_sixteen_dies() {
        // Eight reads have no collision with probability 16 x 15 x ... x 9 / 16^8. An arriving read meets each of the seven others with probability 1
        // / 16.
        assert!((state_collision_probability(8, 16) - (1.0 - 518_918_400.0 / 4_294_967_296.0)).abs() < 1e-12);
        assert!((read_collision_probability(8, 16) - (1.0 - 170_859_375.0 / 268_435_456.0)).abs() < 1e-12);
        // Table 2 of Patterned Read Collisions (IEEE Access 2023) has an average OCC of 7.8 and a collision ratio of 86.0 %. Seven outstanding reads
        // in a fifth of the states and eight in the others give both.
        let mixed = 0.8 * state_collision_probability(8, 16) + 0.2 * state_collision_probability(7, 16);
        assert!((mixed - 0.860).abs() < 0.001, "{mixed}");
    }
}
