//! Weighted choice that needs one random draw and one comparison, whatever the number of weights.

use rand_core::Rng;

use super::random::Generator;

/// A table of Walker's alias method, built by Vose's algorithm ("A linear algorithm for generating random numbers with a given
/// distribution", 1991). Implemented here because the sequence of draws must stay the same for a seed.
#[derive(Clone, Debug)]
pub(crate) struct AliasTable {
    columns: Vec<Column>,
}

/// A column of the alias method: a draw below the limit selects the index of the column itself, any other draw the second index.
#[derive(Clone, Copy, Debug)]
struct Column {
    own_below: u64,
    other: u32,
}

impl AliasTable {
    /// Creates a table of `weights` above 0.
    pub(crate) fn new(weights: &[f64]) -> AliasTable {
        AliasTable { columns: columns_of(weights) }
    }

    /// Draws the index of a weight, with a probability proportional to the weight.
    pub(crate) fn choose(&self, generator: &mut Generator) -> usize {
        // The high half of the product is a uniform column, the low half a uniform position in it.
        let product = u128::from(generator.next_u64()) * self.columns.len() as u128;
        let (column, place) = ((product >> 64) as usize, product as u64);
        let Column { own_below, other } = self.columns[column];
        if place < own_below { column } else { other as usize }
    }
}

fn columns_of(weights: &[f64]) -> Vec<Column> {
    const FULL: f64 = (1_u128 << 64) as f64;
    let scale = weights.len() as f64 / weights.iter().sum::<f64>();
    let mut heights: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
    let mut columns: Vec<Column> =
        (0..weights.len()).map(|own| Column { own_below: u64::MAX, other: own as u32 }).collect();
    let (mut low, mut high): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&column| heights[column] < 1.0);
    while let (Some(&short), Some(&tall)) = (low.last(), high.last()) {
        low.pop();
        columns[short] = Column { own_below: (heights[short] * FULL) as u64, other: tall as u32 };
        heights[tall] -= 1.0 - heights[short];
        if heights[tall] < 1.0 {
            high.pop();
            low.push(tall);
        }
    }
    // Rounding can leave columns on either stack. Such a column is full, and keeps only its own index.
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alias_columns_hold_exactly_the_weights() {
        let weights = [0.1, 0.4, 0.2, 0.05, 0.25];
        let columns = columns_of(&weights);
        let mut mass = [0.0; 5];
        for (own, column) in columns.iter().enumerate() {
            let share = column.own_below as f64 / (1_u128 << 64) as f64;
            mass[own] += share / 5.0;
            mass[column.other as usize] += (1.0 - share) / 5.0;
        }
        for (mass, weight) in mass.iter().zip(weights) {
            assert!((mass - weight).abs() < 1e-15, "{mass} instead of {weight}");
        }
    }
}
