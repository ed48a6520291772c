//! Short run of each fuzz target, and check that the canary's fault is detected.

use std::time::Duration;

use bolero::produce;
use flashmesh_fuzz::{CANARY, FUZZERS, Fuzzer};

/// Largest input length in bytes, which suffices for a trace longer than the sorting window of the readers.
const INPUT_BYTES_MAX: usize = 16 << 10;
const INPUTS: usize = 1000;
/// Number of inputs for a target whose executions each prepare and run a drive.
const INPUTS_OF_DRIVES: usize = 100;

macro_rules! run {
    ($fuzzer:expr, $shrink_time:expr) => {
        bolero::check!()
            .with_generator(produce::<Vec<u8>>().with().len(0..=INPUT_BYTES_MAX))
            .with_iterations(if $fuzzer.name == "kept_state" { INPUTS_OF_DRIVES } else { INPUTS })
            .with_max_len(usize::MAX)
            .with_shrink_time($shrink_time)
            .for_each(|bytes: &Vec<u8>| ($fuzzer.run)(bytes))
    };
}

macro_rules! smoke {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                let fuzzer = FUZZERS.iter().find(|fuzzer| fuzzer.name == stringify!($name)).expect("the target is registered");
                run!(fuzzer, Duration::from_secs(1));
            }
        )*

        #[test]
        fn every_registered_target_has_its_smoke_run() {
            let registered: Vec<&str> = FUZZERS.iter().map(|Fuzzer { name, .. }| *name).collect();
            assert_eq!(registered, [$(stringify!($name)),*]);
        }
    };
}

smoke! {
    reader_msr
    reader_ascii
    reader_fio_iolog
    reader_spc
    reader_systor
    reader_blkparse
    reader_vscsi
    reader_diskmon
    reader_alibaba
    reader_tencent
    reader_msr_short
    reader_fiu
    reader_libcachesim_csv
    reader_oracle_general
    reader_srt
    reader_any_bytes
    reader_packed_bytes
    configuration
    configuration_declared
    fitted_profile
    kept_state
}

#[test]
fn the_canary_is_found() {
    let found = std::panic::catch_unwind(|| run!(CANARY, Duration::ZERO));
    assert!(found.is_err(), "an injected fault went unnoticed");
}
