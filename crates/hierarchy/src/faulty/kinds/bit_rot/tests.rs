use crate::faulty::tests::behind;
use nacre_kernel::Status;

#[test]
fn one_bit_rots() {
    let (_, status, found, silent) = behind("kind = \"bit_rot\"");
    assert_eq!((status, silent), (Status::Done, 1));
    let wrong: u32 = found.iter().map(|byte| (byte ^ 2).count_ones()).sum();
    assert_eq!(wrong, 1);
}
