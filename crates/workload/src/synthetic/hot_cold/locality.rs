//! Locality of reference in the notation of eNVy.

use nacre_config::{ErrorCode, FieldType, Node, Reader, Shape};
use nacre_kernel::units::Decimal;
use std::fmt;

/// A share of the data and its share of the accesses. `10/90` means that 90 % of the accesses go to 10 % of
/// the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Locality {
    /// Percentage of the data, above 0 and below 100.
    data: Decimal,
    /// Percentage of the accesses, 0 to 100.
    accesses: Decimal,
}

impl Locality {
    /// Regular expression that matches the texts accepted by [`Locality::parse`], except that the
    /// expression does not limit the number of digits to 19.
    pub const PATTERN: &'static str = r"^\s*(0*[1-9][0-9]?(\.[0-9]+)?|0+\.[0-9]*[1-9][0-9]*)\s*/\s*(0*[0-9]{1,2}(\.[0-9]+)?|0*100(\.0+)?)\s*$";

    /// Parses a text such as `"10/90"`. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Locality> {
        let (data, accesses) = text.split_once('/')?;
        let (data, accesses) = (percent(data)?, percent(accesses)?);
        let legal = data.as_f64() > 0.0 && data.as_f64() < 100.0 && accesses.as_f64() <= 100.0;
        legal.then_some(Locality { data, accesses })
    }

    /// Fraction of the data that is hot.
    pub fn data(&self) -> f64 {
        self.data.as_f64() / 100.0
    }

    /// Fraction of accesses to hot data.
    pub fn accesses(&self) -> f64 {
        self.accesses.as_f64() / 100.0
    }

    /// Number of hot blocks out of `blocks`, rounded to the nearest integer.
    pub fn hot_blocks(&self, blocks: u64) -> u64 {
        (blocks as f64 * self.data() + 0.5) as u64
    }
}

/// Parses digits with an optional decimal point. Returns `None` for other text.
fn percent(text: &str) -> Option<Decimal> {
    let text = text.trim();
    let digits_only = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    text.splitn(2, '.').all(digits_only).then(|| Decimal::parse(text))?
}

impl fmt::Display for Locality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.data.as_f64(), self.accesses.as_f64())
    }
}

impl FieldType for Locality {
    fn shape() -> Shape {
        Shape::Form { wanted: "a locality such as \"10/90\"", pattern: Locality::PATTERN }
    }

    fn read(node: &Node, reader: &mut Reader<'_>) -> Option<Locality> {
        let Some(text) = node.text() else { return reader.expected(node, &Self::shape()) };
        let locality = Locality::parse(text);
        if locality.is_none() {
            reader.wrong(
                ErrorCode::InvalidValue,
                node,
                "it is not a locality",
                "write \"10/90\" for 90 % of the accesses to 10 % of the data; the data is above 0 and below 100",
            );
        }
        locality
    }
}
