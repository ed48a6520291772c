//! Steps in the life of a map entry in the model of the mapping cache: cached, awaiting a write-back, dropped.

use super::{MappingCacheModel, User};
use crate::ids::Lpn;
use crate::units::Time;

impl MappingCacheModel {
    pub(super) fn leaves(&mut self, page: Lpn) -> Result<(), String> {
        let entries = self.pages.entries_of(page);
        let was_read = self.read.contains_key(&page);
        if !was_read && !(entries.start.0..entries.end.0).all(|lpn| self.entries.contains_key(&Lpn(lpn))) {
            return Err(format!("translation page {} is written back, but its other entries are unknown", page.0));
        }
        if self.leaving.insert(page) {
            return Ok(());
        }
        Err(format!("translation page {} is written back twice at a time", page.0))
    }

    pub(super) fn held(&mut self, page: Lpn) -> Result<(), String> {
        self.buffered.insert(page);
        self.leaves(page)
    }

    pub(super) fn cached(&mut self, lpn: Lpn) -> Result<(), String> {
        let before = self.entries.insert(lpn, true);
        self.residents += 1;
        if self.residents > self.room {
            return Err(format!("{} entries are resident, and there is room for {}", self.residents, self.room));
        }
        match before {
            Some(true) => Err(format!("the entry of logical page {} was cached twice", lpn.0)),
            Some(false) => Ok(()),
            None if self.unknown.contains_key(&lpn) => {
                Err(format!("the entry of logical page {} was cached from flash, which has an older one", lpn.0))
            }
            None => {
                let page = self.pages.page_of(lpn);
                let dropped = self.dropped.get(&lpn).map_or(0, |(order, _)| *order);
                let read = self.read.get(&page).copied().unwrap_or(0);
                // A user that waited for this read of the translation page may use its result, even if the entry was cached and dropped in
                // the meantime.
                let is_kept = |waiting: &Vec<(User, Option<u64>)>| {
                    waiting.iter().any(|(_, since)| since.is_none_or(|since| read > since))
                };
                if read > dropped || self.leaving.contains(&page) || self.waiting.get(&lpn).is_some_and(is_kept) {
                    return Ok(());
                }
                Err(format!(
                    "the entry of logical page {} was cached without a read of translation page {}",
                    lpn.0, page.0
                ))
            }
        }
    }

    pub(super) fn awaits(&mut self, lpn: Lpn) -> Result<(), String> {
        match self.entries.insert(lpn, false) {
            Some(true) => {
                self.residents -= 1;
                Ok(())
            }
            None if self.unknown.contains_key(&lpn) => Ok(()),
            _ => Err(format!("the entry of logical page {} awaits a write-back for nothing", lpn.0)),
        }
    }

    pub(super) fn dropped(&mut self, lpn: Lpn, now: Time) -> Result<(), String> {
        self.order += 1;
        self.dropped.insert(lpn, (self.order, now));
        self.residents -= u64::from(self.entries.remove(&lpn) == Some(true));
        if self.unknown.contains_key(&lpn) {
            return Err(format!(
                "the entry of logical page {} was dropped, and its change was not written back",
                lpn.0
            ));
        }
        Ok(())
    }
}
