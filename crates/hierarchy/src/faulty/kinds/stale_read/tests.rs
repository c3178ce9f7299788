use crate::faulty::tests::{BYTES, ask, counts, read, request, with_bytes, write};
use nacre_kernel::event::{Device, Payload};
use nacre_kernel::{Op, Time};

#[test]
fn a_stale_read_returns_the_write_before_the_last() {
    let mut device = with_bytes(&["kind = \"stale_read\"\nevery = 2"]);
    write(&mut *device, 1, 1);
    assert_eq!(read(&mut *device, 2, 65536), [1; BYTES], "the first read is not touched");
    assert_eq!(read(&mut *device, 3, 65536), [1; BYTES], "only one version is known");
    write(&mut *device, 4, 2);
    assert_eq!(read(&mut *device, 5, 65536), [2; BYTES]);
    assert_eq!((counts(&*device, 0).touched, counts(&*device, 0).silent_bytes), (0, 0));
    assert_eq!(read(&mut *device, 6, 65536), [1; BYTES]);
    assert_eq!(read(&mut *device, 7, 65536), [2; BYTES], "the medium is as it should be");
    assert_eq!((counts(&*device, 0).touched, counts(&*device, 0).silent_bytes), (1, BYTES as u64));
    // Only one of the two blocks has two known versions.
    let answer =
        ask(&mut *device, Time::from_ms(8), request(Op::Read, 61440, 2 * BYTES as u32), Payload::NONE);
    let found = answer.data.bytes().expect("bytes");
    assert!(found[..BYTES].iter().all(|&byte| byte == 0) && found[BYTES..].iter().all(|&byte| byte == 1));
}

#[test]
fn stale_reads_forget_the_oldest_block_first() {
    let mut device = with_bytes(&["kind = \"stale_read\"\nremembered = 1"]);
    let write_at = |device: &mut dyn Device, turn: u64, address: u64, value: u8| {
        ask(
            device,
            Time::from_ms(turn),
            request(Op::Write, address, BYTES as u32),
            vec![value; BYTES].into(),
        );
    };
    (0..2).for_each(|turn| write_at(&mut *device, turn, 0, turn as u8 + 1));
    assert_eq!(read(&mut *device, 5, 0), [1; BYTES]);
    write_at(&mut *device, 6, 8192, 9);
    assert_eq!(read(&mut *device, 7, 0), [2; BYTES]);
}
