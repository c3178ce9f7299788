use crate::faulty::tests::{BYTES, behind, counts, read};
use nacre_kernel::Status;

#[test]
fn a_misdirected_write_is_elsewhere() {
    for (distance, place) in [("128 KiB", 65536 + (128 << 10)), ("960 KiB", 65536)] {
        let (mut device, status, found, silent) =
            behind(&format!("kind = \"misdirected_write\"\ndistance = \"{distance}\""));
        assert_eq!(status, Status::Done);
        if place == 65536 {
            // The shifted write fits neither after nor before its address.
            assert_eq!((found[0], silent, counts(&*device, 0).touched), (2, 0, 0));
            continue;
        }
        assert_eq!(found, [1; BYTES]);
        assert_eq!(silent, 2 * BYTES as u64);
        assert_eq!(read(&mut *device, 11, place), [2; BYTES]);
    }
    // The write is performed before its address, because the device ends after it.
    let (mut device, ..) = behind("kind = \"misdirected_write\"\ndistance = \"64 KiB\"");
    assert_eq!(read(&mut *device, 11, 131_072), [2; BYTES]);
}
