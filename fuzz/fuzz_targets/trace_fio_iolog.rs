#![no_main]
nacre_fuzz::trace_target!(Some("fio_iolog"));
