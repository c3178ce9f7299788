use super::*;

#[test]
fn accesses_keep_their_order_and_wait_for_each_other() {
    let access = |row| Access { place: Place { rank: 0, bank: 0, row }, groups: 1, bursts: 1 };
    let mut accesses = [access(1), access(2)];
    Fcfs.order(&mut accesses, &|place| place.row == 2);
    assert_eq!((accesses, Fcfs.ahead()), ([access(1), access(2)], 1));
}
