//! File of a drive state (computed by preconditioning): a line with the version of the format, a line of metadata, and the compressed data.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::system_message;

/// First line of every state file. The number is increased when the format changes.
const FORMAT: &str = "flashmesh state 1";

/// Hash of all source files of this build that determine a drive state.
const SOURCES: &str = env!("FLASHMESH_SOURCES");

/// Maximum length of each of the two text lines of a state file, in bytes.
const LINE_MAX: u64 = 1 << 16;

/// Compression level of zstd, so low that compression takes less time than computing the state.
const COMPRESSION_LEVEL: i32 = 1;

/// Hash that identifies a drive state: of all inputs of its computation, the version of the file format, and the sources of this build.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateKey(String);

impl StateKey {
    /// Returns the key of the state that this build computes from `inputs`, a text with all parameters that determine the state.
    pub fn new(inputs: &str) -> StateKey {
        let digest = Sha256::digest(format!("{FORMAT}\n{SOURCES}\n{inputs}").as_bytes());
        StateKey(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the key in hexadecimal, which is the name of the file without its extension.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Description of a stored state, for listings.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct StateSummary {
    /// Name of the preset from which the drive was configured, or hash of its configuration.
    pub drive: String,
    /// Capacity of the drive visible to the host, in bytes.
    pub capacity_bytes: u64,
    /// Time at which the state was computed, in seconds since 1970.
    pub made_s: u64,
}

/// Metadata of a state, in the second line of its file.
#[derive(Serialize, Deserialize)]
struct Head {
    key: String,
    sources: String,
    about: StateSummary,
    /// Uncompressed size of the data, in bytes.
    bytes: u64,
    /// Compressed size of the data, in bytes.
    compressed_bytes: u64,
}

/// A drive state that is stored in a [`StateFolder`](super::StateFolder).
#[derive(Clone, Debug)]
pub struct StoredState {
    /// Key of the state in hexadecimal, which is the name of the file without its extension.
    pub key: String,
    /// Description of the state; `None` if the file cannot be read or has another version of the format.
    pub about: Option<StateSummary>,
    /// Whether the state was written by a build with the same sources as this build, which can then use it.
    pub is_current: bool,
    /// Size of the file in bytes.
    pub bytes: u64,
    /// Time of creation or last read, in seconds since 1970.
    pub used_s: u64,
}

/// Writes the two lines with format and metadata, then `numbers`, the data, in compressed form.
pub(super) fn write(file: &mut File, key: &StateKey, about: &StateSummary, numbers: &[u8]) -> std::io::Result<()> {
    let mut encoder = zstd::Encoder::new(Vec::new(), COMPRESSION_LEVEL)?;
    encoder.include_checksum(true)?;
    encoder.write_all(numbers)?;
    let compressed = encoder.finish()?;
    let head = Head {
        key: key.0.clone(),
        sources: SOURCES.to_owned(),
        about: about.clone(),
        bytes: numbers.len() as u64,
        compressed_bytes: compressed.len() as u64,
    };
    writeln!(file, "{FORMAT}\n{}", serde_json::to_string(&head)?)?;
    file.write_all(&compressed)
}

/// Returns the uncompressed data of the state `key`, which must have `bytes` bytes.
///
/// # Errors
/// The reason if the file is damaged, or is of another state or build.
pub(super) fn read(file: &File, key: &StateKey, bytes: u64) -> Result<Vec<u8>, String> {
    let whole = file.metadata().map_err(|error| system_message(&error))?.len();
    let mut reader = BufReader::new(file);
    let (head, head_bytes) = head(&mut reader)?;
    if head.key != key.0 || head.sources != SOURCES {
        return Err("it is of another drive or build".to_owned());
    }
    if head.bytes != bytes || whole != head_bytes + head.compressed_bytes {
        return Err(format!("it has {whole} bytes where {} belong", head_bytes + head.compressed_bytes));
    }
    let mut numbers = Vec::new();
    numbers.try_reserve_exact(bytes as usize).map_err(|error| error.to_string())?;
    let decoder = zstd::Decoder::with_buffer(reader).map_err(|error| system_message(&error))?;
    // Read at most one byte more than expected. The decoder verifies the checksum only when it reaches the end of its data.
    decoder.take(bytes + 1).read_to_end(&mut numbers).map_err(|error| system_message(&error))?;
    if numbers.len() as u64 != bytes {
        return Err(format!("it holds {} bytes where {bytes} belong", numbers.len()));
    }
    Ok(numbers)
}

/// Returns the description in the file at `path`, and whether this build can use the state. `None` if the file cannot be read or has another version
/// of the format.
pub(super) fn about(path: &Path) -> Option<(StateSummary, bool)> {
    let (head, _) = head(&mut BufReader::new(File::open(path).ok()?)).ok()?;
    Some((head.about, head.sources == SOURCES))
}

fn head(reader: &mut impl BufRead) -> Result<(Head, u64), String> {
    let mut line = || {
        let mut line = String::new();
        reader.by_ref().take(LINE_MAX).read_line(&mut line).map_err(|error| system_message(&error)).map(|_| line)
    };
    let (format, head) = (line()?, line()?);
    if format.trim_end() != FORMAT {
        return Err("it is no state of this version".to_owned());
    }
    let read: Head = serde_json::from_str(&head).map_err(|error| error.to_string())?;
    Ok((read, (format.len() + head.len()) as u64))
}
