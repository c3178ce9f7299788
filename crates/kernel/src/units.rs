//! Quantities as types. Each is parsed from a string that includes its unit.
//!
//! In files and on the command line, a quantity is always a string: `"6.7 us"`, `"64 GiB"`, `"22 %"`. Numbers
//! without a unit are rejected because they are ambiguous.

mod table;

use crate::error_code::ErrorCode;
use crate::time::Time;
use std::fmt;

pub use table::{Unit, units};

/// Error for a text that is not a quantity of the expected kind.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("\"{given}\" is not {wanted}: {problem}")]
pub struct UnitError {
    /// Error code.
    pub code: ErrorCode,
    /// The given text.
    pub given: String,
    /// The expected quantity, with an example.
    pub wanted: &'static str,
    /// Description of the error, and the known units.
    pub problem: String,
}

/// A quantity that is written as a number with a unit.
pub trait Quantity: Sized + Copy + PartialOrd + fmt::Display {
    /// Description with an example, which completes the phrase "is not ...".
    const WANTED: &'static str;
    /// Short name in generated documents.
    const NAME: &'static str;
    /// Accepted units.
    const UNITS: &'static [&'static str];

    /// Quantity of `number` in the unit at index `unit` of [`Quantity::UNITS`], or `None` if it cannot be
    /// represented.
    fn from_number(number: Decimal, unit: usize) -> Option<Self>;

    /// Factor from the unit at index `unit` to the base unit, as numerator and denominator.
    fn scale(unit: usize) -> (u64, u64);

    /// Reason why `number` in the unit at index `unit` cannot be represented.
    fn misfit(_number: Decimal, _unit: usize) -> String {
        "it is out of range".into()
    }

    /// Parses a text such as `"6.7 us"` or `"1e6 Hz"`. The space is optional, `_` may group digits, and `u`
    /// stands for the micro sign.
    fn parse(text: &str) -> Result<Self, UnitError> {
        let fail = |code, problem| UnitError { code, given: text.to_string(), wanted: Self::WANTED, problem };
        let (number, unit) = &split(text);
        let number = Decimal::parse(number).ok_or_else(|| {
            let is_number = number.replace('_', "").parse::<f64>().is_ok();
            let digits = number.chars().take_while(|c| !matches!(c, 'e' | 'E')).filter(char::is_ascii_digit);
            match number.starts_with('-') {
                true => fail(ErrorCode::OutOfRange, "it is negative".into()),
                false if !is_number => {
                    fail(ErrorCode::InvalidValue, "it does not start with a number".into())
                }
                false if digits.count() > DIGITS_MAX => {
                    fail(ErrorCode::OutOfRange, format!("it has more than {DIGITS_MAX} digits"))
                }
                false => fail(ErrorCode::OutOfRange, "it is out of range".into()),
            }
        })?;
        let known =
            Self::UNITS.iter().filter(|unit| !unit.is_empty()).copied().collect::<Vec<_>>().join(", ");
        if unit.is_empty() && !Self::UNITS.contains(&"") {
            return Err(fail(ErrorCode::NeedsUnit, format!("it has no unit; use {known}")));
        }
        let index = Self::UNITS.iter().position(|own| own == unit).ok_or_else(|| {
            fail(ErrorCode::InvalidValue, format!("there is no unit \"{unit}\"; use {known}"))
        })?;
        Self::from_number(number, index)
            .ok_or_else(|| fail(ErrorCode::OutOfRange, Self::misfit(number, index)))
    }
}

/// Splits `text` into the number at its start and the unit, with `u` for the micro sign.
fn split(text: &str) -> (&str, String) {
    let trimmed = text.trim();
    let (number, unit) = trimmed.split_at(number_length(trimmed));
    (number, unit.trim().replace(MICRO, "u"))
}

/// Maximum number of decimal digits that fit into 64 bits.
const DIGITS_MAX: usize = 19;

/// The two characters for micro: the micro sign and the Greek letter mu.
const MICRO: [char; 2] = ['\u{b5}', '\u{3bc}'];

/// Length of the number at the start of `text`, including its exponent.
fn number_length(text: &str) -> usize {
    let is_mantissa = |c: char| c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+');
    let mantissa = text.find(|c| !is_mantissa(c)).unwrap_or(text.len());
    let Some(exponent) = text[mantissa..].strip_prefix(['e', 'E']) else { return mantissa };
    let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let count = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    if count == 0 { mantissa } else { text.len() - digits.len() + count }
}

