//! Tables of counts, and statistics over them.

/// Adds `times` to entry `at` of `table`; grows the table with zeros if needed.
pub(super) fn count(table: &mut Vec<u64>, at: u32, times: u64) {
    let at = at as usize;
    if table.len() <= at {
        table.resize(at + 1, 0);
    }
    table[at] += times;
}

/// Returns the mean of `of(index)` over the indices of `table`, weighted by the counts; `None` if all counts are zero.
pub(super) fn mean_of(table: &[u64], of: impl Fn(u32) -> f64) -> Option<f64> {
    let (mut sum, mut total) = (0.0, 0);
    for (at, &times) in table.iter().enumerate().filter(|&(_, &times)| times > 0) {
        sum += times as f64 * of(at as u32);
        total += times;
    }
    (total > 0).then(|| sum / total as f64)
}

/// Returns `part` divided by `whole`; `None` if `whole` is zero.
pub(super) fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
