//! Reading of a trace file, with decompression.

use std::fs::{File, Metadata};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use flate2::bufread::GzDecoder;
use liblzma::bufread::XzDecoder;

use super::read_ahead::UnpackedAhead;
use crate::error::WorkloadError;
use crate::names;

names! {
    /// The compression of a trace file, recognised by its first bytes, not by its name.
    Compression {
        /// Plain file, without compression.
        Plain = "plain",
        /// gzip (RFC 1952), any number of members.
        Gzip = "gzip",
        /// Zstandard (RFC 8878), any number of frames.
        Zstd = "zstd",
        /// xz, any number of streams.
        Xz = "xz",
    }
}

impl Compression {
    fn of(first_bytes: &[u8]) -> Compression {
        match first_bytes {
            // Method and flags are also compared: one in 65,536 binary traces begins with the two bytes of the signature.
            [GZIP_START, 0x8b] | [GZIP_START, 0x8b, 0x08] => Compression::Gzip,
            [GZIP_START, 0x8b, 0x08, flags, ..] if flags & GZIP_RESERVED_FLAGS == 0 => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            // A skippable frame may come first; any last nibble is allowed.
            [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Compression::Zstd,
            [0xfd, b'7', b'z', b'X', b'Z', 0x00, ..] => Compression::Xz,
            _ => Compression::Plain,
        }
    }
}

/// The first byte of every member of a gzip file.
const GZIP_START: u8 = 0x1f;
/// The reserved flags of a gzip member, which are zero.
const GZIP_RESERVED_FLAGS: u8 = 0xe0;
/// Signatures of files that are not traces, with the description for the message. A file that was compressed twice begins with one of them
/// after decompression.
const KNOWN_BINARY: [(&[u8], &str); 15] = [
    (b"\x1f\x8b\x08", "packed twice, the first time with gzip"),
    (b"\x28\xb5\x2f\xfd", "packed twice, the first time with zstd"),
    (b"\xfd7zXZ\0", "packed twice, the first time with xz"),
    (b"BZh", "compressed with bzip2"),
    (b"\x04\x22\x4d\x18", "compressed with lz4"),
    (b"]\0\0", "compressed with lzma"),
    (b"\x1f\x9d", "compressed with compress"),
    (b"PK\x03\x04", "a zip archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!", "a rar archive"),
    (b"PAR1", "a Parquet file"),
    (b"\x7fELF", "a program"),
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
];

/// The first bytes of a blktrace event, version 7, in either byte order.
const BLKTRACE_STARTS: [&[u8]; 2] = [b"\x07tae", b"eat\x07"];

/// The offset of the magic bytes in the header of a tar archive.
const TAR_MAGIC_AT: usize = 257;

/// Returns the error message for a file that is not text, from `sample`, its decompressed start; `None` if the file is text.
pub(super) fn binary_kind(sample: &[u8]) -> Option<String> {
    if BLKTRACE_STARTS.iter().any(|magic| sample.starts_with(magic)) {
        return Some("a binary log of blktrace, not text: run blkparse on it and give its output".to_owned());
    }
    let is_tar = sample.get(TAR_MAGIC_AT..).is_some_and(|rest| rest.starts_with(b"ustar"));
    let known = KNOWN_BINARY.iter().find(|(magic, _)| sample.starts_with(magic)).map(|&(_, kind)| kind);
    if let Some(kind) = known.or(is_tar.then_some("a tar archive")) {
        return Some(format!("{kind}, not a text trace: unpack or convert it; plain, gz, zst and xz are read"));
    }
    let is_control = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x0c);
    // A stray control byte only makes its line invalid; many of them mean that the file is no text.
    let controls = sample.iter().filter(|&&byte| is_control(byte)).count();
    let has_nul_early = memchr::memchr(0, &sample[..sample.len().min(4096)]).is_some();
    (has_nul_early || controls * 50 > sample.len())
        .then(|| "binary, not text: is it compressed with something else? plain, gz, zst and xz are read".to_owned())
}

/// The maximum memory for the decompression of an xz file, in bytes; `xz -9` needs 65 MiB.
const XZ_MEMORY_MAX: u64 = 160 << 20;
/// The maximum window of a Zstandard file, as a power of two: 2^27 bytes (128 MiB), as with `zstd --long`.
const ZSTD_WINDOW_LOG_MAX: u32 = 27;
const FILE_BUFFER_BYTES: usize = 128 << 10;