/// An exact non-negative decimal number, `digits / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: u64,
    scale: u32,
}

impl Decimal {
    /// Parses `12`, `1_000`, `6.75`, or `1e6`. Returns `None` for any other text, or for more than 19 digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else { return Decimal::plain(text) };
        let plain = Decimal::plain(mantissa)?;
        let scale = i64::from(plain.scale) - exponent.parse::<i16>().map(i64::from).ok()?;
        let more = u32::try_from(-scale).unwrap_or(0);
        let digits = match plain.digits {
            0 => 0,
            digits => digits.checked_mul(10u64.checked_pow(more)?)?,
        };
        Some(Decimal { digits, scale: u32::try_from(scale).unwrap_or(0) })
    }

    fn plain(text: &str) -> Option<Decimal> {
        let (mut digits, mut scale, mut seen, mut point) = (0u64, 0u32, false, false);
        for c in text.chars() {
            match c {
                '0'..='9' => {
                    digits = digits.checked_mul(10)?.checked_add(u64::from(c as u8 - b'0'))?;
                    scale += u32::from(point);
                    seen = true;
                }
                '.' if !point => point = true,
                '_' if seen => {}
                _ => return None,
            }
        }
        seen.then_some(Decimal { digits, scale })
    }

    /// `self * factor`, rounded to the nearest integer; `None` on overflow.
    pub fn times(self, factor: u64) -> Option<u64> {
        let product = u128::from(self.digits) * u128::from(factor);
        let divisor = 10u128.checked_pow(self.scale)?;
        u64::try_from((product + divisor / 2) / divisor).ok()
    }

    /// `self * factor` if it is a whole number of at most 64 bits; `None` otherwise.
    pub fn times_exactly(self, factor: u64) -> Option<u64> {
        let product = u128::from(self.digits) * u128::from(factor);
        let divisor = 10u128.checked_pow(self.scale)?;
        (product % divisor == 0).then(|| u64::try_from(product / divisor).ok())?
    }

    /// The number as digits and scale: `digits / 10^scale`.
    pub fn digits_and_scale(self) -> (u64, u32) {
        (self.digits, self.scale)
    }

    /// The nearest `f64`.
    pub fn as_f64(self) -> f64 {
        self.digits as f64 / libm::pow(10.0, f64::from(self.scale))
    }
}

impl Quantity for Time {
    const WANTED: &'static str = "a duration such as \"6.7 us\"";
    const NAME: &'static str = "duration";
    const UNITS: &'static [&'static str] = &["ps", "ns", "us", "ms", "s", "min", "h", "d"];

    fn from_number(number: Decimal, unit: usize) -> Option<Time> {
        number.times(PS[unit]).map(Time::from_ps)
    }

    fn scale(unit: usize) -> (u64, u64) {
        (PS[unit], PS[4])
    }
}

/// Number of picoseconds in each unit of time.
const PS: [u64; 8] = [
    1,
    1_000,
    1_000_000,
    1_000_000_000,
    1_000_000_000_000,
    60_000_000_000_000,
    3_600_000_000_000_000,
    86_400_000_000_000_000,
];

/// A number of bytes, e.g. a capacity or a block size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

impl Quantity for Bytes {
    const WANTED: &'static str = "a size such as \"64 GiB\"";
    const NAME: &'static str = "size";
    const UNITS: &'static [&'static str] =
        &["B", "KiB", "MiB", "GiB", "TiB", "PiB", "kB", "MB", "GB", "TB", "PB"];

    fn from_number(number: Decimal, unit: usize) -> Option<Bytes> {
        number.times_exactly(Bytes::factor(unit)).map(Bytes)
    }

    fn scale(unit: usize) -> (u64, u64) {
        (Bytes::factor(unit), 1)
    }

    fn misfit(number: Decimal, unit: usize) -> String {
        let smaller = if (1..6).contains(&unit) { Bytes::UNITS.get(unit - 1) } else { None };
        match number.times(1024).filter(|_| Bytes::from_rounded(number, unit).is_some()).zip(smaller) {
            Some((count, smaller)) => {
                format!("it is not a whole number of bytes; {count} {smaller} is close")
            }
            None if Bytes::from_rounded(number, unit).is_some() => "it is not a whole number of bytes".into(),
            None => "it is out of range".into(),
        }
    }
}

