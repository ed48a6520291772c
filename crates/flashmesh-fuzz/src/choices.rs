//! Choices made from the bytes of a fuzzer.

/// Bytes consumed one by one. Zeros follow the end, so that every input is valid.
pub struct FuzzInput<'a> {
    bytes: &'a [u8],
}

impl<'a> FuzzInput<'a> {
    pub fn new(bytes: &'a [u8]) -> FuzzInput<'a> {
        FuzzInput { bytes }
    }

    pub fn is_used_up(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else {
            return 0;
        };
        self.bytes = rest;
        first
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::from(self.byte()) % bound
    }

    pub fn pick<T: Copy>(&mut self, options: &[T]) -> T {
        options[self.below(options.len())]
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == times - 1
    }

    /// Returns a number of any magnitude: its bit length is chosen first.
    pub fn number(&mut self) -> u64 {
        let bits = u32::from(self.byte()) % 65;
        let value = u64::from_le_bytes(std::array::from_fn(|_| self.byte()));
        value.checked_shr(64 - bits).unwrap_or(0)
    }

    pub fn rest(self) -> &'a [u8] {
        self.bytes
    }
}
