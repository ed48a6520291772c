//! Types of the C interface.

use flashmesh::report::Status;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::{Completion, Submission};
use flashmesh::units::{Bytes, Time};

/// Operation of a request.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashmeshOp {
    /// Read the bytes.
    Read = 0,
    /// Write the bytes.
    Write = 1,
    /// Deallocate the bytes: their data is lost.
    Deallocate = 2,
    /// Complete when all earlier writes are on flash. Covers no bytes.
    Flush = 3,
    /// Set the bytes to zero, without a data transfer.
    WriteZeroes = 4,
}

/// Completion status of a request.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashmeshStatus {
    /// The request was executed.
    Success = 0,
    /// The drive does not support the operation.
    InvalidOpcode = 1,
    /// The request exceeds the maximum transfer size of a command.
    InvalidField = 2,
    /// The stream of the request is attached to no namespace.
    InvalidNamespace = 3,
    /// The request exceeds its namespace.
    LbaOutOfRange = 4,
}

/// A request to submit.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FlashmeshRequest {
    /// Arrival time, in picoseconds.
    pub time_ps: u64,
    /// Offset in the namespace of the stream, in bytes: a multiple of the sector size.
    pub offset: u64,
    /// Size in bytes: a positive multiple of the sector size; 0 for a flush.
    pub bytes: u64,
    /// Index of the stream, from 0.
    pub stream: u32,
    /// Operation: a `FlashmeshOp`.
    pub op: u8,
}

/// A completed request.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FlashmeshCompletion {
    /// Id that was returned at submission.
    pub id: u64,
    /// Time at which the completion reached the host, in picoseconds.
    pub time_ps: u64,
    /// Time from arrival to completion, in picoseconds.
    pub latency_ps: u64,
    /// Completion status: a `FlashmeshStatus`.
    pub status: u8,
}

impl FlashmeshRequest {
    /// Returns the request in the types of the library, or an error if `op` is unknown.
    pub(crate) fn submission(&self) -> Result<Submission, String> {
        let Some(&kind) = RequestKind::ALL.get(usize::from(self.op)) else {
            return Err(format!("there is no operation {}: see FlashmeshOp", self.op));
        };
        Ok(Submission {
            time: Time::from_ps(self.time_ps),
            kind,
            offset: Bytes::new(self.offset),
            size: Bytes::new(self.bytes),
            stream: self.stream as usize,
        })
    }
}

impl From<&Completion> for FlashmeshCompletion {
    fn from(done: &Completion) -> FlashmeshCompletion {
        FlashmeshCompletion {
            id: done.id,
            time_ps: done.time.as_ps(),
            latency_ps: done.latency.as_ps(),
            status: done.status.index() as u8,
        }
    }
}

// The values of the C enums equal the indices of the Rust enums, which the conversions above rely on.
const _: () = {
    assert!(RequestKind::Read.index() == FlashmeshOp::Read as usize);
    assert!(RequestKind::Write.index() == FlashmeshOp::Write as usize);
    assert!(RequestKind::Deallocate.index() == FlashmeshOp::Deallocate as usize);
    assert!(RequestKind::Flush.index() == FlashmeshOp::Flush as usize);
    assert!(RequestKind::WriteZeroes.index() == FlashmeshOp::WriteZeroes as usize);
    assert!(RequestKind::ALL.len() == 5);
    assert!(Status::Success.index() == FlashmeshStatus::Success as usize);
    assert!(Status::InvalidOpcode.index() == FlashmeshStatus::InvalidOpcode as usize);
    assert!(Status::InvalidField.index() == FlashmeshStatus::InvalidField as usize);
    assert!(Status::InvalidNamespace.index() == FlashmeshStatus::InvalidNamespace as usize);
    assert!(Status::LbaOutOfRange.index() == FlashmeshStatus::LbaOutOfRange as usize);
    assert!(Status::ALL.len() == 5);
};
