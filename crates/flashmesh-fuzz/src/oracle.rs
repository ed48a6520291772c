//! Second trace reader for comparison, simple and written independently of the readers under test: `split` and `parse`, wide integers, everything
//! in memory.

use flashmesh::units::Bytes;
use flashmesh::workload::RequestKind;

#[derive(Clone, Copy)]
pub struct ReaderRules {
    pub capacity: Bytes,
    pub sector_size: Bytes,
    pub wrap: bool,
    pub ascii_sector: i128,
    pub ascii_unit_ps: i128,
    /// Whether type 1 in the ASCII trace format is a read; if false, type 0 is.
    pub is_one_read: bool,
}

/// A request of the second reader: time stamp in picoseconds, kind, offset in bytes, size in bytes, device.
pub type ReferenceRequest = (i128, RequestKind, i128, i128, u32);

pub fn msr(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields = columns(line);
    let [time, _host, disk, kind, offset, size, response] = fields[..] else { return None };
    decimal(response, 0)?;
    let time = whole(time)?.checked_mul(100_000)?;
    on_drive((time, msr_kind(kind)?, whole(offset)?, whole(size)?, u32::try_from(whole(disk)?).ok()?), rules)
}

pub fn msr_short(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields = columns(line);
    let [time, kind, offset, size] = fields[..] else { return None };
    on_drive((whole(time)?.checked_mul(100_000)?, msr_kind(kind)?, whole(offset)?, whole(size)?, 0), rules)
}

fn msr_kind(text: &str) -> Option<RequestKind> {
    match text.to_ascii_lowercase().as_str() {
        "read" | "r" => Some(RequestKind::Read),
        "write" | "w" => Some(RequestKind::Write),
        _ => None,
    }
}

pub fn ascii(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields: Vec<&str> = line.split(BLANKS).filter(|field| !field.is_empty()).collect();
    let [time, device, sector, sectors, kind] = fields[..] else { return None };
    let is_read = match kind {
        "1" => rules.is_one_read,
        "0" => !rules.is_one_read,
        _ => return None,
    };
    let kind = if is_read { RequestKind::Read } else { RequestKind::Write };
    let request = (
        decimal(time, rules.ascii_unit_ps.ilog10() as usize)?,
        kind,
        whole(sector)?.checked_mul(rules.ascii_sector)?,
        whole(sectors)?.checked_mul(rules.ascii_sector)?,
        u32::try_from(whole(device)?).ok()?,
    );
    on_drive(request, rules)
}

pub fn fio_iolog(lines: &[&str], rules: &ReaderRules) -> Vec<ReferenceRequest> {
    let mut files: Vec<&str> = Vec::new();
    let mut requests = Vec::new();
    for line in lines {
        let fields: Vec<&str> = line.split(BLANKS).filter(|field| !field.is_empty()).collect();
        match fields[..] {
            [time, file, "add"] if whole(time).is_some() && !files.contains(&file) => files.push(file),
            [time, file, action @ ("read" | "write" | "trim"), offset, size] => {
                let request = || {
                    let device = files.iter().position(|known| *known == file)?;
                    let kind = match action {
                        "read" => RequestKind::Read,
                        "write" => RequestKind::Write,
                        _ => RequestKind::Deallocate,
                    };
                    let time = whole(time)?.checked_mul(1_000_000)?;
                    on_drive((time, kind, whole(offset)?, whole(size)?, device as u32), rules)
                };
                requests.extend(request());
            }
            _ => {}
        }
    }
    requests
}

pub fn spc(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields = columns(line);
    let [unit, block, size, kind, time, ..] = fields[..] else { return None };
    let kind = match kind {
        "R" | "r" => RequestKind::Read,
        "W" | "w" => RequestKind::Write,
        _ => return None,
    };
    on_drive((decimal(time, 12)?, kind, sectors(block)?, whole(size)?, device(unit)?), rules)
}

/// Returns the request of a SYSTOR '17 line; `None` for a line without a type.
pub fn systor(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields = columns(line);
    let [time, _response, kind, lun, offset, size] = fields[..] else { return None };
    let kind = match kind {
        "R" => RequestKind::Read,
        "W" => RequestKind::Write,
        _ => return None,
    };
    on_drive((decimal(time, 6)? * 1_000_000, kind, whole(offset)?, whole(size)?, device(lun)?), rules)
}

pub fn alibaba(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields = columns(line);
    let [disk, kind, offset, length, time] = fields[..] else { return None };
    let kind = match kind {
        "R" => RequestKind::Read,
        "W" => RequestKind::Write,
        _ => return None,
    };
    on_drive((whole(time)? * 1_000_000, kind, whole(offset)?, whole(length)?, device(disk)?), rules)
}

