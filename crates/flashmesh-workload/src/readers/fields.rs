//! Parsing of the fields of a line, without copying or allocating.

use super::line_errors::{LineError, LineErrorKind};

/// The sector size in traces, independent of the sector size of the drive.
pub const SECTOR_BYTES: u64 = 512;

/// Returns whether the line is a header: `columns` words separated by commas, each beginning with a letter.
pub fn is_header(line: &[u8], columns: usize) -> bool {
    let mut names = 0;
    let has_only_names = line.split(|&byte| byte == b',').all(|name| {
        names += 1;
        name.trim_ascii().first().is_some_and(u8::is_ascii_alphabetic)
    });
    names == columns && has_only_names
}

/// A parsing position in a line. The argument `expected` of a method names the field for its error.
///
/// Every error has the column at which its field begins.
pub struct Fields<'a> {
    line: &'a [u8],
    at: usize,
}

impl<'a> Fields<'a> {
    /// Starts at the beginning of `line`.
    pub fn new(line: &'a [u8]) -> Fields<'a> {
        Fields { line, at: 0 }
    }

    /// Returns the column of the next byte, from 1.
    pub fn column(&self) -> u16 {
        column(self.at)
    }

    /// Skips spaces and tabs.
    pub fn skip_blanks(&mut self) {
        while matches!(self.line.get(self.at), Some(b' ' | b'\t')) {
            self.at += 1;
        }
    }

    /// Returns the next byte; `None` at the end.
    pub fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Skips the blanks before the next field.
    ///
    /// # Errors
    /// If the line ends, or the previous field has not ended.
    pub fn next_blank_separated(&mut self, expected: &'static str) -> Result<(), LineError> {
        let before = self.at;
        self.skip_blanks();
        if self.at == self.line.len() || self.at == before {
            return Err(LineError::new(LineErrorKind::Fields, column(self.at), expected));
        }
        Ok(())
    }

    /// Skips `separator`. The `expected` field must follow.
    ///
    /// # Errors
    /// If another byte follows, or the line ends.
    pub fn next_after(&mut self, separator: u8, expected: &'static str) -> Result<(), LineError> {
        if self.line.get(self.at) != Some(&separator) {
            return Err(LineError::new(LineErrorKind::Fields, self.column(), expected));
        }
        self.at += 1;
        Ok(())
    }

    /// Skips a comma and the blanks around it. The `expected` field follows, but may be empty.
    ///
    /// # Errors
    /// If another byte follows, or the line ends.
    pub fn next_column(&mut self, expected: &'static str) -> Result<(), LineError> {
        self.skip_blanks();
        self.next_after(b',', expected)?;
        self.skip_blanks();
        Ok(())
    }

    /// Returns whether only blanks are left.
    pub fn is_at_end(&self) -> bool {
        self.line[self.at..].iter().all(|byte| matches!(byte, b' ' | b'\t'))
    }

    /// Checks that only blanks are left.
    ///
    /// # Errors
    /// If there is another field.
    pub fn end(&mut self) -> Result<(), LineError> {
        self.skip_blanks();
        if self.at < self.line.len() {
            return Err(LineError::new(LineErrorKind::Fields, self.column(), "the end of the line"));
        }
        Ok(())
    }

    /// Parses a decimal number without sign.
    ///
    /// # Errors
    /// If there is no digit, if the number exceeds 64 bits, or if no separator follows the number.
    pub fn number(&mut self, expected: &'static str) -> Result<u64, LineError> {
        let (value, digits) = self.digits();
        // Nineteen digits always fit 64 bits. Longer numbers are rare, and are parsed again with overflow checks.
        if (1..=19).contains(&digits) && self.is_at_separator() {
            return Ok(value);
        }
        self.long_number(digits, expected)
    }

    /// Parses the number whose `digits` digits were just skipped, with overflow checks.
    #[cold]
    fn long_number(&self, digits: usize, expected: &'static str) -> Result<u64, LineError> {
        let start = self.at - digits;
        match parse_checked(&self.line[start..self.at]) {
            Some(value) if digits > 0 && self.is_at_separator() => Ok(value),
            _ => Err(LineError::new(LineErrorKind::Number, column(start), expected)),
        }
    }

    /// Parses a decimal number that fits 32 bits.
    ///
    /// # Errors
    /// Like [`Fields::number`], and if the number exceeds 32 bits.
    pub fn number_u32(&mut self, expected: &'static str) -> Result<u32, LineError> {
        let start = self.at;
        let value = self.number(expected)?;
        u32::try_from(value).map_err(|_| LineError::new(LineErrorKind::Number, column(start), expected))
    }

    /// Parses a number of 512-byte sectors. Returns bytes.
    ///
    /// # Errors
    /// Like [`Fields::number`], and if the bytes exceed 64 bits.
    pub fn sectors(&mut self, expected: &'static str) -> Result<u64, LineError> {
        let start = self.at;
        let too_many = LineError::new(LineErrorKind::Number, column(start), "a number of 512-byte sectors below 2^55");
        self.number(expected)?.checked_mul(SECTOR_BYTES).ok_or(too_many)
    }

    /// Parses a number with optional decimals and multiplies it by `unit`, a power of ten up to the picoseconds of a second. A fraction of the
    /// product is truncated.
    ///
    /// # Errors
    /// Like [`Fields::number`].
    pub fn decimal(&mut self, unit: u64, expected: &'static str) -> Result<u128, LineError> {
        let (whole, digits) = self.digits();
        let start = self.at - digits;
        let bad = LineError::new(LineErrorKind::Number, column(start), expected);
        let whole = if digits <= 19 { whole } else { parse_checked(&self.line[start..self.at]).ok_or(bad)? };
        let mut value = u128::from(whole) * u128::from(unit);
        let mut has_digits = digits > 0;
        if self.line.get(self.at) == Some(&b'.') {
            self.at += 1;
            let start = self.at;
            let (fraction, digits) = self.digits();
            has_digits |= digits > 0;
            let unit_digits = unit.ilog10() as usize;
            debug_assert_eq!(POWERS_OF_TEN[unit_digits], unit, "a unit is a power of ten");
            value += u128::from(match digits {
                _ if digits <= unit_digits => fraction * POWERS_OF_TEN[unit_digits - digits],
                _ if digits < POWERS_OF_TEN.len() => fraction / POWERS_OF_TEN[digits - unit_digits],
                _ => cut_off(&self.line[start..self.at], unit),
            });
        }
        if has_digits && self.is_at_separator() { Ok(value) } else { Err(bad) }
    }

    /// Returns the bytes up to the next blank, comma or end.
    pub fn word(&mut self) -> &'a [u8] {
        let start = self.at;
        while !self.is_at_separator() {
            self.at += 1;
        }
        &self.line[start..self.at]
    }

