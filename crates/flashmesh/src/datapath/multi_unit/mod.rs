//! Operations on several mapping units of a plane: reads of one page, and programs of one page or word line.

mod companions;
mod complete_programs;
mod early_binding;
mod gather;
mod same_page_reads;

pub(super) use early_binding::EarlyBoundPrograms;
pub(super) use gather::GatherState;
