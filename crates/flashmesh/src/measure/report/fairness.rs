//! Effect of streams on one another, compared with each stream alone.
//!
//! The measures come from the MQSim paper (Tavakkol et al., FAST 2018). The slowdown of a stream is its mean latency when all streams run, divided by
//! its mean latency alone. Fairness is the minimum slowdown divided by the maximum slowdown.

use crate::quantities;

quantities! {
    /// Evenness of the slowdown of streams, by the measures of the MQSim paper (Tavakkol et al., FAST 2018).
    Fairness as "Fairness" {
        /// Slowdown of each stream, in the order of the configuration.
        streams: Vec<StreamFairness>;
        /// Maximum slowdown of any stream.
        slowdown_max: Option<f64>, in "ratio", null "when no stream has a slowdown";
        /// Minimum slowdown over maximum slowdown: 1 if all streams are slowed down equally, near 0 if one is slowed down much more.
        fairness: Option<f64>, in "ratio", null "when no stream has a slowdown";
        /// Maximum slowdown over minimum slowdown: 1 if all streams are slowed down equally.
        unfairness: Option<f64>, in "ratio", null "when no stream has a slowdown";
    }
}

quantities! {
    /// Effect of the other streams on one stream.
    StreamFairness as "StreamFairness" {
        /// Name of the stream.
        name: String;
        /// Mean latency of the stream when all streams run.
        together_ps: Option<f64>, in "ps", null "when it completed nothing";
        /// Mean latency of the stream on the same drive when no other stream issues requests. The run has as many requests of the stream as
        /// that of all streams, unless both are lengthened until they are steady (`--until-steady`).
        alone_ps: Option<f64>, in "ps", null "when it completed nothing";
        /// `together_ps` over `alone_ps`: 1 if the others do not disturb the stream.
        slowdown: Option<f64>, in "ratio", null "when it completed nothing";
        /// 99th percentile of the latency of the stream when all streams run.
        together_p99_ps: Option<u64>, in "ps", null "when it completed nothing";
        /// 99th percentile of the latency of the stream when no other stream issues requests.
        alone_p99_ps: Option<u64>, in "ps", null "when it completed nothing";
        /// Whether the run of the stream alone is `steady` in its own `steadiness`. Otherwise the slowdown may change with the number of
        /// requests.
        alone_steady: Option<bool>, null "when it completed nothing";
    }
}

/// Mean and 99th percentile of the latency of a stream in one run, in picoseconds; `None` if the stream completed nothing.
pub type StreamLatency = Option<(f64, u64)>;

impl Fairness {
    /// Compares the latency of each stream when all streams run with its latency alone. `streams` yields for each stream its name, its latency
    /// together with the others, its latency alone, and whether the run of the stream alone is steady.
    pub fn new(streams: impl IntoIterator<Item = (String, StreamLatency, StreamLatency, bool)>) -> Fairness {
        let compared = |(name, together, alone, is_steady): (String, StreamLatency, StreamLatency, bool)| {
            let alone_steady = alone.map(|_| is_steady);
            let ((together_ps, together_p99_ps), (alone_ps, alone_p99_ps)) = (together.unzip(), alone.unzip());
            let slowdown = together_ps.zip(alone_ps).filter(|(_, alone)| *alone > 0.0);
            let slowdown = slowdown.map(|(together, alone)| together / alone);
            StreamFairness { name, together_ps, alone_ps, slowdown, together_p99_ps, alone_p99_ps, alone_steady }
        };
        let streams: Vec<StreamFairness> = streams.into_iter().map(compared).collect();
        let slowdowns = || streams.iter().filter_map(|stream| stream.slowdown);
        let (least, most) = (slowdowns().reduce(f64::min), slowdowns().reduce(f64::max));
        let over = |part: Option<f64>, whole: Option<f64>| part.zip(whole).map(|(part, whole)| part / whole);
        Fairness { slowdown_max: most, fairness: over(least, most), unfairness: over(most, least), streams }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fairness_is_the_least_slowdown_over_the_largest() {
        let stream = |name: &str, together, alone| (name.to_owned(), together, alone, name == "a");
        let silent = stream("silent", None, None);
        let found = Fairness::new([
            stream("a", Some((30.0, 90)), Some((10.0, 15))),
            silent.clone(),
            stream("b", Some((8.0, 9)), Some((4.0, 5))),
        ]);
        let slowdowns: Vec<Option<f64>> = found.streams.iter().map(|stream| stream.slowdown).collect();
        assert_eq!(slowdowns, [Some(3.0), None, Some(2.0)]);
        let p99_ps: Vec<_> = found.streams.iter().map(|stream| (stream.together_p99_ps, stream.alone_p99_ps)).collect();
        assert_eq!(p99_ps, [(Some(90), Some(15)), (None, None), (Some(9), Some(5))]);
        let steady: Vec<_> = found.streams.iter().map(|stream| stream.alone_steady).collect();
        assert_eq!(steady, [Some(true), None, Some(false)]);
        assert_eq!((found.slowdown_max, found.fairness, found.unfairness), (Some(3.0), Some(2.0 / 3.0), Some(1.5)));
        let found = Fairness::new([silent]);
        assert_eq!((found.slowdown_max, found.fairness, found.unfairness), (None, None, None));
    }
}
