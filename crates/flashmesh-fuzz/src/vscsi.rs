//! Binary traces of CloudPhysics vscsi with injected faults.

use flashmesh::config::TraceFormat;

use crate::choices::FuzzInput;
use crate::oracle::{self, ReferenceRequest};
use crate::readers::{Setup, check_records, offset, size};

pub fn vscsi(bytes: &[u8]) {
    let mut choices = FuzzInput::new(bytes);
    let (format, record_bytes) = choices.pick(&[(TraceFormat::Vscsi1, 32), (TraceFormat::Vscsi2, 40)]);
    let setup = Setup::new(&mut choices, format);
    let cut = if choices.one_in(2) { choices.below(record_bytes) } else { 0 };
    let mut trace = Vec::new();
    let mut time_us = choices.number() >> 8;
    while !choices.is_used_up() && trace.len() < 600 * record_bytes {
        time_us = match choices.below(32) {
            0 => choices.number(),
            1 => time_us.saturating_sub(u64::from(choices.byte())),
            _ => time_us.saturating_add(u64::from(choices.byte())),
        };
        let code: u16 = choices.pick(&[0x28, 0x2a, 0x88, 0x8a, 0x08, 0x9c, 0x35, 0x42, 0x00, 0x128]);
        let (length, block) = (size(&mut choices) as u32, offset(&mut choices) / 512);
        let mut record = match format {
            TraceFormat::Vscsi1 => {
                [[1, length, 1].map(u32::to_le_bytes).concat(), [code, 0x0107].map(u16::to_le_bytes).concat()]
            }
            _ => [[code, 0x0207].map(u16::to_le_bytes).concat(), [1, length, 1].map(u32::to_le_bytes).concat()],
        }
        .concat();
        record.extend([block, time_us, 345].map(u64::to_le_bytes).concat());
        record.truncate(record_bytes);
        if choices.one_in(24) {
            let place = choices.below(record_bytes);
            record[place] ^= choices.byte();
        }
        trace.extend(record);
    }
    trace.truncate(trace.len().saturating_sub(cut));
    let expected: Vec<ReferenceRequest> =
        trace.chunks(record_bytes).filter_map(|record| oracle::vscsi(record, record_bytes, &setup.rules)).collect();
    let records = trace.len().div_ceil(record_bytes) as u64;
    check_records(&trace, records, &setup, expected);
}
