//! Oracle `searches`: a scout (path search) of Venice that meets no other scout finds a path if and only if a flood fill over the free links does.
//! The number of links that a failing scout has crossed lies within bounds that the flood fill predicts.

use crate::fabric::{ScoutSearch, SearchPrediction};

pub(in super::super) const NAME: &str = "searches";

pub(in super::super) fn judge(search: ScoutSearch) -> Result<(), String> {
    let ScoutSearch { die, prediction: verdict, found, steps } = search;
    let is_right = match verdict {
        SearchPrediction::Finds => found,
        SearchPrediction::Fails { least, most } => !found && (least..=most).contains(&steps),
    };
    if is_right {
        return Ok(());
    }
    let did = if found { "found a path" } else { "found no path" };
    let expected = match verdict {
        SearchPrediction::Finds => "there is one".to_owned(),
        SearchPrediction::Fails { least, most } if least == most => {
            format!("there is none, and it crosses {least} links in vain")
        }
        SearchPrediction::Fails { least, most } => {
            format!("there is none, and it crosses {least} to {most} links in vain")
        }
    };
    Err(format!("the scout for die {} {did} after crossing {steps} links, but {expected}", die.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::histories::{assert_fails, assert_silent, ns, oracles};
    use crate::ids::DieId;

    fn search(verdict: SearchPrediction, found: bool, steps: u64) -> ScoutSearch {
        ScoutSearch { die: DieId(3), prediction: verdict, found, steps }
    }

    #[test]
    fn a_search_that_comes_to_its_verdict_is_right() {
        let mut oracles = oracles();
        oracles.searched(search(SearchPrediction::Finds, true, 5), ns(1));
        oracles.searched(search(SearchPrediction::Fails { least: 8, most: 8 }, false, 8), ns(1));
        oracles.searched(search(SearchPrediction::Fails { least: 6, most: 14 }, false, 10), ns(1));
        assert_silent(&oracles);
    }

    #[test]
    fn a_search_that_comes_to_something_else_is_caught() {
        let fails = SearchPrediction::Fails { least: 8, most: 8 };
        let fails_in_time = SearchPrediction::Fails { least: 6, most: 14 };
        for (search, message) in [
            (search(SearchPrediction::Finds, false, 4), "found no path after crossing 4 links, but there is one"),
            (
                search(fails, true, 4),
                "found a path after crossing 4 links, but there is none, and it crosses 8 links in vain",
            ),
            (
                search(fails, false, 6),
                "found no path after crossing 6 links, but there is none, and it crosses 8 links in vain",
            ),
            (
                search(fails_in_time, false, 16),
                "found no path after crossing 16 links, but there is none, and it crosses 6 to 14 links in vain",
            ),
        ] {
            let mut oracles = oracles();
            oracles.searched(search, ns(1));
            assert_fails(&oracles, "searches", &format!("the scout for die 3 {message}"));
        }
    }
}
