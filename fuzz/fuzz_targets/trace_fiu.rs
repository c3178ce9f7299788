#![no_main]
nacre_fuzz::trace_target!(Some("fiu"));