    /// Skips to the next comma or the end. The bytes in between are not checked.
    pub fn skip_to_comma(&mut self) {
        while !matches!(self.line.get(self.at), None | Some(b',')) {
            self.at += 1;
        }
    }

    /// Returns the bytes up to the next blank or end, including commas.
    pub fn blank_separated_word(&mut self) -> &'a [u8] {
        let start = self.at;
        while !matches!(self.line.get(self.at), None | Some(b' ' | b'\t')) {
            self.at += 1;
        }
        &self.line[start..self.at]
    }

    /// Skips digits. Returns their value modulo 2^64 and their number.
    ///
    /// Eight bytes are loaded at once and their digits are combined pairwise in one register. A loop over digits would be a chain of
    /// multiplications with a branch each.
    fn digits(&mut self) -> (u64, usize) {
        let start = self.at;
        let mut value = 0_u64;
        while let Some(bytes) = self.line.get(self.at..).and_then(|rest| rest.first_chunk::<8>()) {
            let (eight, count) = leading_digits(u64::from_le_bytes(*bytes));
            value = value.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(eight);
            self.at += count;
            if count < 8 {
                return (value, self.at - start);
            }
        }
        let rest = self.line.len() - self.at;
        match self.line.last_chunk::<8>() {
            Some(bytes) if rest > 0 => {
                // The bytes beyond the end of the line are zeros, which are no digits.
                let (last, count) = leading_digits(u64::from_le_bytes(*bytes) >> (8 * (8 - rest)));
                value = value.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(last);
                self.at += count;
            }
            _ => {
                while let Some(digit) = self.digit() {
                    value = value.wrapping_mul(10).wrapping_add(digit);
                }
            }
        }
        (value, self.at - start)
    }

    fn digit(&mut self) -> Option<u64> {
        let digit = self.line.get(self.at)?.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        self.at += 1;
        Some(u64::from(digit))
    }

    fn is_at_separator(&self) -> bool {
        matches!(self.line.get(self.at), None | Some(b' ' | b'\t' | b','))
    }
}

