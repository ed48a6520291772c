//! Writing of a file with the compression that its name implies.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::readers::Compression;

const BUFFER_BYTES: usize = 128 << 10;
/// The default compression levels of the commands gzip, zstd and xz.
const GZIP_LEVEL: u32 = 6;
const ZSTD_LEVEL: i32 = 3;
const XZ_LEVEL: u32 = 6;

/// A writer that compresses. The output is complete only after [`CompressedWriter::finish`].
pub struct CompressedWriter<W: Write> {
    encoder: Encoder<BufWriter<W>>,
}

enum Encoder<W: Write> {
    Plain(W),
    Gzip(flate2::write::GzEncoder<W>),
    Zstd(zstd::Encoder<'static, W>),
    Xz(liblzma::write::XzEncoder<W>),
}

impl Compression {
    /// Returns the compression that the extension of a file name implies: `.gz`, `.zst`, `.xz`, or none for any other.
    pub fn of_name(path: &Path) -> Compression {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            Some("xz") => Compression::Xz,
            _ => Compression::Plain,
        }
    }
}

impl<W: Write> CompressedWriter<W> {
    /// Creates a writer that compresses into `out`. Call [`CompressedWriter::finish`] after the last write.
    ///
    /// # Errors
    /// If the compressor cannot be created.
    pub fn new(compression: Compression, out: W) -> io::Result<CompressedWriter<W>> {
        let out = BufWriter::with_capacity(BUFFER_BYTES, out);
        let encoder = match compression {
            Compression::Plain => Encoder::Plain(out),
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(out, flate2::Compression::new(GZIP_LEVEL)))
            }
            Compression::Zstd => Encoder::Zstd(zstd::Encoder::new(out, ZSTD_LEVEL)?),
            Compression::Xz => Encoder::Xz(liblzma::write::XzEncoder::new(out, XZ_LEVEL)),
        };
        Ok(CompressedWriter { encoder })
    }

    /// Writes the buffered bytes and the end of the compressed data. Returns `out`, which is not flushed.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn finish(self) -> io::Result<W> {
        let buffered = match self.encoder {
            Encoder::Plain(out) => out,
            Encoder::Gzip(encoder) => encoder.finish()?,
            Encoder::Zstd(encoder) => encoder.finish()?,
            Encoder::Xz(encoder) => encoder.finish()?,
        };
        buffered.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

impl<W: Write> Write for CompressedWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.encoder {
            Encoder::Plain(out) => out.write(bytes),
            Encoder::Gzip(encoder) => encoder.write(bytes),
            Encoder::Zstd(encoder) => encoder.write(bytes),
            Encoder::Xz(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.encoder {
            Encoder::Plain(out) => out.flush(),
            Encoder::Gzip(encoder) => encoder.flush(),
            Encoder::Zstd(encoder) => encoder.flush(),
            Encoder::Xz(encoder) => encoder.flush(),
        }
    }
}
