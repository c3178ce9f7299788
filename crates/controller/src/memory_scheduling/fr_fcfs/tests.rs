use super::*;

#[test]
fn open_rows_go_first_and_others_keep_their_order() {
    let access = |row| Access { place: Place { rank: 0, bank: 0, row }, groups: 1, bursts: 1 };
    let mut accesses = [1, 2, 3, 4].map(access);
    let scheduler = FrFcfs { config: Config { queue: 8 } };
    scheduler.order(&mut accesses, &|place| place.row % 2 == 0);
    assert_eq!((accesses, scheduler.ahead()), ([2, 4, 1, 3].map(access), 8));
}
