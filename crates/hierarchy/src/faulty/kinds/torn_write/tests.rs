use crate::faulty::tests::{BYTES, behind};
use nacre_kernel::Status;

#[test]
fn a_torn_write_is_there_up_to_a_sector() {
    let (_, status, found, silent) = behind("kind = \"torn_write\"");
    let new = found.iter().take_while(|&&byte| byte == 2).count();
    assert_eq!(status, Status::Done);
    assert!(new > 0 && new < BYTES && new.is_multiple_of(512), "{new} bytes are new");
    assert!(found[new..].iter().all(|&byte| byte == 1));
    assert_eq!(silent, (BYTES - new) as u64);
}
