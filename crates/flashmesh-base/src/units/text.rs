//! The text form of quantities: "3us", "4KiB", "1.2GB/s", "7%".
//!
//! Parsing is exact: the decimal number is scaled in integers, so "12.5ns" is 12,500 ps. A value finer than the smallest unit is an
//! error; nothing is rounded.

use std::fmt;
use std::str::FromStr;

use super::{Bytes, Rate, Share, Time};

/// A quantity whose text is a number and a unit.
pub trait Quantity {
    /// The name in messages: "a time".
    const NAME: &'static str;
    /// The units, each with its value in the smallest unit. Quantities are stored in the smallest unit. Larger units come first, but units
    /// of 1024 before units of 1000.
    const UNITS: &'static [(&'static str, u64)];
    /// Other spellings of units, with their values in the smallest unit. They are accepted but never written.
    const ALIASES: &'static [(&'static str, u64)] = &[];
}

impl Quantity for Time {
    const NAME: &'static str = "a time";
    const UNITS: &'static [(&'static str, u64)] =
        &[("s", Time::PS_PER_SECOND), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)];
}

impl Quantity for Bytes {
    const NAME: &'static str = "a size";
    const UNITS: &'static [(&'static str, u64)] = &[
        ("TiB", 1 << 40),
        ("GiB", 1 << 30),
        ("MiB", 1 << 20),
        ("KiB", 1 << 10),
        ("TB", 1_000_000_000_000),
        ("GB", 1_000_000_000),
        ("MB", 1_000_000),
        ("kB", 1_000),
        ("B", 1),
    ];
    /// The suffixes of fio, all powers of 1024.
    const ALIASES: &'static [(&'static str, u64)] = &[
        ("T", 1 << 40),
        ("t", 1 << 40),
        ("G", 1 << 30),
        ("g", 1 << 30),
        ("M", 1 << 20),
        ("m", 1 << 20),
        ("K", 1 << 10),
        ("k", 1 << 10),
    ];
}

/// A number with a suffix instead of a unit, such as "1M" requests.
pub struct Count;

impl Quantity for Count {
    const NAME: &'static str = "a number";
    const UNITS: &'static [(&'static str, u64)] =
        &[("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)];
    const ALIASES: &'static [(&'static str, u64)] = &[("K", 1_000)];
}

impl Count {
    /// Parses "1M" (a million), "1.5k" or "64K". A number without a suffix is an error.
    pub fn parse(text: &str) -> Result<u64, UnitError> {
        parse::<Count>(text)
    }
}

impl Quantity for Rate {
    const NAME: &'static str = "a rate";
    const UNITS: &'static [(&'static str, u64)] = &[
        ("GiB/s", 1 << 30),
        ("MiB/s", 1 << 20),
        ("KiB/s", 1 << 10),
        ("GB/s", 1_000_000_000),
        ("MB/s", 1_000_000),
        ("kB/s", 1_000),
        ("B/s", 1),
    ];
}

impl Quantity for Share {
    const NAME: &'static str = "a share";
    const UNITS: &'static [(&'static str, u64)] = &[("%", 1)];
}

/// The kind of an error in the text of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitErrorKind {
    /// A text without a number.
    NotANumber,
    /// A number below zero.
    Negative,
    /// A number without a unit.
    MissingUnit,
    /// A unit that the quantity does not have.
    UnknownUnit,
    /// A value that is no multiple of the smallest unit.
    TooFine,
    /// A value that exceeds 64 bits in the smallest unit.
    TooLarge,
    /// A rate of zero, at which no transfer would end.
    ZeroRate,
}

/// The error of a text that is not a valid quantity. The message says what would be valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct UnitError {
    /// The reason why the text is not a valid quantity.
    pub kind: UnitErrorKind,
    message: String,
}

impl UnitError {
    fn new(kind: UnitErrorKind, message: String) -> UnitError {
        UnitError { kind, message }
    }
}

