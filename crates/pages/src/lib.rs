//! Memory allocation in large pages, if the system supports them.
//!
//! The tables of a large cache or drive are accessed at random. With pages of 4 KiB, nearly every access
//! also reads a page-table entry from memory. With pages of 2 MiB, hardly any access needs this additional
//! read. On most systems, Linux provides large pages only on request (`transparent_hugepage` is `madvise`).
//! This allocator requests large pages. Programs and extension modules select the allocator; it does not
//! change results, and the core does not depend on it.
//!
//! An allocator requires `unsafe` code; apart from this crate, only the C interface has such code. The
//! allocator passes every call to the system allocator and only adds advice about the returned memory.

#![expect(unsafe_code, reason = "the trait of allocators and the call that gives advice are unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};

/// Size of a large page, in bytes.
const PAGE: usize = 2 << 20;
/// Minimum size in bytes of an allocation that contains a whole large page at any alignment.
const LARGE: usize = 2 * PAGE;
/// Maximum size in bytes of a zeroed allocation that uses large pages. Most of a larger allocation may never
/// be accessed.
const ZEROED_MAX: usize = 64 << 20;

/// The system allocator, with requests for large pages for large allocations.
#[derive(Debug)]
pub struct LargePages;

// SAFETY: every call is passed to `System` unchanged, and its result is returned.
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc`.
        let memory = unsafe { System.alloc(layout) };
        if layout.size() >= LARGE {
            advise(memory, layout.size());
        }
        memory
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        let memory = unsafe { System.alloc_zeroed(layout) };
        if (LARGE..=ZEROED_MAX).contains(&layout.size()) {
            advise(memory, layout.size());
        }
        memory
    }

    #[inline]
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `realloc`.
        let memory = unsafe { System.realloc(memory, layout, size) };
        if size >= LARGE {
            advise(memory, size);
        }
        memory
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Makes the system allocator return nearly all freed memory to the operating system from now on.
///
/// The allocator of glibc maps large blocks separately and unmaps them when they are freed. Each freed
/// block raises the threshold for large blocks, up to 32 MiB. Smaller blocks are in one of up to eight
/// arenas per processor, and each arena may keep free memory of up to twice the threshold. A server whose
/// clients briefly need a few MiB would therefore keep hundreds of MiB. This function sets fixed
/// thresholds, which glibc does not raise.
pub fn keep_little() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        unsafe extern "C" {
            fn mallopt(parameter: i32, value: i32) -> i32;
        }
        /// Numbers of glibc's parameters `M_MMAP_THRESHOLD` and `M_TRIM_THRESHOLD` (`malloc.h`), each with
        /// its value in bytes.
        const NUMBERS: [(i32, i32); 2] = [(-3, 1 << 20), (-1, 2 << 20)];
        for (parameter, value) in NUMBERS {
            // SAFETY: this sets a parameter of the allocator, under the lock of the allocator. If it fails,
            // the allocator only keeps more memory.
            let _ = unsafe { mallopt(parameter, value) };
        }
    }
}

/// Returns whether the system can provide another `bytes` bytes of memory. The function maps this memory and
/// releases it immediately.
///
/// The memory is mapped directly, because an allocator might use cached memory that other allocations cannot
/// use.
#[must_use]
pub fn are_free(bytes: usize) -> bool {
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
        let (usable, own) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
        // SAFETY: the system chooses the address of the mapping, which is private and unused.
        unsafe {
            mmap_anonymous(std::ptr::null_mut(), bytes, usable, own).and_then(|memory| munmap(memory, bytes))
        }
        .is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = bytes;
        true
    }
}

/// Requests large pages for `size` bytes of allocated memory. Does nothing if `memory` is null.
#[cold]
fn advise(memory: *mut u8, size: usize) {
    let skipped = memory.align_offset(PAGE);
    if memory.is_null() || skipped >= size {
        return;
    }
    let whole = (size - skipped) / PAGE * PAGE;
    #[cfg(target_os = "linux")]
    // SAFETY: the pages are within the memory, and the advice does not change their content. If the system
    // refuses, pages stay small.
    let _ =
        unsafe { rustix::mm::madvise(memory.add(skipped).cast(), whole, rustix::mm::Advice::LinuxHugepage) };
    #[cfg(not(target_os = "linux"))]
    let _ = whole;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_every_size_can_be_used_and_grown() {
        for size in [1, 4096, LARGE - 1, LARGE, 3 * LARGE + 5, ZEROED_MAX + 1] {
            let layout = Layout::from_size_align(size, 16).unwrap();
            // SAFETY: the size is not zero, every accessed byte is within it, and all memory is freed with
            // its layout.
            unsafe {
                let zeroed = LargePages.alloc_zeroed(layout);
                assert_eq!((zeroed.read(), zeroed.add(size - 1).read()), (0, 0));
                LargePages.dealloc(zeroed, layout);
                let memory = LargePages.alloc(layout);
                memory.add(size - 1).write(7);
                let memory = LargePages.realloc(memory, layout, size + PAGE);
                assert_eq!(memory.add(size - 1).read(), 7);
                memory.add(size + PAGE - 1).write(9);
                LargePages.dealloc(memory, Layout::from_size_align(size + PAGE, 16).unwrap());
            }
        }
    }

    #[test]
    fn memory_can_be_used_when_little_is_kept() {
        keep_little();
        let many: Vec<Vec<u8>> = (0..64).map(|number| vec![number; 1 << (number % 22)]).collect();
        assert!(many.iter().zip(0..).all(|(bytes, number)| bytes.iter().all(|&byte| byte == number)));
    }

    #[test]
    fn what_no_machine_has_is_not_free() {
        assert!(are_free(PAGE));
        assert!(!cfg!(target_os = "linux") || !are_free(1 << 60));
    }

    #[test]
    fn no_memory_gets_no_advice() {
        advise(std::ptr::null_mut(), LARGE);
    }
}
