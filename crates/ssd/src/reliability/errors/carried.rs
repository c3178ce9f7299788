//! Bit errors of a page when it was copied inside its die: they were not corrected, and are in the copy.

use nacre_kernel::state::State;

/// Bit errors of codewords that were copied with their pages. Empty if every copy is corrected.
#[derive(Default, State)]
pub(crate) struct Carried {
    #[state(skip = "from the configuration")]
    codewords: u32,
    /// By page and codeword.
    #[state(sparse)]
    bits: Vec<u32>,
}

impl Carried {
    /// For this many pages, each with this many codewords.
    pub(crate) fn new(pages: usize, codewords: u32) -> Carried {
        Carried { codewords, bits: vec![0; pages * codewords as usize] }
    }

    /// Memory after every page was copied, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        4 * self.bits.len() as u64
    }

    /// Bit errors of a codeword of `page`.
    #[inline]
    pub(crate) fn of(&self, page: u32, codeword: u32) -> u32 {
        if self.bits.is_empty() { 0 } else { self.bits[self.place(page, codeword)] }
    }

    /// A codeword with that many bit errors is copied to `page`.
    pub(crate) fn copy(&mut self, page: u32, codeword: u32, bits: u32) {
        let place = self.place(page, codeword);
        self.bits[place] = bits;
    }

    /// Notes the erase of this many pages from `first`.
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
