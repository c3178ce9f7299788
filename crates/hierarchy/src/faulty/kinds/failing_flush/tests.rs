use crate::faulty::tests::{US, faulty, times};
use nacre_kernel::{Op, Status, Time};

#[test]
fn a_flush_fails_once_or_for_good() {
    let asked: Vec<(Time, Op)> = (0..10).map(|turn| (US(100 * turn), Op::Flush)).collect();
    let failed = |fault: &str| {
        let seen = times(&mut *faulty(&[fault]), &asked);
        let failed = seen.iter().enumerate().filter(|(_, (_, status))| *status == Status::MediaError);
        failed.map(|(number, _)| number).collect::<Vec<usize>>()
    };
    let once = "kind = \"failing_flush\"\nstart = \"150 us\"";
    assert_eq!(failed(once), [2]);
    assert_eq!(failed(&format!("{once}\nlasting = \"for_good\"")), [2, 3, 4, 5, 6, 7, 8, 9]);
    assert_eq!(failed(&format!("{once}\nduration = \"200 us\"\nperiod = \"400 us\"")), [2, 6]);
}