/// The powers of ten up to 10^12, the picoseconds in a second.
const POWERS_OF_TEN: [u64; 13] = {
    let mut powers = [1; 13];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

/// Returns `unit` times the decimal fraction whose digits after the point are `digits`, truncated.
#[cold]
fn cut_off(digits: &[u8], unit: u64) -> u64 {
    let mut digit_value = unit;
    let in_units = |digit: &u8| {
        digit_value /= 10;
        u64::from(digit - b'0') * digit_value
    };
    digits.iter().map(in_units).sum()
}

/// Returns the value and the number of the leading digits of eight bytes, the first of which is in the low byte.
fn leading_digits(bytes: u64) -> (u64, usize) {
    const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;
    // A digit becomes 0 to 9. Adding 0x76 sets the highest bit of every byte above 9, without a carry into the next byte.
    let digits = bytes ^ (EVERY_BYTE * u64::from(b'0'));
    let not_digits = (((digits & (EVERY_BYTE * 0x7f)) + EVERY_BYTE * 0x76) | digits) & (EVERY_BYTE * 0x80);
    let count = not_digits.trailing_zeros() / 8;
    // Shifts the digits to the highest bytes, so that zeros precede the first digit.
    let digits = digits.checked_shl(64 - 8 * count).unwrap_or(0);
    let pairs = (digits.wrapping_mul(10).wrapping_add(digits >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100).wrapping_add(pairs >> 16)) & 0x0000_ffff_0000_ffff;
    let value = (fours.wrapping_mul(10_000).wrapping_add(fours >> 32)) & 0xffff_ffff;
    (value, count as usize)
}

fn column(at: usize) -> u16 {
    u16::try_from(at + 1).unwrap_or(u16::MAX)
}

fn parse_checked(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0_u64, |value, &digit| value.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_are_read_as_the_standard_library_reads_them() {
        for length in 1..=22 {
            for digit in 1..=9_u8 {
                let text: String = (0..length).map(|i| char::from(b'0' + (digit + i) % 10)).collect();
                for rest in ["", ",", " 12345678", ",-------------"] {
                    let line = format!("{text}{rest}");
                    let read = Fields::new(line.as_bytes()).number("a number");
                    assert_eq!(read.ok(), text.parse::<u64>().ok(), "{line}");
                }
            }
        }
        assert_eq!(Fields::new(b"18446744073709551615").number("").ok(), Some(u64::MAX));
        assert!(Fields::new(b"18446744073709551616").number("").is_err());
    }

    #[test]
    fn bytes_next_to_the_digits_are_not_digits() {
        for byte in (0..=255_u8).filter(|byte| !byte.is_ascii_digit() && !b" \t,".contains(byte)) {
            for position in 0..9 {
                let mut text = *b"1234567890123456789";
                text[position] = byte;
                assert!(Fields::new(&text).number("").is_err(), "{byte:#x} at {position}");
                assert_eq!(Fields::new(&text).digits().1, position, "{byte:#x} at {position}");
            }
        }
    }

    #[test]
    fn decimals_keep_their_place_down_to_the_unit() {
        let ps_per_ms = 1_000_000_000;
        for (text, ps) in [("1.5", 1_500_000_000), ("0.000001", 1_000), (".25", 250_000_000), ("7", 7_000_000_000)] {
            assert_eq!(Fields::new(text.as_bytes()).decimal(ps_per_ms, "").ok(), Some(ps), "{text}");
        }
        let finer = "1.00000000019999999999999999999999";
        assert_eq!(Fields::new(finer.as_bytes()).decimal(ps_per_ms, "").ok(), Some(1_000_000_000));
        assert_eq!(Fields::new(finer.as_bytes()).decimal(1_000_000_000_000, "").ok(), Some(1_000_000_000_199));
        assert_eq!(Fields::new(b"7.123456789").decimal(1_000_000, "").ok(), Some(7_123_456));
        for text in ["", ".", "1.2.3", "1e5", "-1", "1.x"] {
            assert!(Fields::new(text.as_bytes()).decimal(ps_per_ms, "").is_err(), "{text}");
        }
    }
}
