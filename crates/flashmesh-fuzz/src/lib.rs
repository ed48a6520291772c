//! Fuzz targets, all in one registry.
//!
//! A target accepts any bytes, builds its input from them, and panics if an invariant is violated.
//!
//! - `cargo test -p flashmesh-fuzz` runs each target briefly with new random bytes, on stable Rust. A failure prints its seed, and
//!   `BOLERO_RANDOM_SEED=... cargo test -p flashmesh-fuzz NAME` replays it. The canary proves that a failure is detected.
//! - `make fuzz MINUTES=60` runs all targets alternately on its own inputs, in a release build, on all processors. It resumes where
//!   the last run ended (`examples/long.rs`).
//! - `cargo bolero test -p flashmesh-fuzz NAME` (with cargo-bolero and a nightly toolchain) runs one target under libFuzzer until it
//!   is stopped.
//!
//! A new target needs a function, a line in [`FUZZERS`] and a line in `tests/smoke.rs`; a test there compares the two lists.

#![allow(missing_docs, reason = "only the tests and examples of this crate use it")]

mod choices;
mod configuration;
mod fitted;
mod kept_state;
mod oracle;
mod oracle_general;
mod readers;
mod vscsi;

pub struct Fuzzer {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

pub static FUZZERS: &[Fuzzer] = &[
    Fuzzer { name: "reader_msr", run: readers::msr },
    Fuzzer { name: "reader_ascii", run: readers::ascii },
    Fuzzer { name: "reader_fio_iolog", run: readers::fio_iolog },
    Fuzzer { name: "reader_spc", run: readers::spc },
    Fuzzer { name: "reader_systor", run: readers::systor },
    Fuzzer { name: "reader_blkparse", run: readers::blkparse },
    Fuzzer { name: "reader_vscsi", run: vscsi::vscsi },
    Fuzzer { name: "reader_diskmon", run: readers::diskmon },
    Fuzzer { name: "reader_alibaba", run: readers::alibaba },
    Fuzzer { name: "reader_tencent", run: readers::tencent },
    Fuzzer { name: "reader_msr_short", run: readers::msr_short },
    Fuzzer { name: "reader_fiu", run: readers::fiu },
    Fuzzer { name: "reader_libcachesim_csv", run: readers::libcachesim_csv },
    Fuzzer { name: "reader_oracle_general", run: oracle_general::oracle_general },
    Fuzzer { name: "reader_srt", run: readers::srt },
    Fuzzer { name: "reader_any_bytes", run: readers::any_bytes },
    Fuzzer { name: "reader_packed_bytes", run: readers::packed_bytes },
    Fuzzer { name: "configuration", run: configuration::any_text },
    Fuzzer { name: "configuration_declared", run: configuration::declared_parameters },
    Fuzzer { name: "fitted_profile", run: fitted::profile },
    Fuzzer { name: "kept_state", run: kept_state::kept_state },
];

/// A target with an injected fault, not in the registry: fuzzing must detect it.
pub static CANARY: Fuzzer = Fuzzer { name: "canary", run: readers::canary };
