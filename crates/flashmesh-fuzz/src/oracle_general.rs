//! Binary traces of oracleGeneral with injected faults.

use flashmesh::config::TraceFormat;

use crate::choices::FuzzInput;
use crate::oracle::{self, ReferenceRequest};
use crate::readers::{Setup, check_records, offset, size};

const RECORD_BYTES: usize = 24;

pub fn oracle_general(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let setup = Setup::new(&mut choices, TraceFormat::OracleGeneral);
    let cut = if choices.one_in(2) { choices.below(RECORD_BYTES) } else { 0 };
    let mut trace = Vec::new();
    let mut seconds = choices.number() as u32 >> 8;
    while !choices.is_used_up() && trace.len() < 600 * RECORD_BYTES {
        seconds = match choices.below(32) {
            0 => choices.number() as u32,
            1 => seconds.saturating_sub(u32::from(choices.byte())),
            _ => seconds.saturating_add(u32::from(choices.byte() % 4)),
        };
        let (length, block) = (size(&mut choices) as u32, offset(&mut choices) / 512);
        let next = choices.pick(&[-1, 7, i64::MAX]);
        let mut record =
            [&seconds.to_le_bytes()[..], &block.to_le_bytes(), &length.to_le_bytes(), &next.to_le_bytes()].concat();
        if choices.one_in(24) {
            let place = choices.below(RECORD_BYTES);
            record[place] ^= choices.byte();
        }
        trace.extend(record);
    }
    trace.truncate(trace.len().saturating_sub(cut));
    let expected: Vec<ReferenceRequest> =
        trace.chunks(RECORD_BYTES).filter_map(|record| oracle::oracle_general(record, &setup.rules)).collect();
    let records = trace.len().div_ceil(RECORD_BYTES) as u64;
    check_records(&trace, records, &setup, expected);
}
