//! End of the warm-up and steadiness of a run: MSER, and the criterion of the SNIA.
//!
//! MSER (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997) removes so many observations
//! from the start that the confidence interval of the mean of the others is narrowest. MSER-5 (White, Cobb and Spratt, "A comparison of five
//! steady-state truncation heuristics for simulation", WSC 2000) uses means of five requests as observations; here, of five times a power of two. If
//! the warm-up takes half of the run or more, the run is too short (Hoad, Robinson and Davies, "Automating warm-up length estimation", Journal of the
//! Operational Research Society 61, 2010). That paper searches all but the last five observations. With few observations, some near the end are equal
//! by chance, and a steady run then counts as too short. Here only the first half is searched; a minimum at the end of this half means that the run
//! is too short. \[choice\]

use crate::quantities;

/// Minimum number of observations from which MSER can find the end of the warm-up. \[choice\]
pub const OBSERVATIONS_MIN: usize = 20;

/// Number of rounds (groups of consecutive batches of a run) that the criterion of the SNIA compares (Solid State Storage Performance Test
/// Specification 2.0.2, definition of steady state).
pub const ROUNDS: usize = 5;

/// Maximum range of a measure over the five rounds by the SNIA criterion, as a share of its mean.
pub(super) const RANGE_MAX: f64 = 0.2;

/// Maximum rise or fall, by the SNIA criterion, of the line fitted to a measure over the five rounds, as a share of its mean.
pub(super) const SLOPE_MAX: f64 = 0.1;

/// Returns the number of observations that MSER removes from the start; of several equally good numbers, the smallest. `None` if this is half of the
/// observations, or if there are too few.
///
/// With n observations and d removed, MSER minimises the sum of squared deviations of the others from their mean, over (n - d)^2.
pub fn mser(observations: &[f64]) -> Option<usize> {
    let count = observations.len();
    if count < OBSERVATIONS_MIN {
        return None;
    }
    let (mut mean, mut squares) = (0.0, 0.0);
    let mut best = (f64::INFINITY, 0);
    // Iterate from the end, so that the mean and the squares of the kept observations are updated in one step (Welford).
    for (left_out, &observation) in observations.iter().enumerate().rev() {
        let left = (count - left_out) as f64;
        let deviation: f64 = observation - mean;
        mean += deviation / left;
        squares += deviation * (observation - mean);
        let statistic = squares / (left * left);
        if left_out <= count / 2 && statistic <= best.0 {
            best = (statistic, left_out);
        }
    }
    (best.1 < count / 2).then_some(best.1)
}

quantities! {
    /// Change of a measure over five rounds, as shares of its mean.
    #[derive(Copy)]
    Drift as "Drift" {
        /// Maximum minus minimum of the rounds, over their mean.
        range: f64, in "share";
        /// Change of the straight line fitted to the rounds, from the first to the last, over their mean.
        slope: f64, in "share";
    }
}

impl Drift {
    /// Returns the drift of a measure from its values in five rounds; `None` if their mean is zero.
    pub fn of(rounds: &[f64; ROUNDS]) -> Option<Drift> {
        let mean = rounds.iter().sum::<f64>() / ROUNDS as f64;
        let largest = rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = rounds.iter().copied().fold(f64::INFINITY, f64::min);
        // Least-squares fit at the positions -2 to 2, whose squares add up to 10.
        let rise: f64 = rounds.iter().zip([-2.0, -1.0, 0.0, 1.0, 2.0]).map(|(round, place)| round * place / 10.0).sum();
        let span = (ROUNDS - 1) as f64;
        (mean > 0.0).then(|| Drift { range: (largest - least) / mean, slope: (rise * span).abs() / mean })
    }

    pub fn is_steady(&self) -> bool {
        self.range <= RANGE_MAX && self.slope <= SLOPE_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn statistic(observations: &[f64], left_out: usize) -> f64 {
        let kept = &observations[left_out..];
        let count = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / count;
        kept.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count * count)
    }

    proptest! {
        #[test]
        fn mser_finds_the_least_statistic_of_the_first_half(
            observations in prop::collection::vec(0.0..1e9f64, OBSERVATIONS_MIN..80),
            ramp in 0.0..1e9f64,
        ) {
            let observations: Vec<f64> =
                observations.iter().enumerate().map(|(at, value)| value + ramp / (1 + at) as f64).collect();
            let half = observations.len() / 2;
            let least = (0..=half).map(|at| statistic(&observations, at)).fold(f64::INFINITY, f64::min);
            let found = mser(&observations).unwrap_or(half);
            prop_assert!(found <= half);
            prop_assert!(statistic(&observations, found) <= least * (1.0 + 1e-9));
        }

        #[test]
        fn mser_is_the_same_in_any_unit(observations in prop::collection::vec(1..1_000u32, 1..80), power in 0..20) {
            let plain: Vec<f64> = observations.iter().map(|&value| f64::from(value)).collect();
            let scaled: Vec<f64> = plain.iter().map(|value| value * 2f64.powi(power)).collect();
            prop_assert_eq!(mser(&plain), mser(&scaled));
        }
    }

    #[test]
    fn a_step_is_left_out_and_a_level_is_not() {
        let step = |end: usize| -> Vec<f64> { (0..60).map(|at| if at < end { 1.0 } else { 3.0 }).collect() };
        assert_eq!(mser(&step(17)), Some(17));
        assert_eq!(mser(&step(29)), Some(29));
        assert_eq!(mser(&step(30)), None);
        assert_eq!(mser(&[2.5; 60]), Some(0));
    }

    #[test]
    fn a_run_that_never_levels_is_too_short() {
        let ramp: Vec<f64> = (0..60).map(f64::from).collect();
        assert_eq!(mser(&ramp), None);
        assert_eq!(mser(&[2.5; OBSERVATIONS_MIN - 1]), None);
        assert_eq!(mser(&[]), None);
    }

    #[test]
    fn rounds_are_steady_up_to_a_fifth_of_range_and_a_tenth_of_slope() {
        let flat = Drift::of(&[100.0, 110.0, 90.0, 110.0, 100.0]).expect("the mean is positive");
        assert!((flat.range - 20.0 / 102.0).abs() < 1e-12 && flat.is_steady());
        let slope =
            |rise: f64| Drift::of(&[-2.0, -1.0, 0.0, 1.0, 2.0].map(|place| 100.0 + rise * place)).expect("a mean");
        assert!((slope(2.4).slope - 0.096).abs() < 1e-12 && slope(2.4).is_steady());
        assert!((slope(-2.6).slope - 0.104).abs() < 1e-12 && !slope(-2.6).is_steady());
        let wide = Drift::of(&[100.0, 112.0, 88.0, 112.0, 88.0]).expect("the mean is positive");
        assert!(wide.range > 0.2 && !wide.is_steady());
        assert_eq!(Drift::of(&[0.0; ROUNDS]), None);
    }
}
