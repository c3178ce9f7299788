//! Parsing of numbers in lines, without floating point.

use super::clock::Clock;
use super::error::Fault;
use nacre_kernel::{Op, Request, Time};

/// The unparsed rest of a line.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'a>(pub &'a [u8]);

const POWERS_OF_TEN: [u64; 20] = {
    let mut powers = [1u64; 20];
    let mut i = 1;
    while i < 20 {
        powers[i] = powers[i - 1] * 10;
        i += 1;
    }
    powers
};

impl<'a> Fields<'a> {
    /// Parses one or more digits. Returns `None` if there are no digits, or if the value is not below 2^64.
    #[inline]
    pub fn number(&mut self) -> Option<u64> {
        let (value, digits) = run(self.0, 0);
        let text = self.0;
        self.0 = &text[digits..];
        match digits {
            0 => None,
            1..=19 => Some(value),
            _ => std::str::from_utf8(&text[..digits]).ok()?.parse().ok(),
        }
    }

    /// Parses digits followed by a comma. Returns `None` for other text.
    #[inline]
    pub fn number_comma(&mut self) -> Option<u64> {
        let value = self.number()?;
        self.byte(b',').then_some(value)
    }

    /// Parses digits after optional blanks. Returns `None` unless a blank or the end of the line follows the
    /// digits.
    #[inline]
    pub fn number_blank(&mut self) -> Option<u64> {
        self.blanks();
        let value = self.number()?;
        matches!(self.0.first(), None | Some(b' ' | b'\t')).then_some(value)
    }

    /// Parses a time as a decimal number of units of `unit_ps` picoseconds. Returns the time in picoseconds,
    /// rounded to nearest. Returns `None` for other text, e.g. a negative number.
    #[inline]
    pub fn time(&mut self, unit_ps: u64) -> Option<u128> {
        let text = self.0;
        let (whole, digits) = run(text, 0);
        if text.get(digits) != Some(&b'.') {
            let exponent = matches!(text.get(digits), Some(b'e' | b'E'));
            if digits == 0 || digits > 19 || exponent {
                return self.odd_time(unit_ps);
            }
            self.0 = &text[digits..];
            return Some(u128::from(whole) * u128::from(unit_ps));
        }
        let (value, decimals) = run(&text[digits + 1..], whole);
        let end = digits + 1 + decimals;
        let exponent = matches!(text.get(end), Some(b'e' | b'E'));
        if digits + decimals == 0 || digits + decimals > 19 || exponent {
            return self.odd_time(unit_ps);
        }
        self.0 = &text[end..];
        let power = POWERS_OF_TEN[decimals];
        if unit_ps.is_multiple_of(power) {
            return Some(u128::from(value) * u128::from(unit_ps / power));
        }
        Some((u128::from(value) * u128::from(unit_ps) + u128::from(power / 2)) / u128::from(power))
    }

    /// Parses a time with an exponent or with more than 19 digits, as [`Fields::time`] does. Published
    /// traces do not contain such times.
    #[cold]
    fn odd_time(&mut self, unit_ps: u64) -> Option<u128> {
        let end = self.0.iter().position(|b| !matches!(b, b'0'..=b'9' | b'.' | b'e' | b'E' | b'-' | b'+'));
        let (text, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
        let ps = value * unit_ps as f64 + 0.5;
        self.0 = rest;
        (value >= 0.0 && ps < 1e37).then_some(ps as u128)
    }

    /// Skips the next byte if it is `wanted`. Returns whether the byte was skipped.
    #[inline]
    pub fn byte(&mut self, wanted: u8) -> bool {
        match self.0 {
            [first, rest @ ..] if *first == wanted => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    /// Skips blanks and tabs.
    #[inline]
    pub fn blanks(&mut self) {
        while let [b' ' | b'\t', rest @ ..] = self.0 {
            self.0 = rest;
        }
    }

    /// Returns the bytes before `separator`, and skips them and the separator. Without a separator, returns
    /// all bytes.
    #[inline]
    pub fn until(&mut self, separator: u8) -> &'a [u8] {
        let text = self.0;
        match memchr::memchr(separator, text) {
            Some(at) => {
                self.0 = &text[at + 1..];
                &text[..at]
            }
            None => {
                self.0 = &[];
                text
            }
        }
    }

    /// Skips blanks, and returns the next word. At the end of the line, the word is empty.
    #[inline]
    pub fn word(&mut self) -> &'a [u8] {
        self.blanks();
        let text = self.0;
        let end = text.iter().position(|b| matches!(b, b' ' | b'\t')).unwrap_or(text.len());
        self.0 = &text[end..];
        &text[..end]
    }

    /// Whether only blanks are left.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.0.iter().all(|b| b.is_ascii_whitespace())
    }
}

/// Appends the digits at the start of `text` to `value`. Returns the value and the number of digits. If there
/// are more than 19 digits in total, the value is meaningless.
#[inline]
fn run(text: &[u8], mut value: u64) -> (u64, usize) {
    let mut digits = 0;
    // Eight bytes are parsed at a time, so that fields of varying length do not cause branch mispredictions.
    while let Some(bytes) = text[digits..].first_chunk::<8>() {
        let (eight, count) = up_to_eight_digits(u64::from_le_bytes(*bytes));
        value = value.wrapping_mul(POWERS_OF_TEN[count]).wrapping_add(eight);
        digits += count;
        if count < 8 {
            return (value, digits);
        }
    }
    for &b in &text[digits..] {
        let digit = b.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        digits += 1;
    }
    (value, digits)
}

