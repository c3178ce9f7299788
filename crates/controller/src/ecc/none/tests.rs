use super::*;

#[test]
fn wrong_bits_go_unnoticed() {
    let bare = Bare { page: 2048 };
    assert_eq!(bare.decoding(0).verdict, Verdict::Clean);
    assert_eq!(bare.decoding(1).verdict, Verdict::Unnoticed);
    let mut page = [7; 2048];
    assert_eq!(bare.decode(&mut page, &mut []), Ok(Verdict::Clean));
    assert_eq!(page, [7; 2048]);
}

#[test]
fn a_page_is_wrong_where_any_bit_is() {
    let failure = Bare { page: 2048 }.page_failure(1e-6);
    let expected = 1.0 - libm::pow(1.0 - 1e-6, 16_384.0);
    assert!((failure / expected - 1.0).abs() < 1e-9, "{failure} and {expected}");
}
