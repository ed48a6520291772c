//! Packing of integers, each with a given number of bits, into bytes without padding between them.

/// Returns the number of bits that hold every integer from 0 to `most`.
pub fn bits_for(most: u64) -> u32 {
    u64::BITS - most.leading_zeros()
}

/// Writer that packs integers into bytes, for [`BitReader`].
#[derive(Debug, Default)]
pub struct BitWriter {
    bytes: Vec<u8>,
    /// Word that is being filled. Only its lowest `held` bits (0 to 63) are in use; they are not in `bytes` yet.
    word: u64,
    held: u32,
}

impl BitWriter {
    /// Appends `value` with `bits` bits, into which it must fit.
    pub fn put(&mut self, value: u64, bits: u32) {
        debug_assert!(bits_for(value) <= bits, "{value} has more than {bits} bits");
        self.word |= value << self.held;
        let held = self.held + bits;
        if held < u64::BITS {
            self.held = held;
            return;
        }
        self.bytes.extend_from_slice(&self.word.to_le_bytes());
        self.word = value.checked_shr(u64::BITS - self.held).unwrap_or(0);
        self.held = held - u64::BITS;
    }

    /// Returns the packed bytes, padded with zeros to whole words of 64 bits.
    pub fn finish(mut self) -> Vec<u8> {
        if self.held > 0 {
            self.bytes.extend_from_slice(&self.word.to_le_bytes());
        }
        self.bytes
    }
}

/// Reader of the integers that a [`BitWriter`] has packed.
#[derive(Debug)]
pub struct BitReader {
    bytes: Vec<u8>,
    /// Offset in `bytes` of the first byte that is not in `word` yet. The lowest `held` bits of `word` are unread.
    at: usize,
    word: u64,
    held: u32,
}

impl BitReader {
    /// Creates a reader of the bytes that [`BitWriter::finish`] returned. The reader begins at the first integer.
    pub fn new(bytes: Vec<u8>) -> BitReader {
        BitReader { bytes, at: 0, word: 0, held: 0 }
    }

    /// Returns the next integer, which was written with `bits` bits; `None` past the end of the bytes.
    pub fn read(&mut self, bits: u32) -> Option<u64> {
        let mask = u64::MAX.checked_shr(u64::BITS - bits).unwrap_or(0);
        if bits <= self.held {
            let value = self.word & mask;
            self.word = self.word.checked_shr(bits).unwrap_or(0);
            self.held -= bits;
            return Some(value);
        }
        let next = self.bytes.get(self.at..self.at + size_of::<u64>())?;
        let next = u64::from_le_bytes(next.try_into().ok()?);
        self.at += size_of::<u64>();
        let value = (self.word | next << self.held) & mask;
        let used = bits - self.held;
        self.word = next.checked_shr(used).unwrap_or(0);
        self.held = u64::BITS - used;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::random::SimRng;

    #[test]
    fn integers_of_every_width_are_read_back_in_order() {
        let mut random = SimRng::new(4);
        let numbers: Vec<(u64, u32)> = (0..20_000)
            .map(|_| {
                let bits = random.below(65);
                (random.next_u64().checked_shr(64 - bits).unwrap_or(0), bits)
            })
            .collect();
        let mut writer = BitWriter::default();
        numbers.iter().for_each(|&(value, bits)| writer.put(value, bits));
        let bytes = writer.finish();
        let bits: u64 = numbers.iter().map(|&(_, bits)| u64::from(bits)).sum();
        assert_eq!(bytes.len() as u64, bits.div_ceil(64) * 8);
        let mut reader = BitReader::new(bytes);
        for (value, bits) in numbers {
            assert_eq!(reader.read(bits), Some(value), "{bits} bits");
        }
        assert_eq!(reader.read(64), None);
    }

    #[test]
    fn bits_for_a_maximum_hold_it_exactly() {
        assert_eq!([0, 1, 2, 255, 256, u64::MAX].map(bits_for), [0, 1, 2, 8, 9, 64]);
    }
}
