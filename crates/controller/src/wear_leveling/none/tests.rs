use super::*;

#[test]
fn a_row_stays_where_it_is() {
    let mut leveller = Unleveled { rows: 5 };
    for row in 0..5 {
        (0..1000).for_each(|_| assert_eq!(leveller.written(row), None));
        assert_eq!((leveller.physical(row), leveller.logical(row)), (row, Some(row)));
    }
    assert_eq!(leveller.physical_rows(), 5);
}
