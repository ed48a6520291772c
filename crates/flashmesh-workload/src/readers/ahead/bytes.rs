//! Bytes of a packed file, unpacked ahead of whoever takes them.

use std::io::{self, Read};

use super::{Ahead, Maker};

/// Bytes of a [`Chunk`].
const CHUNK_BYTES: usize = 64 << 10;

/// Bytes that were unpacked together.
#[derive(Default)]
pub(in super::super) struct Chunk {
    bytes: Vec<u8>,
    /// Why nothing follows where the file is not at its end.
    error: Option<io::Error>,
}

/// Unpacks bytes.
pub(in super::super) struct Unpacker(Box<dyn Read + Send>);

impl Maker for Unpacker {
    type Item = Chunk;

    const THREAD: &'static str = "flashmesh-unpack";

    fn make(&mut self) -> (Chunk, bool) {
        let (mut bytes, mut length) = (vec![0; CHUNK_BYTES], 0);
        let mut error = None;
        let is_last = loop {
            match self.0.read(&mut bytes[length..]) {
                Ok(0) => break true,
                Ok(count) => length += count,
                Err(interrupted) if interrupted.kind() == io::ErrorKind::Interrupted => {}
                Err(failed) => {
                    error = Some(failed);
                    break true;
                }
            }
            if length == bytes.len() {
                break false;
            }
        };
        bytes.truncate(length);
        (Chunk { bytes, error }, is_last)
    }
}

/// The unpacked bytes of a file in their order, with what goes wrong in its place among them.
pub(in super::super) struct UnpackedAhead {
    chunks: Ahead<Unpacker>,
    /// The chunk unpacked last, and how many of its bytes were taken.
    chunk: Chunk,
    taken: usize,
}

impl UnpackedAhead {
    /// Those of `bytes`, which unpacks them.
    pub fn of(bytes: Box<dyn Read + Send>) -> UnpackedAhead {
        UnpackedAhead { chunks: Ahead::of(Unpacker(bytes)), chunk: Chunk::default(), taken: 0 }
    }
}

impl Read for UnpackedAhead {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let rest = &self.chunk.bytes[self.taken..];
            if !rest.is_empty() {
                let count = rest.len().min(buffer.len());
                buffer[..count].copy_from_slice(&rest[..count]);
                self.taken += count;
                return Ok(count);
            }
            if let Some(error) = self.chunk.error.take() {
                return Err(error);
            }
            match self.chunks.next() {
                Some(chunk) => (self.chunk, self.taken) = (chunk, 0),
                None => return Ok(0),
            }
        }
    }
}