pub fn tencent(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields = columns(line);
    let [time, offset, size, kind, volume] = fields[..] else { return None };
    let kind = match kind {
        "0" => RequestKind::Read,
        "1" => RequestKind::Write,
        _ => return None,
    };
    on_drive((decimal(time, 12)?, kind, sectors(offset)?, sectors(size)?, device(volume)?), rules)
}

pub fn diskmon(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields: Vec<&str> = line.split(BLANKS).filter(|field| !field.is_empty()).collect();
    let [number, time, _duration, disk, kind, sector, length] = fields[..] else { return None };
    whole(number)?;
    let kind = match kind.to_ascii_lowercase().as_str() {
        "read" => RequestKind::Read,
        "write" => RequestKind::Write,
        _ => return None,
    };
    on_drive((decimal(time, 12)?, kind, sectors(sector)?, sectors(length)?, device(disk)?), rules)
}

pub fn fiu(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields: Vec<&str> = line.split(BLANKS).filter(|field| !field.is_empty()).collect();
    let [time, process, _name, sector, length, kind, major, minor, ..] = fields[..] else { return None };
    whole(process)?;
    let kind = match kind {
        "R" | "r" => RequestKind::Read,
        "W" | "w" => RequestKind::Write,
        _ => return None,
    };
    let (major, minor) = (whole(major)?, whole(minor)?);
    if major >= 1 << 12 || minor >= 1 << 20 {
        return None;
    }
    let device = u32::try_from(major * (1 << 20) + minor).ok()?;
    on_drive((whole(time)?.checked_mul(1_000)?, kind, sectors(sector)?, sectors(length)?, device), rules)
}

/// Returns the request of a line of libCacheSim's CSV. `names` is the header line with the column names. `None` for an invalid line.
pub fn libcachesim_csv(line: &str, names: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let (fields, names) = (columns(line), columns(names));
    let column = |name: &str| names.iter().position(|known| *known == name).map(|place| fields[place]);
    if fields.len() != names.len() {
        return None;
    }
    let kind = match column("op").unwrap_or("r").to_ascii_lowercase().as_str() {
        "r" | "read" | "8" | "08" | "28" | "88" | "a8" => RequestKind::Read,
        "w" | "write" | "a" | "0a" | "2a" | "8a" | "aa" => RequestKind::Write,
        _ => return None,
    };
    on_drive((decimal(column("time")?, 12)?, kind, sectors(column("lbn")?)?, whole(column("size")?)?, 0), rules)
}

pub fn oracle_general(record: &[u8], rules: &ReaderRules) -> Option<ReferenceRequest> {
    let number = |range: std::ops::Range<usize>| -> Option<i128> {
        Some(record.get(range)?.iter().rev().fold(0, |value, &byte| value << 8 | i128::from(byte)))
    };
    let (time, offset, size) = (number(0..4)?, number(4..12)? * 512, number(12..16)?);
    if record.len() != 24 || offset > i128::from(u64::MAX) {
        return None;
    }
    on_drive((time * 1_000_000_000_000, RequestKind::Read, offset, size, 0), rules)
}

pub fn srt_fixed(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields: Vec<&str> = line.split(BLANKS).filter(|field| !field.is_empty()).collect();
    let [time, _start, _stop, size, kind, offset, device, ..] = fields[..] else { return None };
    let device = device.strip_prefix("0x").unwrap_or(device);
    let is_hexadecimal = device.len() <= 8 && device.bytes().all(|byte| byte.is_ascii_hexdigit());
    let offset = whole(offset)?.checked_mul(1024).filter(|&bytes| bytes <= i128::from(u64::MAX))?;
    let device = is_hexadecimal.then(|| u32::from_str_radix(device, 16).ok())??;
    on_drive((decimal(time, 12)?, srt_kind(kind)?, offset, whole(size)?, device), rules)
}

/// Returns the request of a line of `ds2txt --csv` with the columns `is_read,device_number,pid,enter_driver,disk_offset,bytes,x`; `None` for an
/// invalid line.
pub fn srt_named(line: &str, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let fields = columns(line);
    let [kind, number, _pid, time, offset, size, ..] = fields[..] else { return None };
    on_drive((decimal(time, 12)?, srt_kind(kind)?, whole(offset)?, whole(size)?, device(number)?), rules)
}

fn srt_kind(text: &str) -> Option<RequestKind> {
    match text {
        "R" | "T" | "true" => Some(RequestKind::Read),
        "W" | "F" | "false" => Some(RequestKind::Write),
        _ => None,
    }
}