/// The decompressed bytes of one file, from start to end.
pub struct Input {
    path: PathBuf,
    bytes: Box<dyn Read + Send>,
    compression: Compression,
    /// The length of a plain file when it was opened. `None` for compressed files, which mark their own end.
    length: Option<u64>,
    read: u64,
    identity: Option<FileIdentity>,
}

/// The identity of a file: its size and its modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileIdentity {
    length: u64,
    modified: Option<SystemTime>,
}

impl FileIdentity {
    /// Returns the identity of the file at `path`; `None` if it cannot be accessed.
    pub fn of(path: &Path) -> Option<FileIdentity> {
        std::fs::metadata(path).ok().map(|metadata| FileIdentity::from(&metadata))
    }
}

impl From<&Metadata> for FileIdentity {
    fn from(metadata: &Metadata) -> FileIdentity {
        FileIdentity { length: metadata.len(), modified: metadata.modified().ok() }
    }
}

impl Input {
    /// Opens a file.
    ///
    /// # Errors
    /// If the file is missing, cannot be read or is not a regular file.
    pub fn open(path: &Path) -> Result<Input, WorkloadError> {
        let io_error = |source| WorkloadError::Io { path: path.to_owned(), source };
        // Checked before opening, because opening a pipe blocks until there is a writer.
        let metadata = std::fs::metadata(path).map_err(io_error)?;
        if !metadata.is_file() {
            return Err(WorkloadError::Parse {
                path: path.to_owned(),
                line: 0,
                column: 0,
                message: "not a regular file: a trace is read twice, so write it to a file first".to_owned(),
            });
        }
        let file = File::open(path).map_err(io_error)?;
        let identity = FileIdentity::from(&file.metadata().map_err(io_error)?);
        let mut input = Input::from_reader(path, file)?;
        input.length = (input.compression == Compression::Plain).then_some(identity.length);
        input.identity = Some(identity);
        Ok(input)
    }

    /// Creates an input from any reader; `path` only names the reader in messages.
    ///
    /// # Errors
    /// If the first bytes cannot be read.
    pub fn from_reader(path: &Path, reader: impl Read + Send + 'static) -> Result<Input, WorkloadError> {
        let io_error = |source| WorkloadError::Io { path: path.to_owned(), source };
        let (first_bytes, packed) = peek(reader).map_err(io_error)?;
        let compression = Compression::of(&first_bytes);
        let bytes = unpack(compression, packed).map_err(io_error)?;
        let bytes = if compression == Compression::Plain { bytes } else { Box::new(UnpackedAhead::new(bytes)) };
        Ok(Input { path: path.to_owned(), bytes, compression, length: None, read: 0, identity: None })
    }

    /// Returns the compression, which was detected from the first bytes of the file.
    pub fn compression(&self) -> Compression {
        self.compression
    }

    /// Returns the identity of the file when it was opened; `None` if the input is not a file.
    pub fn identity(&self) -> Option<FileIdentity> {
        self.identity
    }

    /// Returns the path of the file, or the name of the reader in messages.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads into `buffer`. Returns the number of bytes, 0 at the end of the file. `line` is the current line, for messages.
    ///
    /// # Errors
    /// If the operating system reports an error, compressed data is damaged or truncated, or a plain file has shrunk since it was opened.
    pub fn read(&mut self, buffer: &mut [u8], line: u64) -> Result<usize, WorkloadError> {
        loop {
            match self.bytes.read(buffer) {
                Ok(0) if self.length.is_some_and(|length| self.read < length) => {
                    return Err(self.damaged(line, "the file has shrunk while it was read".to_owned()));
                }
                Ok(count) => {
                    self.read += count as u64;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) if source.raw_os_error().is_some() || self.compression == Compression::Plain => {
                    return Err(WorkloadError::Io { path: self.path.clone(), source });
                }
                Err(error) => {
                    let name = self.compression.name();
                    let message = match error.kind() {
                        io::ErrorKind::UnexpectedEof => format!("the {name} data ends early: the file is truncated"),
                        _ if error.to_string().contains("too much memory") => {
                            "it was packed with a window above 128 MiB: repack it with zstd --long=27 or without --long"
                                .to_owned()
                        }
                        _ if is_over_xz_memory(&error) => {
                            "it was packed with a dictionary that takes more than 160 MiB to unpack with: repack it with xz -9 or lower"
                                .to_owned()
                        }
                        _ => format!("the {name} data is damaged ({error})"),
                    };
                    return Err(self.damaged(line, message));
                }
            }
        }
    }

