//! Units of all quantities, for parsing a quantity of unknown type.

use super::{Area, Bandwidth, BitArea, Bytes, Decimal, Energy, Power, Price, Quantity, Rate, Ratio, split};
use crate::time::Time;

/// A unit of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Name of the quantity that has this unit.
    pub of: &'static str,
    /// Symbol of the unit, e.g. `"us"`.
    pub name: &'static str,
    /// Factor to the base unit, as numerator and denominator.
    pub scale: (u64, u64),
}

/// Returns every unit.
pub fn units() -> Vec<Unit> {
    let mut all = Vec::new();
    add::<Bytes>(&mut all);
    add::<Time>(&mut all);
    add::<Ratio>(&mut all);
    add::<Rate>(&mut all);
    add::<Bandwidth>(&mut all);
    add::<Energy>(&mut all);
    add::<Power>(&mut all);
    add::<Price>(&mut all);
    add::<Area>(&mut all);
    add::<BitArea>(&mut all);
    all
}

fn add<Q: Quantity>(all: &mut Vec<Unit>) {
    let written = Q::UNITS.iter().enumerate().filter(|(_, name)| !name.is_empty());
    all.extend(written.map(|(place, name)| Unit { of: Q::NAME, name, scale: Q::scale(place) }));
}

impl Decimal {
    /// Parses a number with a unit, which may be unknown. Returns `None` for any other text.
    pub fn parse_with_unit(text: &str) -> Option<(Decimal, String)> {
        let (number, unit) = split(text);
        let number = Decimal::parse(number)?;
        (!unit.is_empty()).then_some((number, unit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_has_its_scale_and_measures_one_thing() {
        let all = units();
        let scale = |name: &str| {
            let mut own = all.iter().filter(|unit| unit.name == name);
            let found = own.next().map(|unit| unit.scale);
            assert!(own.next().is_none(), "{name} measures two things");
            found
        };
        all.iter().for_each(|unit| assert!(scale(unit.name).is_some_and(|(of, by)| of > 0 && by > 0)));
        assert_eq!(scale("MiB"), Some((1 << 20, 1)));
        assert_eq!(scale("us"), Some((1_000_000, 1_000_000_000_000)));
        assert_eq!([scale("/min"), scale("/TiB"), scale("%")], [(1, 60), (1, 1024), (1, 100)].map(Some));
        assert_eq!([scale("pJ"), scale("Wh")], [(1, 1_000_000_000_000), (3600, 1)].map(Some));
    }

    #[test]
    fn a_number_is_told_from_its_unit() {
        let parts =
            |text| Decimal::parse_with_unit(text).map(|(number, unit)| (number.digits_and_scale(), unit));
        assert_eq!(parts(" 6.70us "), Some(((670, 2), "us".into())));
        assert_eq!(parts("1_000 \u{b5}J"), Some(((1000, 0), "uJ".into())));
        assert_eq!(parts("1e3 gigs"), Some(((1000, 0), "gigs".into())));
        assert_eq!(
            [parts("6.7"), parts("us"), parts("-1 us"), parts(""), parts("1.2.3 s")],
            [const { None }; 5]
        );
    }
}
