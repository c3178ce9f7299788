//! The C interface: a simulated memory for loads and stores of C programs. `include/nacre.h` documents it.
//!
//! The functions convert pointers and call [`Handle`]. A failed assertion never unwinds into C. It becomes an
//! error with the code `bug`, after which the memory cannot be used.

#![expect(
    unsafe_code,
    reason = "pointers from C are dereferenced, and symbols have the names that C expects"
)]

mod handle;

pub use handle::Handle;

use handle::c_text;
use nacre_kernel::Time;
use nacre_memory::{Memory, MemoryError};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::null_mut;

/// Return value of functions that failed.
const FAILED: c_int = -1;
const VERSION: &CStr = match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
    Ok(version) => version,
    Err(_) => panic!("a version is text"),
};

/// Returns the version of the library.
#[unsafe(no_mangle)]
pub extern "C" fn nacre_version() -> *const c_char {
    VERSION.as_ptr()
}

/// Opens the memory of a scenario. Returns null if it cannot be opened.
///
/// # Safety
/// `scenario` and `image` must end with a zero byte. `settings` must be an array of texts that end with a
/// zero byte, and its last element must be null. `image` and `settings` may be null. `error` must be null or
/// writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_open(
    scenario: *const c_char,
    settings: *const *const c_char,
    image: *const c_char,
    error: *mut *mut c_char,
) -> *mut Handle {
    // SAFETY: the caller guarantees the validity of the texts.
    let (scenario, image) = unsafe { (text(scenario), text(image)) };
    // SAFETY: the array ends with the first null element.
    let setting = |number| unsafe { text(*settings.add(number)) };
    let overrides: Vec<String> = match settings.is_null() {
        true => Vec::new(),
        false => (0..).map_while(setting).collect(),
    };
    let overrides: Vec<&str> = overrides.iter().map(String::as_str).collect();
    match Handle::open(&scenario.unwrap_or_default(), &overrides, image.as_deref()) {
        Ok(handle) => Box::into_raw(Box::new(handle)),
        Err(failure) => {
            // SAFETY: the caller guarantees that `error` is null or writable.
            unsafe { give(error, failure.text) };
            null_mut()
        }
    }
}

/// Closes a memory and frees it.
///
/// # Safety
/// `memory` must be null, or from [`nacre_open`] and not closed. `error` must be null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_close(memory: *mut Handle, error: *mut *mut c_char) -> c_int {
    if memory.is_null() {
        return 0;
    }
    // SAFETY: the pointer is from `Box::into_raw`, and the caller gives up ownership.
    let closed = unsafe { Box::from_raw(memory) }.close();
    match closed {
        Ok(()) => 0,
        Err(failure) => {
            // SAFETY: the caller guarantees that `error` is null or writable.
            unsafe { give(error, failure.text) };
            FAILED
        }
    }
}

/// Reads `size` bytes, starting at `address`.
///
/// # Safety
/// `memory` must be null or open. `into` must have space for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_load(
    memory: *mut Handle,
    address: u64,
    into: *mut c_void,
    size: usize,
) -> c_int {
    // SAFETY: the caller guarantees the size of `into`, and the data that was read has `size` bytes.
    unsafe {
        run(memory, |memory| {
            let bytes = memory.read(address, size as u64)?;
            into.cast::<u8>().copy_from(bytes.as_ptr(), bytes.len());
            Ok(())
        })
    }
}

/// Writes `size` bytes, starting at `address`.
///
/// # Safety
/// `memory` must be null or open. `from` must have `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_store(
    memory: *mut Handle,
    address: u64,
    from: *const c_void,
    size: usize,
) -> c_int {
    let bytes = match size {
        0 => &[],
        // SAFETY: the caller guarantees the size of `from`.
        _ => unsafe { std::slice::from_raw_parts(from.cast::<u8>(), size) },
    };
    // SAFETY: the caller guarantees that `memory` is null or open.
    unsafe { run(memory, |memory| memory.write(address, bytes)) }
}

/// Defines C functions that perform an operation without arguments.
macro_rules! operations {
    ($($name:ident: $what:literal = $operation:expr;)+) => { $(
        #[doc = $what]
        ///
        /// # Safety
        /// `memory` must be null or open.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(memory: *mut Handle) -> c_int {
            // SAFETY: the caller guarantees that `memory` is null or open.
            unsafe { run(memory, $operation) }
        }
    )+ };
}