/// Returns the request of a blkparse line; `None` for events other than those sent to the drive. `has_process` is set once a line ends with a
/// process in brackets; from then on, a line without one is truncated and is rejected.
pub fn blkparse(line: &str, rules: &ReaderRules, has_process: &mut bool) -> Option<ReferenceRequest> {
    let fields: Vec<&str> = line.split(BLANKS).filter(|field| !field.is_empty()).collect();
    let [device, processor, sequence, time, process, "D", asked, sector, "+", length, ref rest @ ..] = fields[..]
    else {
        return None;
    };
    let (major, minor) = device.split_once(',')?;
    let (major, minor) = (whole(major)?, whole(minor)?);
    for number in [processor, sequence, process] {
        whole(number)?;
    }
    if major >= 1 << 12 || minor >= 1 << 20 || !asked.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let kind = match asked.strip_prefix('F').unwrap_or(asked).chars().next() {
        Some('R') => Some(RequestKind::Read),
        Some('W') => Some(RequestKind::Write),
        Some('D') => Some(RequestKind::Deallocate),
        Some('N') => None,
        _ if asked.starts_with('F') => None,
        _ => return None,
    };
    let (time_ps, offset, size) = (decimal(time, 12)?, sectors(sector)?, sectors(length)?);
    match rest.first() {
        Some(last) => *has_process |= last.starts_with('['),
        None if *has_process => return None,
        None => {}
    }
    let device = u32::try_from(major * (1 << 20) + minor).ok()?;
    on_drive((time_ps, kind?, offset, size, device), rules)
}

/// Returns the request of a vscsi record of `bytes` bytes: 32 in version 1, 40 in version 2. `None` for an invalid record, and for commands other
/// than reads and writes.
pub fn vscsi(record: &[u8], bytes: usize, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let number = |range: std::ops::Range<usize>| -> Option<i128> {
        Some(record.get(range)?.iter().rev().fold(0, |value, &byte| value << 8 | i128::from(byte)))
    };
    if record.len() != bytes {
        return None;
    }
    let (code, version, length) = if bytes == 32 {
        (number(12..14)?, number(15..16)? - 1, number(4..8)?)
    } else {
        (number(0..2)?, number(3..4)? - 2, number(8..12)?)
    };
    let kind = match code {
        0x08 | 0x28 | 0x88 | 0xa8 => RequestKind::Read,
        0x0a | 0x2a | 0x8a | 0xaa | 0x2e | 0x8e | 0xae | 0x9c => RequestKind::Write,
        _ => return None,
    };
    let offset = number(16..24)? * 512;
    if version != 0 || offset > i128::from(u64::MAX) {
        return None;
    }
    on_drive((number(24..32)? * 1_000_000, kind, offset, length, 0), rules)
}

fn columns(line: &str) -> Vec<&str> {
    line.split(',').map(|field| field.trim_matches(BLANKS)).collect()
}

fn sectors(text: &str) -> Option<i128> {
    whole(text)?.checked_mul(512).filter(|&bytes| bytes <= i128::from(u64::MAX))
}

fn device(text: &str) -> Option<u32> {
    u32::try_from(whole(text)?).ok()
}

const BLANKS: [char; 2] = [' ', '\t'];

/// Parses a decimal number and returns it times 10^`places`, truncated; `None` if `text` is no number.
fn decimal(text: &str, places: usize) -> Option<i128> {
    let (before, after) = text.split_once('.').unwrap_or((text, ""));
    let is_number = text.len() > text.matches('.').count() && after.bytes().all(|byte| byte.is_ascii_digit());
    let before = if before.is_empty() { 0 } else { whole(before)? };
    let after: String = after.chars().chain(std::iter::repeat('0')).take(places).collect();
    let after: i128 = if after.is_empty() { 0 } else { after.parse().ok()? };
    is_number.then_some(before * 10_i128.pow(places as u32) + after)
}

fn whole(text: &str) -> Option<i128> {
    (text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse::<u64>().ok().map(i128::from))?
}

fn on_drive((time, kind, offset, size, device): ReferenceRequest, rules: &ReaderRules) -> Option<ReferenceRequest> {
    let sector = i128::from(rules.sector_size.as_u64());
    let capacity = i128::from(rules.capacity.as_u64()) / sector * sector;
    let is_believable = size > 0 && (size <= 1 << 30 || kind == RequestKind::Deallocate);
    let start = offset / sector * sector;
    let end = (offset + size + sector - 1) / sector * sector;
    let length = end - start;
    let has_an_end = offset + size + sector - 1 <= i128::from(u64::MAX);
    match is_believable && has_an_end {
        true if end <= capacity => Some((time, kind, start, length, device)),
        true if rules.wrap && length <= capacity => {
            let wrapped = start % capacity;
            let overhang = (wrapped + length - capacity).max(0);
            Some((time, kind, wrapped - overhang, length, device))
        }
        _ => None,
    }
}
