//! Checks of a recovered map against the model of the array.

use crate::ids::{Lpn, Ppn};

use super::{Content, Newest, Pages};

impl Pages {
    pub(in crate::rooms::check) fn touched_of_host(&self) -> Vec<Lpn> {
        let mut touched = self.touched();
        touched.retain(|&lpn| self.translation.as_ref().is_none_or(|translation| !translation.contains(lpn)));
        touched
    }

    /// Returns the content of the flash page `ppn`. If the model does not have the page, returns version 0 of `lpn`, provided that `lpn` was written
    /// before the run and the run has not erased the block; `None` otherwise, or if the newest version of `lpn` is version 0 at another location.
    fn holds(&self, ppn: Ppn, lpn: Lpn) -> Option<Content> {
        let before = || {
            (self.erases(self.homes.block_of(ppn)) == 0 && self.was_there(lpn)).then_some(Content { lpn, version: 0 })
        };
        let moved_away = || matches!(self.newest.get(&lpn), Some(Newest { version: 0, at: Some(_), .. }));
        self.pages.get(&ppn).copied().or_else(|| if moved_away() { None } else { before() })
    }

    fn describe(&self, ppn: Ppn, content: Option<Content>) -> String {
        let holds = content.map_or("nothing".to_owned(), |Content { lpn, version }| {
            format!("version {version} of logical page {}", lpn.0)
        });
        format!("at {}, which holds {holds}", self.name(ppn))
    }

    /// Checks the location `found` at which recovery found `lpn`; `None` if it found none. With `stays_empty`, a flush has confirmed the deallocation
    /// of `lpn`.
    pub(in crate::rooms::check) fn is_found(
        &self,
        lpn: Lpn,
        found: Option<Ppn>,
        stays_empty: bool,
    ) -> Result<(), String> {
        let Some(Newest { version, written, .. }) = self.newest(lpn) else { return Ok(()) };
        let content = found.and_then(|ppn| self.holds(ppn, lpn));
        let place = found.map_or("nowhere".to_owned(), |ppn| self.describe(ppn, content));
        if written {
            return match content {
                Some(content) if content == (Content { lpn, version }) => Ok(()),
                _ => Err(format!(
                    "version {version} of logical page {} was programmed, but the map has it {place}",
                    lpn.0
                )),
            };
        }
        let empty_since = self.deallocated.get(&lpn).copied().unwrap_or(0);
        match content {
            _ if found.is_none() => Ok(()),
            Some(content) if content.lpn != lpn => {
                Err(format!("logical page {} holds nothing, but the map has it {place}", lpn.0))
            }
            Some(content) if stays_empty && content.version < empty_since => Err(format!(
                "logical page {} was deallocated, and a flush has confirmed it, but the map has it {place}",
                lpn.0
            )),
            Some(_) => Ok(()),
            None => Err(format!("logical page {} holds nothing, but the map has it {place}", lpn.0)),
        }
    }

    /// Checks that the replica `copy` of `lpn` that recovery found has the newest version. After a deallocation that no flush has confirmed
    /// (`stays_empty` is false), any version is accepted.
    pub(in crate::rooms::check) fn is_newest_copy(&self, lpn: Lpn, copy: Ppn, stays_empty: bool) -> Result<(), String> {
        let (version, written) = self.newest(lpn).map_or((0, false), |newest| (newest.version, newest.written));
        let content = self.pages.get(&copy).copied();
        let is_undone = !written && !stays_empty && content.is_some_and(|content| content.lpn == lpn);
        if is_undone || content == Some(Content { lpn, version }) {
            return Ok(());
        }
        let place = self.describe(copy, content);
        Err(format!("a copy of logical page {} was found {place}, but version {version} is the newest", lpn.0))
    }
}
