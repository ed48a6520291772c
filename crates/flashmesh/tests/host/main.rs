//! Host tests: interfaces, the device cache, streams, and the drive simulated by MQSim.
#![allow(missing_docs)]

#[path = "../support/mod.rs"]
mod support;

mod cached_streams;
mod cores;
mod cut_beside_writes;
mod device_cache;
mod interfaces;
mod latency_start;
mod mqsim_failures;
mod mqsim_single;
mod phases;
mod power_cuts_of_the_cache;
mod reading_ahead;
mod stop_time;
mod streams;
mod stripes;
mod throttled_writes;
