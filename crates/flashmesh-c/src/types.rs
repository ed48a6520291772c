//! What crosses the border to C.

use flashmesh::report::Status;
use flashmesh::requests::RequestKind;
use flashmesh::stepping::{Completion, Submission};
use flashmesh::units::{Bytes, Time};

/// What a request asks of the drive.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashmeshOp {
    /// Read the bytes.
    Read = 0,
    /// Write the bytes.
    Write = 1,
    /// Forget the bytes.
    Deallocate = 2,
    /// Complete when all that was written before is in the flash; it covers no bytes.
    Flush = 3,
    /// Make the bytes zeros, without data over the link.
    WriteZeroes = 4,
}

/// How a request ended.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlashmeshStatus {
    /// It did what it was asked to.
    Success = 0,
    /// The drive does not know such requests.
    InvalidOpcode = 1,
    /// It is longer than the drive moves in one command.
    InvalidField = 2,
    /// Its stream is attached to no namespace.
    InvalidNamespace = 3,
    /// It reaches beyond its namespace.
    LbaOutOfRange = 4,
}

/// A request.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FlashmeshRequest {
    /// When it arrives, in picoseconds.
    pub time_ps: u64,
    /// Where it begins in the namespace of its stream, in bytes: a multiple of the sector size.
    pub offset: u64,
    /// How many bytes it covers, a positive multiple of the sector size; 0 for a flush.
    pub bytes: u64,
    /// The stream that it comes from, from 0.
    pub stream: u32,
    /// What it asks: a `FlashmeshOp`.
    pub op: u8,
}

/// A completed request.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct FlashmeshCompletion {
    /// Its id, as it was given when it was submitted.
    pub id: u64,
    /// When its completion reached the host, in picoseconds.
    pub time_ps: u64,
    /// From its arrival to its completion, in picoseconds.
    pub latency_ps: u64,
    /// How it ended: a `FlashmeshStatus`.
    pub status: u8,
}

impl FlashmeshRequest {
    /// The request, if there is one with such a number.
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

// The numbers of C are those of Rust.
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