operations! {
    nacre_flush: "Makes all stores durable." = Memory::flush;
    nacre_begin: "Starts a transaction." = Memory::begin;
    nacre_commit: "Commits the transaction." = Memory::commit;
    nacre_abort: "Rolls the transaction back." = Memory::abort;
    nacre_power_fail: "Cuts the power of the device." = Memory::power_fail;
    nacre_recover: "Restores the power of the device." = |memory| memory.recover().map(|_| ());
}

/// Advances simulated time.
///
/// # Safety
/// `memory` must be null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_idle(memory: *mut Handle, picoseconds: u64) -> c_int {
    // SAFETY: the caller guarantees that `memory` is null or open.
    unsafe { run(memory, |memory| memory.idle(Time::from_ps(picoseconds))) }
}

/// Defines C functions that return a number.
macro_rules! numbers {
    ($($name:ident: $what:literal = $number:expr;)+) => { $(
        #[doc = $what]
        ///
        /// # Safety
        /// `memory` must be null or open.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(memory: *const Handle) -> u64 {
            // SAFETY: the caller guarantees that `memory` is null or open.
            unsafe { memory.as_ref() }.map_or(0, |handle| handle.number($number))
        }
    )+ };
}

numbers! {
    nacre_capacity: "Bytes of the memory." = Memory::capacity;
    nacre_word_bytes: "Bytes per access." = Memory::word_bytes;
    nacre_now: "Simulated time since the memory was new, in picoseconds." = |memory| memory.now().as_ps();
    nacre_latency: "Simulated time of the last operation, in picoseconds." = |memory| memory.latency().as_ps();
}

/// Returns statistics as JSON, or null after an error.
///
/// # Safety
/// `memory` must be null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_statistics(memory: *mut Handle) -> *mut c_char {
    // SAFETY: the caller guarantees that `memory` is null or open.
    let handle = unsafe { memory.as_mut() };
    let statistics = handle.and_then(|handle| handle.run(|memory| Ok(memory.statistics())));
    let text = statistics.map(|statistics| serde_json::to_string(&statistics).expect("a record is JSON"));
    text.map_or(null_mut(), |text| c_text(&text).into_raw())
}

/// Returns the message of the last error.
///
/// # Safety
/// `memory` must be null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_error(memory: *const Handle) -> *const c_char {
    // SAFETY: the caller guarantees that `memory` is null or open.
    unsafe { memory.as_ref() }.map_or(c"the memory is NULL: nacre_open failed", Handle::error).as_ptr()
}

/// Returns the code of the last error.
///
/// # Safety
/// `memory` must be null or open.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_error_code(memory: *const Handle) -> *const c_char {
    // SAFETY: the caller guarantees that `memory` is null or open.
    unsafe { memory.as_ref() }.map_or(c"failed", Handle::error_code).as_ptr()
}

/// Frees a text that a function returned.
///
/// # Safety `text` must be null, or a text that is not freed yet and was returned by a function whose
/// documentation refers to `nacre_free`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn nacre_free(text: *mut c_char) {
    if !text.is_null() {
        // SAFETY: the pointer is from `CString::into_raw`.
        drop(unsafe { CString::from_raw(text) });
    }
}

/// Calls `work` with the memory of `handle`. An error is stored in the handle.
///
/// # Safety
/// `handle` must be null or open, and no other call may use it.
unsafe fn run(handle: *mut Handle, work: impl FnOnce(&mut Memory) -> Result<(), MemoryError>) -> c_int {
    // SAFETY: the caller guarantees that `handle` is null or open.
    let handle = unsafe { handle.as_mut() };
    handle.and_then(|handle| handle.run(work)).map_or(FAILED, |()| 0)
}

/// Returns the text at `pointer`, or `None` if `pointer` is null. Bytes that are not UTF-8 are replaced.
///
/// # Safety
/// `pointer` must be null or point to a text that ends with a zero byte.
unsafe fn text(pointer: *const c_char) -> Option<String> {
    // SAFETY: the caller guarantees that the text ends with a zero byte.
    let text = (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) });
    text.map(|text| text.to_string_lossy().into_owned())
}

/// Writes `text` to `place` unless `place` is null. The caller must free the text.
///
/// # Safety
/// `place` must be null or writable.
unsafe fn give(place: *mut *mut c_char, text: CString) {
    if !place.is_null() {
        // SAFETY: the caller guarantees that `place` is null or writable.
        unsafe { place.write(text.into_raw()) };
    }
}