impl Bytes {
    /// Number of bytes of the unit at index `unit` of [`Quantity::UNITS`].
    fn factor(unit: usize) -> u64 {
        if unit < 6 { 1u64 << (10 * unit) } else { 1000u64.pow(unit as u32 - 5) }
    }

    fn from_rounded(number: Decimal, unit: usize) -> Option<u64> {
        number.times(Bytes::factor(unit))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let power =
            (1..6).rev().find(|power| self.0 != 0 && self.0.is_multiple_of(1 << (10 * power))).unwrap_or(0);
        write!(f, "{} {}", self.0 >> (10 * power), Bytes::UNITS[power])
    }
}

/// Declares a quantity that is stored as `f64` in its base unit.
macro_rules! float_quantity {
    ($(#[$doc:meta])* $name:ident, $word:literal, $wanted:literal, $base:literal, [$($unit:literal => $factor:expr),+]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(pub f64);

        impl $name {
            const FACTORS: &[f64] = &[$($factor),+];
        }

        impl Quantity for $name {
            const WANTED: &'static str = $wanted;
            const NAME: &'static str = $word;
            const UNITS: &'static [&'static str] = &[$($unit),+];

            fn from_number(number: Decimal, unit: usize) -> Option<$name> {
                Some($name(number.as_f64() * $name::FACTORS[unit]))
            }

            fn scale(unit: usize) -> (u64, u64) {
                let factor = $name::FACTORS[unit];
                if factor < 1.0 { (1, (1.0 / factor).round() as u64) } else { (factor as u64, 1) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{} {}", self.0, $base)
            }
        }
    };
}

float_quantity!(
    /// A share of a whole; 1.0 is the whole.
    Ratio, "ratio", "a share such as \"22 %\" or \"0.22\"", "", ["%" => 0.01, "" => 1.0]
);
float_quantity!(
    /// Events per second.
    Rate, "rate", "a rate such as \"20 kHz\" or \"500 /s\"", "/s",
    ["/s" => 1.0, "/min" => 1.0 / 60.0, "/h" => 1.0 / 3600.0, "Hz" => 1.0, "kHz" => 1e3, "MHz" => 1e6, "GHz" => 1e9]
);
float_quantity!(
    /// Bytes per second.
    Bandwidth, "bandwidth", "a bandwidth such as \"1.1 GB/s\"", "B/s",
    ["B/s" => 1.0, "kB/s" => 1e3, "MB/s" => 1e6, "GB/s" => 1e9, "KiB/s" => 1024.0, "MiB/s" => 1_048_576.0, "GiB/s" => 1_073_741_824.0]
);
float_quantity!(
    /// Joules.
    Energy, "energy", "an energy such as \"25 uJ\"", "J",
    ["J" => 1.0, "mJ" => 1e-3, "uJ" => 1e-6, "nJ" => 1e-9, "pJ" => 1e-12, "kJ" => 1e3, "Wh" => 3600.0]
);
float_quantity!(
    /// Watts.
    Power, "power", "a power such as \"9.3 W\"", "W",
    ["W" => 1.0, "mW" => 1e-3, "uW" => 1e-6, "kW" => 1e3]
);
float_quantity!(
    /// Cost units per GiB. A cost unit is e.g. a dollar, or the unit of a normalized comparison.
    Price, "price", "a price such as \"4 /GiB\"", "/GiB",
    ["/GiB" => 1.0, "/TiB" => 1.0 / 1024.0, "/MiB" => 1024.0]
);

float_quantity!(
    /// Square millimeters.
    Area, "area", "an area such as \"1.2 mm2\"", "mm2",
    ["mm2" => 1.0, "um2" => 1e-6]
);
float_quantity!(
    /// Square micrometers per bit.
    BitArea, "area of a bit", "an area of a bit such as \"0.0081 um2/bit\"", "um2/bit",
    ["um2/bit" => 1.0, "nm2/bit" => 1e-6]
);

impl std::ops::AddAssign for Energy {
    #[inline]
    fn add_assign(&mut self, other: Energy) {
        self.0 += other.0;
    }
}

impl Power {
    /// Energy that this power consumes during `time`.
    pub fn over(self, time: Time) -> Energy {
        Energy(self.0 * time.as_secs_f64())
    }
}

impl Bandwidth {
    /// Transfer time of `bytes`.
    pub fn time_for(self, bytes: u64) -> Time {
        Time::from_secs_f64(bytes as f64 / self.0)
    }
}

impl BitArea {
    /// Area of the memory cells for `capacity`, in square millimeters.
    pub fn mm2_of(self, capacity: Bytes) -> f64 {
        self.0 * capacity.0 as f64 * 8.0 * 1e-6
    }
}

impl Price {
    /// Cost of `capacity`.
    pub fn of(self, capacity: Bytes) -> f64 {
        self.0 * capacity.0 as f64 / (1u64 << 30) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_read_with_their_units() {
        assert_eq!(Time::parse("6.7 us"), Ok(Time::from_ps(6_700_000)));
        assert_eq!(Time::parse("128.3us"), Ok(Time::from_ps(128_300_000)));
        assert_eq!(Bytes::parse("64 GiB"), Ok(Bytes(64 << 30)));
        assert_eq!(Bytes::parse("1.5 KiB"), Ok(Bytes(1536)));
        assert_eq!(Ratio::parse("22 %"), Ok(Ratio(0.22)));
        assert_eq!(Rate::parse("20 kHz"), Ok(Rate(20_000.0)));
        assert_eq!(Price::parse("4 /GiB").unwrap().of(Bytes(16 << 30)), 64.0);
        assert_eq!(BitArea::parse("0.25 um2/bit").unwrap().mm2_of(Bytes(1_000_000)), 2.0);
    }

    #[test]
    fn a_missing_or_unknown_unit_is_refused_with_the_known_ones() {
        let error = Time::parse("6.7").unwrap_err();
        assert_eq!(
            error.to_string(),
            "\"6.7\" is not a duration such as \"6.7 us\": it has no unit; use ps, ns, us, ms, s, min, h, d"
        );
        assert!(Bytes::parse("64 gigs").unwrap_err().problem.starts_with("there is no unit \"gigs\""));
        assert_eq!(Ratio::parse("1e").unwrap_err().problem, "there is no unit \"e\"; use %");
        assert_eq!(Ratio::parse("-0.1").unwrap_err().problem, "it is negative");
        assert!(Bytes::parse("0.3 B").is_err(), "a third of a byte does not exist");
        assert!(Time::parse("-1 us").is_err());
        assert!(Bytes::parse("99999999 PiB").is_err(), "does not fit");
    }

    #[test]
    fn exponents_and_the_micro_sign_are_read() {
        assert_eq!(Rate::parse("1e6 Hz"), Ok(Rate(1e6)));
        assert_eq!(Ratio::parse("1e-7"), Ok(Ratio(1e-7)));
        assert_eq!(Bytes::parse("1.5E3B"), Ok(Bytes(1500)));
        assert_eq!(Time::parse("2.5e-3 ms"), Ok(Time::from_ps(2_500_000)));
        assert_eq!(Time::parse("5 \u{b5}s"), Time::parse("5 us"));
        assert_eq!(Energy::parse("5 \u{3bc}J"), Energy::parse("5 uJ"));
        assert!(Time::parse("1e s").is_err() && Rate::parse("1e6").is_err());
        assert_eq!(Time::parse("1e99 s").unwrap_err().problem, "it is out of range");
        assert_eq!(Time::parse("1.2.3 s").unwrap_err().problem, "it does not start with a number");
        assert_eq!(Time::parse(&"1".repeat(21)).unwrap_err().problem, "it has more than 19 digits");
        assert_eq!(Decimal::parse("0e99").map(Decimal::as_f64), Some(0.0));
    }

    #[test]
    fn a_size_that_is_no_whole_number_of_bytes_is_told_the_next_that_is() {
        let problem = |text| Bytes::parse(text).unwrap_err().problem;
        assert_eq!(problem("5.2 GiB"), "it is not a whole number of bytes; 5325 MiB is close");
        assert_eq!(problem("0.3 B"), "it is not a whole number of bytes");
        assert_eq!(problem("99999999 PiB"), "it is out of range");
    }

    #[test]
    fn sizes_print_in_the_largest_whole_unit() {
        assert_eq!(Bytes(64 << 30).to_string(), "64 GiB");
        assert_eq!(Bytes(1536).to_string(), "1536 B");
        assert_eq!(Bytes(0).to_string(), "0 B");
        assert_eq!(Time::from_ps(6_700_000).to_string(), "6.7 us");
    }
}
