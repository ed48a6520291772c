//! Random processor cores of the controller. Most of their jobs take no time.

use flashmesh::config::{CoreChoice, Firmware};
use flashmesh::units::Time;
use proptest::prelude::*;
use proptest::sample::select;

fn time() -> impl Strategy<Value = Time> {
    select(vec![Time::ZERO, Time::from_ns(300), Time::from_us(2)])
}

pub fn cores() -> impl Strategy<Value = Firmware> {
    let times = (time(), time(), time(), time(), time(), time(), time());
    let any = (1..=4u32, select(vec![CoreChoice::FirstFree, CoreChoice::Address]), times).prop_map(
        |(cores, core_choice, times)| {
            let (read_time, write_time, other_time, look_up_time, split_time, completion_time, collect_time) = times;
            Firmware {
                cores,
                core_choice,
                read_time,
                write_time,
                other_time,
                look_up_time,
                split_time,
                completion_time,
                collect_time,
            }
        },
    );
    prop_oneof![3 => Just(Firmware::default()), 1 => any]
}
