#![no_main]
nacre_fuzz::fuzz_target!(|data: &[u8]| {
    nacre_fuzz::parse(Some("nacre"), data);
    nacre_fuzz::parse(Some("nacre"), &nacre_fuzz::mend_nacre(data));
});