    fn damaged(&self, line: u64, message: String) -> WorkloadError {
        WorkloadError::Parse { path: self.path.clone(), line, column: 0, message }
    }
}

/// Returns whether an xz file needs more memory than [`XZ_MEMORY_MAX`].
fn is_over_xz_memory(error: &io::Error) -> bool {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(inner, Some(liblzma::stream::Error::MemLimit))
}

/// Returns the first bytes of a reader, and a reader that yields all bytes, including these.
fn peek(mut reader: impl Read + Send + 'static) -> io::Result<(Vec<u8>, Box<dyn Read + Send>)> {
    const MAGIC_BYTES: u64 = 6;
    let mut first_bytes = Vec::new();
    reader.by_ref().take(MAGIC_BYTES).read_to_end(&mut first_bytes)?;
    let again = io::Cursor::new(first_bytes.clone()).chain(reader);
    Ok((first_bytes, Box::new(again)))
}

fn unpack(compression: Compression, packed: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let buffered = |packed| BufReader::with_capacity(FILE_BUFFER_BYTES, packed);
    Ok(match compression {
        Compression::Plain => packed,
        Compression::Gzip => Box::new(Members { member: Some(GzDecoder::begin(buffered(packed))?) }),
        Compression::Zstd => {
            let mut decoder = zstd::Decoder::with_buffer(buffered(packed))?;
            decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
            Box::new(decoder)
        }
        Compression::Xz => Box::new(Members { member: Some(XzDecoder::begin(buffered(packed))?) }),
    })
}

type CompressedBytes = BufReader<Box<dyn Read + Send>>;

/// A compressed member of a file that may have several.
trait Member: Read + Sized {
    const NAME: &str;
    /// The first byte of a member.
    const START: u8;

    /// Starts to decompress the member at the position of `packed`.
    fn begin(packed: CompressedBytes) -> io::Result<Self>;

    /// Returns the reader of the compressed bytes, at the first byte after the member.
    fn end(self) -> CompressedBytes;
}

impl Member for GzDecoder<CompressedBytes> {
    const NAME: &str = "gzip";
    const START: u8 = GZIP_START;

    fn begin(packed: CompressedBytes) -> io::Result<Self> {
        Ok(GzDecoder::new(packed))
    }

    fn end(self) -> CompressedBytes {
        self.into_inner()
    }
}

impl Member for XzDecoder<CompressedBytes> {
    const NAME: &str = "xz";
    const START: u8 = 0xfd;

    fn begin(packed: CompressedBytes) -> io::Result<Self> {
        let stream = liblzma::stream::Stream::new_stream_decoder(XZ_MEMORY_MAX, 0)?;
        Ok(XzDecoder::new_stream(packed, stream))
    }

    fn end(self) -> CompressedBytes {
        self.into_inner()
    }
}

/// The members of a gzip file or the streams of an xz file, one after the other. Zeros after the last member are ignored, because block
/// devices and tapes pad files with zeros.
struct Members<M> {
    member: Option<M>,
}

impl<M: Member> Read for Members<M> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.member {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(ended) = self.member.take() else { break };
            let mut packed = ended.end();
            if has_more(&mut packed)? {
                if packed.fill_buf()?.first() != Some(&M::START) {
                    let told = format!("what follows its end is no {} data", M::NAME);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, told));
                }
                self.member = Some(M::begin(packed)?);
            }
        }
        Ok(0)
    }
}

/// Skips zeros. Returns whether any other byte follows; false at the end of the file.
fn has_more(packed: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let waiting = packed.fill_buf()?;
        let zeros = waiting.iter().take_while(|&&byte| byte == 0).count();
        let (is_end, is_all_zero) = (waiting.is_empty(), zeros == waiting.len());
        packed.consume(zeros);
        if is_end || !is_all_zero {
            return Ok(!is_end);
        }
    }
}
