//! Table indexed by id, for lookups at every event without hashing. Ids are dense from 0, so the table is small.

use std::marker::PhantomData;

use crate::ids::Id;

/// A value for each id; the default value until one is set.
#[derive(Clone, Debug)]
pub(super) struct IdVec<I, T> {
    values: Vec<T>,
    id: PhantomData<I>,
}

impl<I, T> Default for IdVec<I, T> {
    fn default() -> Self {
        IdVec { values: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T: Default> IdVec<I, T> {
    #[inline]
    pub(super) fn at(&mut self, id: I) -> &mut T {
        let at = id.as_u32() as usize;
        if at >= self.values.len() {
            self.values.resize_with(at + 1, T::default);
        }
        &mut self.values[at]
    }

    #[inline]
    pub(super) fn get(&self, id: I) -> Option<&T> {
        self.values.get(id.as_u32() as usize)
    }
}

impl<I: Id, T> IdVec<I, Option<T>> {
    #[inline]
    pub(super) fn insert(&mut self, id: I, value: T) -> Option<T> {
        self.at(id).replace(value)
    }

    #[inline]
    pub(super) fn find(&self, id: I) -> Option<&T> {
        self.get(id)?.as_ref()
    }

    #[inline]
    pub(super) fn find_mut(&mut self, id: I) -> Option<&mut T> {
        self.values.get_mut(id.as_u32() as usize)?.as_mut()
    }

    #[inline]
    pub(super) fn remove(&mut self, id: I) -> Option<T> {
        self.values.get_mut(id.as_u32() as usize)?.take()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        self.values.iter().zip(0..).filter_map(|(value, id)| Some((I::from_u32(id), value.as_ref()?)))
    }
}
