//! Software prefetch.
#![allow(
    unsafe_code,
    reason = "loads in place of prefetches wait for the memory: they cost a drive with a device cache under collection a tenth of its time"
)]

const LINE: usize = 64;

/// Prefetches an element into the L1 cache. An index beyond the end is ignored.
#[inline(always)]
pub fn prefetch<T>(values: &[T], index: usize) {
    if let Some(value) = values.get(index) {
        let first: *const i8 = std::ptr::from_ref(value).cast();
        (0..size_of::<T>()).step_by(LINE).for_each(|offset| fetch(first.wrapping_add(offset)));
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn fetch(at: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: the instruction is part of every x86-64 processor. It reads nothing that a program can see, and never faults.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(at) };
}

#[cfg(target_arch = "aarch64")]
#[inline(always)]
fn fetch(at: *const i8) {
    // SAFETY: the instruction is part of every processor of 64-bit Arm. It reads nothing that a program can see, and never faults.
    unsafe { std::arch::asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly)) };
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
#[inline(always)]
fn fetch(_: *const i8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_beyond_the_end_is_ignored() {
        let values = [[1u64; 20]; 3];
        [0, 2, 3, usize::MAX].into_iter().for_each(|index| prefetch(&values, index));
        prefetch::<u64>(&[], 0);
        assert_eq!(values, [[1; 20]; 3]);
    }
}
