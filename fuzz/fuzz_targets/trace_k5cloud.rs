#![no_main]
nacre_fuzz::trace_target!(Some("k5cloud"));
