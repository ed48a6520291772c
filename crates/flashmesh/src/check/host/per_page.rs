//! Values for each page of a request, without an allocation for a request of one page.

use std::ops::{Index, IndexMut};

/// A value for each page of a request, indexed by the offset of the page from the first page of the request.
#[derive(Clone, Debug)]
pub(super) struct PerPage<T> {
    first: T,
    rest: Vec<T>,
}

impl<T: Copy + Default> PerPage<T> {
    pub(super) fn new(values: impl IntoIterator<Item = T>) -> PerPage<T> {
        let mut values = values.into_iter();
        PerPage { first: values.next().unwrap_or_default(), rest: values.collect() }
    }
}

impl<T> Index<usize> for PerPage<T> {
    type Output = T;

    fn index(&self, at: usize) -> &T {
        if at == 0 { &self.first } else { &self.rest[at - 1] }
    }
}

impl<T> IndexMut<usize> for PerPage<T> {
    fn index_mut(&mut self, at: usize) -> &mut T {
        if at == 0 { &mut self.first } else { &mut self.rest[at - 1] }
    }
}
