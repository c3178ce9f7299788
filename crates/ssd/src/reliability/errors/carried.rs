//! Bit errors that a page had when it was copied inside its die. They were not corrected, so the copy also
//! has them.

use nacre_kernel::state::State;

/// Bit errors of codewords that were copied with their pages. Empty if every copy is corrected.
#[derive(Default, State)]
pub(crate) struct Carried {
    #[state(skip = "from the configuration")]
    codewords: u32,
    /// Number of bit errors for each page and codeword.
    #[state(sparse)]
    bits: Vec<u32>,
}

impl Carried {
    /// Creates the table for `pages` pages, each with `codewords` codewords.
    pub(crate) fn new(pages: usize, codewords: u32) -> Carried {
        Carried { codewords, bits: vec![0; pages * codewords as usize] }
    }

    /// Memory in bytes after every page was copied.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.bits.len() as u64
    }

    /// Number of bit errors that were copied with a codeword of `page`.
    #[inline]
    pub(crate) fn of(&self, page: u32, codeword: u32) -> u32 {
        if self.bits.is_empty() { 0 } else { self.bits[self.place(page, codeword)] }
    }

    /// Records that a codeword with `bits` bit errors is copied to `page`.
    pub(crate) fn copy(&mut self, page: u32, codeword: u32, bits: u32) {
        let place = self.place(page, codeword);
        self.bits[place] = bits;
    }

    /// Records the erase of `count` pages, starting with `first`.
    pub(crate) fn erase(&mut self, first: u32, count: u32) {
        if !self.bits.is_empty() {
            let (from, to) = (self.place(first, 0), self.place(first + count, 0));
            self.bits[from..to].fill(0);
        }
    }

    fn place(&self, page: u32, codeword: u32) -> usize {
        page as usize * self.codewords as usize + codeword as usize
    }
}
