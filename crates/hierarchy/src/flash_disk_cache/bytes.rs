//! Bytes of a flash page: its data, followed by its spare bytes.

use super::FLASH_PAGE;
use nacre_controller::ecc::{Ecc, Verdict};

/// Computes and stores the spare bytes of a page.
pub(super) fn encode(code: &dyn Ecc, page: &mut [u8]) {
    let Some(codec) = code.codec() else { return };
    let (data, spare) = page.split_at_mut(FLASH_PAGE as usize);
    let spare = &mut spare[..code.layout().spare_bytes as usize];
    codec.encode(data, spare).expect("the page was laid out for its codes");
}

/// Decodes a page. Returns the decoder's result, or `expected` for a code without a decoder.
pub(super) fn decode(code: &dyn Ecc, page: &mut [u8], expected: Verdict) -> Verdict {
    let Some(codec) = code.codec() else { return expected };
    let (data, spare) = page.split_at_mut(FLASH_PAGE as usize);
    let spare = &mut spare[..code.layout().spare_bytes as usize];
    codec.decode(data, spare).expect("the page was laid out for its codes")
}
