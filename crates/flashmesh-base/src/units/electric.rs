//! Currents, voltages and powers. Only reports use them; no event time depends on them.

use std::fmt;
use std::ops::Mul;
use std::str::FromStr;

use super::text::{Quantity, UnitError, parse, write_scaled};

/// A power, in nanowatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wattage(u64);

/// An electric current, in microamperes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Current(u64);

/// A voltage, in millivolts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Voltage(u64);

impl Wattage {
    /// Zero watts.
    pub const ZERO: Wattage = Wattage(0);

    /// Creates a power of `microwatts`.
    pub const fn from_uw(microwatts: u64) -> Wattage {
        Wattage(microwatts * 1_000)
    }

    /// Creates a power of `watts`.
    pub const fn from_watts(watts: u64) -> Wattage {
        Wattage(watts * 1_000_000_000)
    }

    /// Returns the power in watts.
    pub fn as_watts(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Current {
    /// Creates a current of `milliamperes`.
    pub const fn from_ma(milliamperes: u64) -> Current {
        Current(milliamperes * 1_000)
    }
}

impl Voltage {
    /// Creates a voltage of `millivolts`.
    pub const fn from_mv(millivolts: u64) -> Voltage {
        Voltage(millivolts)
    }
}

impl Mul<Voltage> for Current {
    type Output = Wattage;
    fn mul(self, voltage: Voltage) -> Wattage {
        Wattage(self.0.saturating_mul(voltage.0))
    }
}

impl Quantity for Wattage {
    const NAME: &'static str = "a power";
    const UNITS: &'static [(&'static str, u64)] = &[("W", 1_000_000_000), ("mW", 1_000_000), ("uW", 1_000), ("nW", 1)];
}

impl Quantity for Current {
    const NAME: &'static str = "a current";
    const UNITS: &'static [(&'static str, u64)] = &[("A", 1_000_000), ("mA", 1_000), ("uA", 1)];
}

impl Quantity for Voltage {
    const NAME: &'static str = "a voltage";
    const UNITS: &'static [(&'static str, u64)] = &[("V", 1_000), ("mV", 1)];
}

/// Implements parsing and printing of a number and a unit.
macro_rules! text_form {
    ($($type:ident),+) => {$(
        impl FromStr for $type {
            type Err = UnitError;
            fn from_str(text: &str) -> Result<$type, UnitError> {
                parse::<$type>(text).map($type)
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_scaled::<$type>(f, self.0)
            }
        }
    )+};
}

text_form!(Wattage, Current, Voltage);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_are_read_exactly_and_written_in_the_unit_one_would_choose() {
        for (text, nanowatts) in [("0.241mW", 241_000), ("1.08 mW", 1_080_000), ("2W", 2_000_000_000), ("0nW", 0)] {
            assert_eq!(text.parse::<Wattage>(), Ok(Wattage(nanowatts)), "{text}");
        }
        let texts = [241_000, 1_080_000, 10_800_000, 82_500_000].map(|nanowatts| Wattage(nanowatts).to_string());
        assert_eq!(texts, ["241uW", "1.08mW", "10.8mW", "82.5mW"]);
        assert_eq!(Wattage::from_uw(241).as_watts(), 241e-6);
    }

    #[test]
    fn current_times_voltage_is_power() {
        assert_eq!(Current::from_ma(25) * Voltage::from_mv(3_300), "82.5mW".parse().expect("the text is a power"));
        assert_eq!(Current(u64::MAX) * Voltage(2), Wattage(u64::MAX));
    }

    #[test]
    fn errors_name_the_units_that_would_do() {
        let error = "25".parse::<Current>().expect_err("the unit is missing").to_string();
        assert_eq!(error, "`25` has no unit: a current needs one of A, mA or uA");
        let error = "3.3kV".parse::<Voltage>().expect_err("the unit is unknown").to_string();
        assert_eq!(error, "`kV` is not a unit of voltage: use one of V or mV");
    }
}
