//! Quantities as text, for who puts them together: the units of the model, and no others.

use nacre_kernel::units::{Decimal, Unit};
use pyo3::prelude::*;

/// Every unit: what it measures, how it is written, and as a dividend and a divisor how many of the base unit it is.
#[pyfunction]
pub(crate) fn units() -> Vec<(&'static str, &'static str, u64, u64)> {
    let row = |Unit { of, name, scale: (times, per) }| (of, name, times, per);
    nacre_kernel::units::units().into_iter().map(row).collect()
}

/// The number of `text`, as digits with so many of them behind the point, and its unit, which may be none that is
/// known; `None` for what is not a number with a unit.
#[pyfunction]
pub(crate) fn number_and_unit(text: &str) -> Option<(u64, u32, String)> {
    let (number, unit) = Decimal::parse_with_unit(text)?;
    let (digits, scale) = number.digits_and_scale();
    Some((digits, scale, unit))
}
