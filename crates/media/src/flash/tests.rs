use super::*;
use crate::store::{Memory, Nothing};

#[test]
fn pages_of_a_block_are_programmed_in_their_order() {
    let mut flash = Flash::new(2, 4, Nothing);
    assert_eq!((0..4).map(|_| flash.program(1)).collect::<Vec<_>>(), [4, 5, 6, 7]);
    assert_eq!(flash.blocks()[1], Block { programmed: 4, erases: 0 });
    assert_eq!(flash.programs(), 4);
}

#[test]
#[should_panic(expected = "block 0 has no erased page")]
fn a_full_block_refuses_to_be_programmed() {
    let mut flash = Flash::new(1, 2, Nothing);
    (0..3).for_each(|_| {
        flash.program(0);
    });
}

#[test]
fn an_erase_wears_its_block_and_makes_all_its_pages_programmable() {
    let mut flash = Flash::new(2, 2, Memory::new(4));
    let page = flash.program(0);
    flash.fill(page, b"abcd");
    let copy = flash.program(1);
    flash.fill_from(copy, page);
    flash.erase(0);
    assert_eq!(flash.blocks()[0], Block { programmed: 0, erases: 1 });
    assert_eq!((flash.programs(), flash.erases()), (2, 1));
    let (mut erased, mut copied) = ([0; 4], [0; 2]);
    flash.read(page, 0, &mut erased);
    flash.read(copy, 1, &mut copied);
    assert_eq!((erased, copied), ([0xFF; 4], *b"bc"));
    assert_eq!(flash.program(0), 0);
}

#[test]
fn blocks_of_three_pages_are_numbered_as_if_they_had_four() {
    let mut flash = Flash::new(2, 3, Memory::new(1));
    assert_eq!((0..3).map(|_| flash.program(1)).collect::<Vec<_>>(), [4, 5, 6]);
    assert_eq!((flash.block_of(6_u32), flash.pages_per_block()), (1, 3));
    flash.fill(6_u32, b"x");
    flash.erase(1);
    assert_eq!((flash.program(1), flash.blocks()[1]), (4, Block { programmed: 1, erases: 1 }));
}
