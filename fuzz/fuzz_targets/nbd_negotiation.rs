#![no_main]
nacre_fuzz::fuzz_target!(|data: &[u8]| nacre_fuzz::nbd::negotiate(data));
