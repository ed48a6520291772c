//! Hash of request streams, for tests and benchmarks.

use flashmesh_workload::IoRequest;

/// Running 64-bit FNV-1a hash over the little-endian fields of requests; equal on every machine.
#[derive(Clone, Copy, Debug)]
pub struct Fingerprint(u64);

impl Fingerprint {
    pub fn new() -> Fingerprint {
        Fingerprint(0xcbf2_9ce4_8422_2325)
    }

    pub fn add(&mut self, request: &IoRequest) {
        let kind = request.kind.index() as u64;
        let fields =
            [request.arrival.as_ps(), kind, request.offset.as_u64(), request.size.as_u64(), u64::from(request.stream)];
        for byte in fields.into_iter().flat_map(u64::to_le_bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    pub fn value(self) -> u64 {
        self.0
    }
}
