//! Decompression ahead of the consumer, in a thread.

use std::io::{self, Read};

use super::{Producer, ReadAhead};

/// The number of bytes in a [`Chunk`].
const CHUNK_BYTES: usize = 64 << 10;

/// A chunk of decompressed bytes.
#[derive(Default)]
pub(in super::super) struct Chunk {
    bytes: Vec<u8>,
    /// The error that ended decompression; `None` at the end of the file.
    error: Option<io::Error>,
}

/// The producer, which decompresses chunks.
pub(in super::super) struct Unpacker(Box<dyn Read + Send>);

impl Producer for Unpacker {
    type Item = Chunk;

    const THREAD: &'static str = "flashmesh-unpack";

    fn produce(&mut self) -> (Chunk, bool) {
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

/// The decompressed bytes of a file, in order. A decompression error is returned after all bytes before the error.
pub(in super::super) struct UnpackedAhead {
    chunks: ReadAhead<Unpacker>,
    /// Chunk that the caller reads.
    chunk: Chunk,
    /// Number of bytes of `chunk` that the caller has read.
    taken: usize,
}

impl UnpackedAhead {
    /// Reads ahead from `bytes`, a reader that decompresses.
    pub fn new(bytes: Box<dyn Read + Send>) -> UnpackedAhead {
        UnpackedAhead { chunks: ReadAhead::new(Unpacker(bytes)), chunk: Chunk::default(), taken: 0 }
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
