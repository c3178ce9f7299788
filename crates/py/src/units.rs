//! Conversion of quantities for Python, with the units of the simulator.

use nacre_kernel::units::{Decimal, Unit};
use pyo3::prelude::*;

/// Returns the quantity and the name of every unit, and its factor to the base unit as numerator and
/// denominator.
#[pyfunction]
pub(crate) fn units() -> Vec<(&'static str, &'static str, u64, u64)> {
    let row = |Unit { of, name, scale: (times, per) }| (of, name, times, per);
    nacre_kernel::units::units().into_iter().map(row).collect()
}

/// Parses a number with a unit. Returns the digits as an integer, the number of decimals, and the unit, which
/// may be unknown. Returns `None` if `text` is not a number with a unit.
#[pyfunction]
pub(crate) fn number_and_unit(text: &str) -> Option<(u64, u32, String)> {
    let (number, unit) = Decimal::parse_with_unit(text)?;
    let (digits, scale) = number.digits_and_scale();
    Some((digits, scale, unit))
}