/// Value and number of the digits in the lowest bytes of `text`. The computation uses one register (based on
/// Lemire, "Quickly parsing eight digits", 2018).
#[inline]
fn up_to_eight_digits(text: u64) -> (u64, usize) {
    let digits = text ^ 0x3030_3030_3030_3030;
    // Adding 0x76 sets the top bit of every byte above 9. A carry only affects bytes after the first such
    // byte.
    let others = (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080;
    let count = others.trailing_zeros() as usize / 8;
    // The digits are shifted to the top. The zeros that are shifted in act as leading zeros.
    let aligned = digits.checked_shl(64 - 8 * count as u32).unwrap_or(0);
    let pairs = aligned.wrapping_mul(10).wrapping_add(aligned >> 8);
    let high = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(0x000f_4240_0000_0064);
    let low = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(0x0000_2710_0000_0001);
    (high.wrapping_add(low) >> 32, count)
}

/// Maximum end address of a request. With this limit, sums of addresses do not overflow.
const LAST_ADDRESS: u64 = 1 << 62;

/// Creates and checks a read, write, or trim at `ps` picoseconds since the epoch of `clock`. An invalid
/// request leaves the clock unchanged.
#[inline]
pub fn request(
    clock: &mut Clock,
    ps: u128,
    op: Op,
    volume: u32,
    address: u64,
    bytes: u64,
) -> Result<Request, Fault> {
    if bytes.wrapping_sub(1) >= u64::from(u32::MAX) {
        return Err(if bytes == 0 { Fault::NO_BYTES } else { Fault::TOO_LONG });
    }
    if address > LAST_ADDRESS - bytes {
        return Err(Fault::TOO_FAR);
    }
    Ok(Request { arrival: clock.place(ps)?, address, bytes: bytes as u32, volume, op })
}

/// Creates a flush, which has neither address nor size.
#[inline]
pub fn flush(arrival: Time, volume: u32) -> Request {
    Request { arrival, address: 0, bytes: 0, volume, op: Op::Flush }
}

/// Size in bytes of `count` sectors of 512 B. If the size does not fit into 64 bits, returns the maximum
/// value, which is too large for any request.
#[inline]
pub fn sectors(count: u64) -> u64 {
    count.saturating_mul(512)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_seconds_become_picoseconds_exactly() {
        const S: u64 = 1_000_000_000_000;
        let time = |text: &str| Fields(text.as_bytes()).time(S);
        assert_eq!(time("1456095145.133076000"), Some(1_456_095_145_133_076_000_000));
        assert_eq!(time("0.000001"), Some(1_000_000));
        assert_eq!(time("7"), Some(7_000_000_000_000));
        assert_eq!(time(".5"), Some(500_000_000_000));
        assert_eq!(time("3."), Some(3_000_000_000_000));
        assert_eq!(time("0.0000000000016"), Some(2), "past picoseconds the nearest is taken");
        assert_eq!(time("1e-3"), Some(1_000_000_000));
        assert_eq!(time("-1.0"), None);
        assert_eq!(time("."), None);
        assert_eq!(time("nan"), None);
    }

    #[test]
    fn numbers_stop_at_the_first_other_byte_and_do_not_wrap() {
        let mut fields = Fields(b"18446744073709551615,18446744073709551616");
        assert_eq!(fields.number_comma(), Some(u64::MAX));
        assert_eq!(fields.number(), None, "one more than fits");
        assert_eq!(Fields(b"0000000000000000000000012").number(), Some(12));
        assert_eq!(Fields(b"-1").number(), None);
    }

    #[test]
    fn digits_of_every_length_are_read_whatever_stands_behind_them() {
        for length in 0..=19 {
            let digits = &b"9876543210123456789"[..length];
            for tail in
                [&b""[..], b",1", b"        ", b"\xff\xff\xff\xff\xff\xff\xff\xff", b":/:/:/:/", b"a9999999"]
            {
                let text = [digits, tail].concat();
                let mut fields = Fields(&text);
                let expected = std::str::from_utf8(digits).unwrap().parse().ok();
                assert_eq!(fields.number(), expected, "{digits:?} before {tail:?}");
                assert_eq!(fields.0, tail);
            }
        }
    }

    #[test]
    fn requests_that_break_the_contract_are_refused_with_the_reason() {
        let make = |address, bytes| request(&mut Clock::default(), 0, Op::Read, 0, address, bytes);
        assert_eq!(make(0, 0), Err(Fault::NO_BYTES));
        assert_eq!(make(0, u64::from(u32::MAX)).unwrap().bytes, u32::MAX);
        assert_eq!(make(0, 1 << 32), Err(Fault::TOO_LONG));
        assert_eq!(make((1 << 62) - 512, 512).unwrap().address, (1 << 62) - 512);
        assert_eq!(make((1 << 62) - 511, 512), Err(Fault::TOO_FAR));
        assert_eq!(sectors(u64::MAX), u64::MAX, "too far rather than wrapped");
    }
}
