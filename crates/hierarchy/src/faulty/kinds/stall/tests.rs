use crate::faulty::tests::{US, counts, faulty, times};
use nacre_kernel::{Op, Time};

#[test]
fn a_stall_answers_everything_when_it_ends() {
    let mut device = faulty(&["kind = \"stall\"\nstart = \"100 us\"\nduration = \"50 us\""]);
    // The requests are in progress at the start of the stall, within it, at its end, and after it.
    let asked = [
        (US(85), Op::Write),
        (US(95), Op::Write),
        (US(120), Op::Read),
        (US(139), Op::Read),
        (US(141), Op::Read),
    ];
    let done: Vec<Time> = times(&mut *device, &asked).into_iter().map(|(at, _)| at).collect();
    assert_eq!(done, [US(150), US(150), US(150), US(150), US(151)]);
    let of = counts(&*device, 0);
    assert_eq!((of.matching, of.touched), (4, 4));
    assert_eq!(of.added_ps, u128::from(US(45 + 35 + 20 + 1).as_ps()));
}

#[test]
fn a_fault_is_repeated_every_period() {
    let stall = "kind = \"stall\"\nstart = \"100 us\"\nduration = \"50 us\"\nperiod = \"200 us\"";
    let mut device = faulty(&[stall]);
    let asked: Vec<(Time, Op)> = (0..5).map(|turn| (US(95 + 200 * turn), Op::Read)).collect();
    for (turn, (at, _)) in times(&mut *device, &asked).into_iter().enumerate() {
        assert_eq!(at, US(150 + 200 * turn as u64));
    }
    let asked = [(US(1155), Op::Read)];
    assert_eq!(times(&mut *faulty(&[stall]), &asked)[0].0, US(1165), "between two stalls");
}
