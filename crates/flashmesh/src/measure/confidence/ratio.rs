//! Half-widths of confidence intervals of ratios of two sums over batches, with autocorrelation.

/// Minimum number of batches for an interval. \[choice\]
const BATCHES_MIN: usize = 10;

/// The 97.5 % quantile of the normal distribution.
pub(super) const NORMAL_QUANTILE: f64 = 1.959_964;

/// Maximum of the estimated correlation of consecutive batches. Higher estimates are reduced to this maximum, because they come from runs that are
/// too short for a correction. \[choice\]
const CORRELATION_MAX: f64 = 0.8;

/// Minimum of the estimated correlation of consecutive batches. Negative, because estimates of independent batches vary around zero: a correction for
/// positive estimates only would make the intervals too wide on average. \[choice\]
const CORRELATION_MIN: f64 = -0.25;

/// Returns the half-width of the 95 % confidence interval of the sum of `over` divided by the sum of `under`, which have a value for each batch.
/// `None` for fewer than [`BATCHES_MIN`] batches, or if `under` adds up to zero.
pub fn half_width(over: &[f64], under: &[f64]) -> Option<f64> {
    let residuals = residuals(over, under)?;
    Some(half_width_of_sum(&residuals) / under.iter().sum::<f64>())
}

/// Like [`half_width`], but first subtracts the linear trend of the residuals, so that drift does not widen the interval. `None` in the
/// same cases as [`half_width`].
pub fn half_width_without_drift(over: &[f64], under: &[f64]) -> Option<f64> {
    let mut residuals = residuals(over, under)?;
    let middle = (residuals.len() - 1) as f64 / 2.0;
    let places = || (0..over.len()).map(|index| index as f64 - middle);
    let products: f64 = residuals.iter().zip(places()).map(|(residual, place)| residual * place).sum();
    let slope = products / places().map(|place| place * place).sum::<f64>();
    residuals.iter_mut().zip(places()).for_each(|(residual, place)| *residual -= slope * place);
    Some(half_width_of_sum(&residuals) / under.iter().sum::<f64>())
}

/// Returns the residual `over - ratio * under` of each batch, where `ratio` is the ratio of the sums. The residuals add up to zero. `None` for fewer
/// than [`BATCHES_MIN`] batches, or if `under` adds up to zero.
fn residuals(over: &[f64], under: &[f64]) -> Option<Vec<f64>> {
    let below: f64 = under.iter().sum();
    if over.len() < BATCHES_MIN || below <= 0.0 {
        return None;
    }
    let ratio = over.iter().sum::<f64>() / below;
    Some(over.iter().zip(under).map(|(over, under)| over - ratio * under).collect())
}

/// Returns the half-width of the 95 % confidence interval of the sum of `residuals`, corrected for their autocorrelation at lag 1.
fn half_width_of_sum(residuals: &[f64]) -> f64 {
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    if squares <= 0.0 {
        return 0.0;
    }
    let batches = residuals.len() as f64;
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let found = products / squares;
    // The estimate is too low by (1 + 3 r) / n (Kendall, "Note on bias in the estimation of autocorrelation", Biometrika 41, 1954).
    let correlation = (found + (1.0 + 3.0 * found) / batches).clamp(CORRELATION_MIN, CORRELATION_MAX);
    let inflation = (1.0 + correlation) / (1.0 - correlation);
    let deviation = (squares / (batches - 1.0) * batches * inflation).sqrt();
    student_quantile(((batches - 1.0) / inflation.max(1.0)).max(4.0)) * deviation
}

/// Returns the 97.5 % quantile of Student's distribution, by the Cornish-Fisher expansion (Abramowitz and Stegun, 26.7.5), within 0.1 % from 4
/// degrees of freedom on. Uses only sums and products, so that results are equal on all machines.
fn student_quantile(freedom: f64) -> f64 {
    let x = NORMAL_QUANTILE;
    let (x3, x5, x7, x9) = (x.powi(3), x.powi(5), x.powi(7), x.powi(9));
    let terms = [
        (x3 + x) / 4.0,
        (5.0 * x5 + 16.0 * x3 + 3.0 * x) / 96.0,
        (3.0 * x7 + 19.0 * x5 + 17.0 * x3 - 15.0 * x) / 384.0,
        (79.0 * x9 + 776.0 * x7 + 1482.0 * x5 - 1920.0 * x3 - 945.0 * x) / 92_160.0,
    ];
    terms.iter().rev().fold(0.0, |sum, term| (sum + term) / freedom) + x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;

    #[test]
    fn quantiles_of_students_distribution_are_those_of_the_tables() {
        for (freedom, expected) in [(4.0, 2.776_4), (5.0, 2.570_6), (10.0, 2.228_1), (31.0, 2.039_5), (1e9, 1.959_964)]
        {
            assert!((student_quantile(freedom) / expected - 1.0).abs() < 1e-3, "{freedom}");
        }
    }

    #[test]
    fn too_few_batches_tell_nothing_and_equal_ones_have_no_width() {
        assert_eq!(half_width(&[1.0; BATCHES_MIN - 1], &[1.0; BATCHES_MIN - 1]), None);
        assert_eq!(half_width(&[1.0; 20], &[0.0; 20]), None);
        assert_eq!(half_width(&[3.0; 20], &[1.5; 20]), Some(0.0));
    }

    /// Checks values that follow x' = r x + e, as batches with correlation r do. The variance of their mean is (1 + r) / (1 - r) times that of
    /// independent values.
    #[test]
    fn intervals_hold_the_mean_of_correlated_batches_in_95_of_100_cases() {
        let mut random = SimRng::new(3);
        let mut uniform = || f64::from(random.below(1 << 20)) / f64::from(1 << 20) - 0.5;
        for correlation in [0.0, 0.3, 0.6] {
            let mut held = 0;
            for _ in 0..2_000 {
                let mut value = 0.0;
                let values: Vec<f64> = (0..48)
                    .map(|_| {
                        value = correlation * value + uniform();
                        10.0 + value
                    })
                    .collect();
                let mean = values.iter().sum::<f64>() / 48.0;
                let width = half_width(&values, &[1.0; 48]).expect("48 batches suffice");
                held += u32::from((mean - 10.0).abs() <= width);
            }
            assert!((1_840..=1_950).contains(&held), "{correlation}: {held} of 2,000");
        }
    }
}
