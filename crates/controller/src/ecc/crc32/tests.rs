use super::*;
use nacre_kernel::Streams;

#[test]
fn the_checksum_is_that_of_the_standard() {
    let code = Checksum { page: 9, work: Work::default() };
    let mut spare = [0; 4];
    code.encode(b"123456789", &mut spare).unwrap();
    assert_eq!(spare, [0xcb, 0xf4, 0x39, 0x26]);
}

#[test]
fn two_wrong_bits_are_noticed_wherever_they_are() {
    let code = Checksum { page: 2048, work: Work::default() };
    let mut random = Streams::new(1).stream("crc32");
    let (mut page, mut spare) = (vec![0x5a; 2048], [0; 4]);
    code.encode(&page, &mut spare).unwrap();
    assert_eq!(code.decode(&mut page, &mut spare), Ok(Verdict::Clean));
    for _ in 0..1000 {
        let one = random.below(16_384) as usize;
        let other = (one + 1 + random.below(16_383) as usize) % 16_384;
        let mut wrong = page.clone();
        wrong[one / 8] ^= 1 << (one % 8);
        wrong[other / 8] ^= 1 << (other % 8);
        assert_eq!(code.decode(&mut wrong, &mut spare), Ok(Verdict::Uncorrectable));
    }
}

#[test]
fn a_page_of_another_length_is_refused() {
    let code = Checksum { page: 2048, work: Work::default() };
    for (page, spare) in [(2047, 4), (2048, 3), (2048, 5)] {
        let misfit = code.decode(&mut vec![0; page], &mut vec![0; spare]).unwrap_err();
        assert!(misfit.0.ends_with("a page with a CRC-32 takes 2048 and 4"), "{misfit}");
    }
}