/// Returns the units of `Q` as a list in a sentence: "s, ms, us, ns or ps".
fn units_of<Q: Quantity>() -> String {
    let names: Vec<&str> = Q::UNITS.iter().map(|(name, _)| *name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// Returns `text` in backquotes for a message, shortened to 60 characters and with control characters escaped.
pub fn quoted(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    let dots = if short.len() < text.len() { "..." } else { "" };
    format!("`{}{dots}`", short.escape_debug())
}

fn split<Q: Quantity>(text: &str) -> Result<(String, &str), UnitError> {
    let text = text.trim();
    if text.starts_with('-') {
        let message = format!("{} is negative: {} is zero or more", quoted(text), Q::NAME);
        return Err(UnitError::new(UnitErrorKind::Negative, message));
    }
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let digits: String = number.chars().filter(|&c| c != '_').collect();
    let well_formed = digits.chars().next().is_some_and(|c| c.is_ascii_digit())
        && digits.chars().next_back().is_some_and(|c| c.is_ascii_digit())
        && digits.matches('.').count() <= 1;
    if !well_formed {
        let message = format!("{} is not {}: write a number and a unit ({})", quoted(text), Q::NAME, units_of::<Q>());
        return Err(UnitError::new(UnitErrorKind::NotANumber, message));
    }
    Ok((digits, unit.trim_start()))
}

/// Parses a number and a unit into a count of the smallest unit. The error says what is wrong with the text; for a missing or unknown unit, it lists
/// the units.
pub(super) fn parse<Q: Quantity>(text: &str) -> Result<u64, UnitError> {
    let (digits, unit) = split::<Q>(text)?;
    if unit.is_empty() {
        let message = format!("{} has no unit: {} needs one of {}", quoted(text.trim()), Q::NAME, units_of::<Q>());
        return Err(UnitError::new(UnitErrorKind::MissingUnit, message));
    }
    // Keyboards and papers write two different micro signs for the u of "us".
    let plain = unit.replace(['\u{b5}', '\u{3bc}'], "u");
    let Some(&(_, size)) = Q::UNITS.iter().chain(Q::ALIASES).find(|(name, _)| *name == plain) else {
        let likely: Vec<&str> =
            Q::UNITS.iter().map(|(name, _)| *name).filter(|name| name.eq_ignore_ascii_case(&plain)).collect();
        let hint = if likely.is_empty() { String::new() } else { format!("; did you mean {}?", likely.join(" or ")) };
        let message =
            format!("{} is not a unit of {}: use one of {}{hint}", quoted(unit), &Q::NAME[2..], units_of::<Q>());
        return Err(UnitError::new(UnitErrorKind::UnknownUnit, message));
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let fraction = fraction.trim_end_matches('0');
    let too_large = || {
        let smallest = Q::UNITS.last().map_or("", |(name, _)| name);
        let message = format!("{} is too large: at most {}{smallest} can be expressed", quoted(text.trim()), u64::MAX);
        UnitError::new(UnitErrorKind::TooLarge, message)
    };
    let too_fine = || {
        let smallest = Q::UNITS.last().map_or("", |(name, _)| name);
        let message = format!("{} is no whole number of {smallest}: use fewer decimals", quoted(text.trim()));
        UnitError::new(UnitErrorKind::TooFine, message)
    };
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    // No value needs more than 19 decimals: the units are at most 10^12 or 2^40 times the smallest unit, so longer fractions are either finer than
    // the smallest unit or exceed 64 bits.
    let scale = match u32::try_from(fraction.len()) {
        Ok(decimals) if decimals <= 19 => 10u128.pow(decimals),
        _ => return Err(too_fine()),
    };
    let part = if fraction.is_empty() { 0 } else { fraction.parse::<u64>().map_err(|_| too_fine())? };
    let scaled = u128::from(part) * u128::from(size);
    if !scaled.is_multiple_of(scale) {
        return Err(too_fine());
    }
    u64::try_from(u128::from(whole) * u128::from(size) + scaled / scale).map_err(|_| too_large())
}

impl FromStr for Time {
    type Err = UnitError;
    /// Parses "3us", "3.5ms" or "100 ns".
    fn from_str(text: &str) -> Result<Time, UnitError> {
        parse::<Time>(text).map(Time)
    }
}

impl FromStr for Bytes {
    type Err = UnitError;
    /// Parses "4KiB" (1024), "4kB" (1000) or "512B".
    fn from_str(text: &str) -> Result<Bytes, UnitError> {
        parse::<Bytes>(text).map(Bytes)
    }
}

impl FromStr for Rate {
    type Err = UnitError;
    /// Parses "1.2GB/s", "800MiB/s" or "unlimited".
    fn from_str(text: &str) -> Result<Rate, UnitError> {
        if text.trim() == "unlimited" {
            return Ok(Rate::UNLIMITED);
        }
        match parse::<Rate>(text)? {
            0 => {
                let message = "a rate of zero never moves a byte: use more, or \"unlimited\"".to_owned();
                Err(UnitError::new(UnitErrorKind::ZeroRate, message))
            }
            bytes => Ok(Rate(bytes)),
        }
    }
}

impl FromStr for Share {
    type Err = UnitError;
    /// Parses "7%" or "0.07"; both return the number nearest to 7/100.
    fn from_str(text: &str) -> Result<Share, UnitError> {
        let (digits, unit) = split::<Share>(text)?;
        let decimal = match unit {
            "" => digits,
            "%" => format!("{digits}e-2"),
            _ => {
                let message = format!("{} is not a unit of share: write 7% or 0.07", quoted(unit));
                return Err(UnitError::new(UnitErrorKind::UnknownUnit, message));
            }
        };
        let not_a_number = |_| {
            let message = format!("{} is not a share: write 7% or 0.07", quoted(text.trim()));
            UnitError::new(UnitErrorKind::NotANumber, message)
        };
        decimal.parse().map(Share).map_err(not_a_number)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled::<Time>(f, self.0)
    }
}

impl fmt::Display for Bytes {
    /// Writes the exact size. `{:#}`, the form of messages, appends a rounded size if the exact text has more than nine characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = scaled::<Bytes>(self.0);
        let is_long = f.alternate() && exact.len() > READABLE;
        f.write_str(&exact)?;
        match Bytes::UNITS.iter().find(|&&(name, size)| is_long && name.contains("iB") && self.0 >= size) {
            Some(&(name, size)) => write!(f, " ({:.1} {name})", self.0 as f64 / size as f64),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Rate::UNLIMITED {
            return f.write_str("unlimited");
        }
        write_scaled::<Rate>(f, self.0)
    }
}

impl fmt::Display for Share {
    /// Writes the shortest decimal that parses as the same number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The maximum length, in characters, of a text in the preferred units. If the text would be longer, the shortest text in any unit is used.
const READABLE: usize = 9;

pub(super) fn write_scaled<Q: Quantity>(f: &mut fmt::Formatter<'_>, value: u64) -> fmt::Result {
    f.write_str(&scaled::<Q>(value))
}

/// Returns the exact text of `value`, with at most three decimals.
///
/// Prefers, like data sheets, units of 1024 for sizes and units of 1000 for rates. If the text would be longer than [`READABLE`], the shortest text
/// is used: 1TB, not 976562500KiB.
fn scaled<Q: Quantity>(value: u64) -> String {
    let (smallest, units) = match Q::UNITS.split_last() {
        Some(((smallest, _), units)) => (*smallest, units),
        None => ("", Q::UNITS),
    };
    let exact =
        units.iter().filter(|&&(_, size)| value >= size && (u128::from(value) * 1000).is_multiple_of(u128::from(size)));
    let texts = exact.map(|&(name, size)| {
        let thousandths = (u128::from(value) * 1000 / u128::from(size)) as u64;
        let (whole, rest) = (thousandths / 1000, thousandths % 1000);
        let text = match rest {
            0 => format!("{whole}{name}"),
            _ => format!("{whole}.{}{name}", format!("{rest:03}").trim_end_matches('0')),
        };
        // Sizes prefer units of 1024, because most sizes are multiples of powers of two. Rates prefer units of 1000.
        let is_preferred = name.contains("iB") == (Q::NAME == Bytes::NAME);
        (text, is_preferred)
    });
    let texts: Vec<(String, bool)> = texts.collect();
    let preferred = texts.iter().find(|(text, is_preferred)| *is_preferred && text.len() <= READABLE);
    match preferred.or_else(|| texts.iter().min_by_key(|(text, _)| text.len())) {
        Some((text, _)) => text.clone(),
        None => format!("{value}{smallest}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_read_exactly() {
        let cases = [
            ("3us", 3_000_000),
            ("3.5ms", 3_500_000_000),
            ("12.5ns", 12_500),
            ("1ps", 1),
            ("0s", 0),
            ("1_000 ns", 1_000_000),
            ("0.000000000001s", 1),
            ("2.50000000000000000000000us", 2_500_000),
            ("70\u{b5}s", 70_000_000),
            ("18446744073709551615ps", u64::MAX),
        ];
        for (text, ps) in cases {
            assert_eq!(text.parse::<Time>(), Ok(Time::from_ps(ps)), "{text}");
        }
    }

    #[test]
    fn sizes_know_both_families_of_units() {
        assert_eq!("4KiB".parse::<Bytes>(), Ok(Bytes::new(4096)));
        assert_eq!("4kB".parse::<Bytes>(), Ok(Bytes::new(4000)));
        assert_eq!("1.5KiB".parse::<Bytes>(), Ok(Bytes::new(1536)));
        assert_eq!("1TB".parse::<Bytes>(), Ok(Bytes::new(1_000_000_000_000)));
    }

    #[test]
    fn sizes_take_the_suffixes_of_fio_as_powers_of_1024() {
        for text in ["16K", "16k", "16 K"] {
            assert_eq!(text.parse::<Bytes>(), "16KiB".parse::<Bytes>(), "{text}");
        }
        assert_eq!("1m".parse::<Bytes>(), Ok(Bytes::new(1 << 20)));
        assert_eq!("2G".parse::<Bytes>(), Ok(Bytes::new(2 << 30)));
        assert_eq!("1T".parse::<Bytes>().map(|size| size.to_string()), Ok("1TiB".to_owned()));
    }

    #[test]
    fn counts_take_suffixes_as_powers_of_1000() {
        let cases = [("1M", 1_000_000), ("1.5k", 1_500), ("64K", 64_000), ("2G", 2_000_000_000)];
        for (text, count) in cases {
            assert_eq!(Count::parse(text), Ok(count), "{text}");
        }
        assert_eq!(Count::parse("1.0005k").map_err(|error| error.kind), Err(UnitErrorKind::TooFine));
        assert_eq!(Count::parse("8").map_err(|error| error.kind), Err(UnitErrorKind::MissingUnit));
    }

    #[test]
    fn rates_may_be_unlimited_but_not_zero() {
        assert_eq!("1.2GB/s".parse::<Rate>(), Ok(Rate::from_bytes_per_second(1_200_000_000)));
        assert_eq!("unlimited".parse::<Rate>(), Ok(Rate::UNLIMITED));
        assert_eq!("0GB/s".parse::<Rate>().unwrap_err().kind, UnitErrorKind::ZeroRate);
    }

    #[test]
    fn a_percentage_is_the_same_number_as_its_decimal() {
        assert_eq!("7%".parse::<Share>(), Ok(Share(0.07)));
        assert_eq!("0.07".parse::<Share>(), Ok(Share(0.07)));
        assert_eq!("12.5 %".parse::<Share>(), Ok(Share(0.125)));
    }

    #[test]
    fn errors_name_the_units_that_would_do() {
        let message = |text: &str| text.parse::<Time>().unwrap_err().to_string();
        assert_eq!(message("3"), "`3` has no unit: a time needs one of s, ms, us, ns or ps");
        assert_eq!(message("3 min"), "`min` is not a unit of time: use one of s, ms, us, ns or ps");
        assert_eq!(message("-3us"), "`-3us` is negative: a time is zero or more");
        assert_eq!(message("fast"), "`fast` is not a time: write a number and a unit (s, ms, us, ns or ps)");
        assert_eq!(message("0.5ps"), "`0.5ps` is no whole number of ps: use fewer decimals");
        let size = "4KB".parse::<Bytes>().unwrap_err().to_string();
        assert!(size.ends_with("; did you mean kB?"), "{size}");
    }

    #[test]
    fn each_failure_has_its_kind() {
        use UnitErrorKind::*;
        let cases = [
            ("", NotANumber),
            (".5us", NotANumber),
            ("1.2.3us", NotANumber),
            ("_us", NotANumber),
            ("1", MissingUnit),
            ("1KiB", UnknownUnit),
            ("1.0000000000001s", TooFine),
            ("0.00000000000000000000000000000000000000001s", TooFine),
            ("18446744073709551616ps", TooLarge),
            ("99999999999999999999999999s", TooLarge),
            ("20000000s", TooLarge),
            ("-1s", Negative),
        ];
        for (text, kind) in cases {
            assert_eq!(text.parse::<Time>().unwrap_err().kind, kind, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in any::<u64>(), shift in 0u32..64) {
            let value = value >> shift;
            prop_assert_eq!(Time(value).to_string().parse(), Ok(Time(value)));
            prop_assert_eq!(Bytes(value).to_string().parse(), Ok(Bytes(value)));
            prop_assert_eq!(Rate(value.max(1)).to_string().parse(), Ok(Rate(value.max(1))));
            let share = value as f64 / u64::MAX as f64;
            prop_assert_eq!(format!("{share:.20}").parse::<Share>().map(|s| s.0), Ok(format!("{share:.20}").parse::<f64>().unwrap()));
        }

        #[test]
        fn no_text_makes_reading_panic(text in "\\PC{0,40}") {
            let _ = text.parse::<Time>();
            let _ = text.parse::<Bytes>();
            let _ = text.parse::<Rate>();
            let _ = text.parse::<Share>();
        }
    }

    #[test]
    fn sizes_are_written_in_the_unit_one_would_choose() {
        let texts =
            [4096, 1536, 512, 1_000_000_000_000, 383_454_679_040, 412_316_860_416].map(|b| Bytes::new(b).to_string());
        assert_eq!(texts, ["4KiB", "1.5KiB", "512B", "1TB", "374467460KiB", "384GiB"]);
    }

    #[test]
    fn a_size_that_is_hard_to_read_has_a_rounded_one_beside_it_in_messages() {
        let texts = [383_454_679_040, 412_316_860_416, 1_000_000_000_000, 4096, 0, 1_234_567_891]
            .map(|b| format!("{:#}", Bytes::new(b)));
        let expected = ["374467460KiB (357.1 GiB)", "384GiB", "1TB", "4KiB", "0B", "1234567.891kB (1.1 GiB)"];
        assert_eq!(texts, expected);
    }
}
