//! A column of bit-packed integers of equal width.

/// Number of zero bytes after the last column. With this padding, eight bytes can be read from the start of
/// any value.
pub(super) const PADDING: usize = 8;

/// Maximum width of packed values in bits. Wider values are stored in 64 bits, so that a single unaligned
/// load is sufficient for every value.
const WIDEST_PACKED: u8 = 56;

/// Units that are tried for arrivals, in picoseconds, longest first: s, ms, us, 100 ns, ns.
pub(super) const DECIMAL_UNITS: [u64; 5] = [1_000_000_000_000, 1_000_000_000, 1_000_000, 100_000, 1_000];

/// Encoding of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The value is `base + scale * stored`.
    Offset,
    /// The value is the previous value plus `scale` times the zigzag-coded difference. For the first value,
    /// `base` is the previous value.
    Difference,
}

/// Description of a column in a block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) kind: Kind,
    pub(super) width: u8,
    pub(super) base: u64,
    pub(super) scale: u64,
}

impl Layout {
    pub(super) const BYTES: usize = 24;

    /// Size of `count` values in bytes, rounded up to whole words of 8 bytes.
    pub(super) fn size(self, count: usize) -> usize {
        (count * usize::from(self.width)).div_ceil(64) * 8
    }

    pub(super) fn store(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.kind as u8, self.width, 0, 0, 0, 0, 0, 0]);
        out.extend_from_slice(&self.base.to_le_bytes());
        out.extend_from_slice(&self.scale.to_le_bytes());
    }

    pub(super) fn load(bytes: &[u8; Layout::BYTES]) -> Option<Layout> {
        let (words, _) = bytes.as_chunks::<8>();
        let kind = match bytes[0] {
            0 => Kind::Offset,
            1 => Kind::Difference,
            _ => return None,
        };
        let width = bytes[1];
        (width <= WIDEST_PACKED || width == 64).then_some(Layout {
            kind,
            width,
            base: u64::from_le_bytes(words[1]),
            scale: u64::from_le_bytes(words[2]),
        })
    }
}

fn zigzag(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

fn unzigzag(stored: u64) -> u64 {
    (stored >> 1) ^ (stored & 1).wrapping_neg()
}

fn width_of(all: u64) -> u8 {
    let width = (64 - all.leading_zeros()) as u8;
    if width > WIDEST_PACKED { 64 } else { width }
}

/// Layout that stores `values` as offsets from the smallest value, in units of a power of two.
pub(super) fn offsets(values: &[u64]) -> Layout {
    let base = values.iter().copied().min().unwrap_or(0);
    let all = values.iter().fold(0, |all, &value| all | (value - base));
    let shift = if all == 0 { 0 } else { all.trailing_zeros() };
    let largest = values.iter().copied().max().unwrap_or(0) - base;
    Layout { kind: Kind::Offset, width: width_of(largest >> shift), base, scale: 1 << shift }
}

/// Layout that stores `values` as differences. The unit is the largest of `units` that divides all
/// differences. If none does, the unit is the largest power of two that divides them.
pub(super) fn differences(values: &[u64], units: &[u64]) -> Layout {
    let base = values.first().copied().unwrap_or(0);
    let steps = || values.windows(2).map(|pair| pair[1].wrapping_sub(pair[0]) as i64);
    let exact = |unit: &&u64| steps().all(|step| step % (**unit as i64) == 0);
    let scale = units.iter().find(exact).copied().unwrap_or_else(|| {
        let all = steps().fold(0, |all, step| all | step);
        1u64 << if all == 0 { 0 } else { all.trailing_zeros().min(62) }
    });
    let widest = steps().fold(0, |all, step| all | zigzag(step / scale as i64));
    Layout { kind: Kind::Difference, width: width_of(widest), base, scale }
}

/// Appends `values` to `out`, packed with the `layout` that was computed for them.
pub(super) fn pack(values: &[u64], layout: Layout, out: &mut Vec<u8>) {
    let (mut word, mut used, mut before) = (0u64, 0u32, layout.base);
    let width = u32::from(layout.width);
    let end = out.len() + layout.size(values.len());
    for &value in values {
        let stored = match layout.kind {
            Kind::Offset => (value - layout.base) / layout.scale,
            Kind::Difference => zigzag((value.wrapping_sub(before) as i64) / layout.scale as i64),
        };
        before = value;
        word |= stored.wrapping_shl(used) * u64::from(width > 0);
        used += width;
        if used >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            used -= 64;
            word = if used == 0 { 0 } else { stored >> (width - used) };
        }
    }
    if used > 0 {
        out.extend_from_slice(&word.to_le_bytes());
    }
    debug_assert_eq!(out.len(), end, "the size in the header is the size written");
}

/// Reads consecutive values.
#[derive(Clone, Debug)]
pub(super) struct Cursor {
    layout: Layout,
    bit: usize,
    before: u64,
}

impl Cursor {
    /// Creates a reader of the column that starts at byte `offset` of the payload.
    pub(super) fn new(layout: Layout, offset: usize) -> Cursor {
        Cursor { layout, bit: offset * 8, before: layout.base }
    }

    /// Fills `out` with the next values. `payload` must end with [`PADDING`] zero bytes.
    #[inline]
    pub(super) fn read(&mut self, payload: &[u8], out: &mut [u64]) {
        let Layout { kind, width, base, scale } = self.layout;
        if width == 0 {
            out.fill(base);
            return;
        }
        let mask = u64::MAX >> (64 - width);
        let mut bit = self.bit;
        let stored = |bit: usize| {
            let bytes = payload[bit >> 3..].first_chunk::<8>().expect("the payload is padded");
            (u64::from_le_bytes(*bytes) >> (bit & 7)) & mask
        };
        match kind {
            Kind::Offset => {
                for value in out {
                    *value = base.wrapping_add(scale.wrapping_mul(stored(bit)));
                    bit += usize::from(width);
                }
            }
            Kind::Difference => {
                let mut before = self.before;
                for value in out {
                    before = before.wrapping_add(scale.wrapping_mul(unzigzag(stored(bit))));
                    *value = before;
                    bit += usize::from(width);
                }
                self.before = before;
            }
        }
        self.bit = bit;
    }
}
