use crate::faulty::tests::{BYTES, behind};
use nacre_kernel::Status;

#[test]
fn a_lost_write_is_acknowledged_and_not_there() {
    let (_, status, found, silent) = behind("kind = \"lost_write\"");
    assert_eq!((status, silent), (Status::Done, BYTES as u64));
    assert_eq!(found, [1; BYTES]);
}
