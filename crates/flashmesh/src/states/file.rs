//! One state in its file: a line that names the format, a line about it, and its numbers, compressed.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::said;

/// The first line of every file. Another number for every change of what follows it.
const FORMAT: &str = "flashmesh state 1";

/// Of all that a state is computed by.
const SOURCES: &str = env!("FLASHMESH_SOURCES");

/// A line is never longer.
const LINE_MAX: u64 = 1 << 16;

/// A level that costs less time than the state it is of.
const COMPRESSION_LEVEL: i32 = 1;

/// What decides a state, the format and the sources of this build among it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateKey(String);

impl StateKey {
    /// The key of the state that `inputs` decide.
    pub fn new(inputs: &str) -> StateKey {
        let digest = Sha256::digest(format!("{FORMAT}\n{SOURCES}\n{inputs}").as_bytes());
        StateKey(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// In hexadecimal.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What a person wants to know of a state.
#[derive(Clone, Debug, Serialize, Deserialize, PartialEq, Eq)]
pub struct About {
    /// The preset, or the hash of the configuration.
    pub drive: String,
    /// Bytes that the host sees of the drive.
    pub capacity_bytes: u64,
    /// When it was made, in seconds since 1970.
    pub made_s: u64,
}

/// What stands before the numbers.
#[derive(Serialize, Deserialize)]
struct Head {
    key: String,
    sources: String,
    about: About,
    /// Of the numbers, uncompressed.
    bytes: u64,
    /// Of the numbers, as they are in the file.
    compressed_bytes: u64,
}

/// A state as it lies in its folder.
#[derive(Clone, Debug)]
pub struct Kept {
    /// Its name, the key in hexadecimal.
    pub key: String,
    /// What it says of itself; `None` when it cannot be read.
    pub about: Option<About>,
    /// Whether this build can use it.
    pub is_current: bool,
    /// Bytes of the file.
    pub bytes: u64,
    /// When it was made or read last, in seconds since 1970.
    pub used_s: u64,
}

/// Writes a state.
pub(super) fn write(file: &mut File, key: &StateKey, about: &About, numbers: &[u8]) -> std::io::Result<()> {
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

/// Reads the numbers of a state, `bytes` of them.
///
/// # Errors
/// Why the file is damaged.
pub(super) fn read(file: File, key: &StateKey, bytes: u64) -> Result<Vec<u8>, String> {
    let whole = file.metadata().map_err(|error| said(&error))?.len();
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
    let decoder = zstd::Decoder::with_buffer(reader).map_err(|error| said(&error))?;
    // One byte more than there may be: the checksum is compared behind the last one.
    decoder.take(bytes + 1).read_to_end(&mut numbers).map_err(|error| said(&error))?;
    if numbers.len() as u64 != bytes {
        return Err(format!("it holds {} bytes where {bytes} belong", numbers.len()));
    }
    Ok(numbers)
}

/// What the file at `path` says of itself, and whether this build can use it.
pub(super) fn about(path: &Path) -> Option<(About, bool)> {
    let (head, _) = head(&mut BufReader::new(File::open(path).ok()?)).ok()?;
    Some((head.about, head.sources == SOURCES))
}

fn head(reader: &mut impl BufRead) -> Result<(Head, u64), String> {
    let mut line = || {
        let mut line = String::new();
        reader.by_ref().take(LINE_MAX).read_line(&mut line).map_err(|error| said(&error)).map(|_| line)
    };
    let (format, head) = (line()?, line()?);
    if format.trim_end() != FORMAT {
        return Err("it is no state of this version".to_owned());
    }
    let read: Head = serde_json::from_str(&head).map_err(|error| error.to_string())?;
    Ok((read, (format.len() + head.len()) as u64))
}
