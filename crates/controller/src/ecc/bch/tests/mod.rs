mod algebra;
mod codes;
mod division;
mod model;
mod oracle;

use super::code::Code;
use nacre_kernel::Random;

/// Returns the data and the spare bytes of a codeword. The data and the head of the spare bytes are random.
fn codeword(code: &Code, data_bytes: usize, random: &mut Random) -> [Vec<u8>; 2] {
    let bytes =
        |count: usize, random: &mut Random| (0..count).map(|_| random.bits() as u8).collect::<Vec<u8>>();
    let data = bytes(data_bytes, random);
    let mut spare = bytes(code.spare_bytes(), random);
    code.encode(&data, &mut spare).unwrap();
    [data, spare]
}

/// Generates `count` different positions below `bits`.
fn places(count: u32, bits: u32, random: &mut Random) -> Vec<usize> {
    let mut places = Vec::new();
    while places.len() < count as usize {
        let place = random.below(u64::from(bits)) as usize;
        if !places.contains(&place) {
            places.push(place);
        }
    }
    places
}

/// The codeword with the bits at `places` inverted. Positions are counted from the start of the data.
fn flipped([data, spare]: &[Vec<u8>; 2], places: &[usize]) -> [Vec<u8>; 2] {
    let mut flipped = [data.clone(), spare.clone()];
    for &place in places {
        let (part, byte) = if place / 8 < data.len() { (0, place / 8) } else { (1, place / 8 - data.len()) };
        flipped[part][byte] ^= 0x80 >> (place % 8);
    }
    flipped
}
