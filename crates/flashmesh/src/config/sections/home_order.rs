//! The type of the parameter `ftl.home-order`.

use std::convert::Infallible;

use crate::config::choices;
use crate::config::form::{Form, Misfit, toml_string};
use crate::config::node::Node;
use crate::config::reference::{Choice, ParameterType};

use super::ftl::{Allocation, ArrayLevel};

/// The order of levels that determines the homes (default locations) of pages without data; the first level varies fastest. Text
/// form: the four initials, "CWDP".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HomeOrder(pub [ArrayLevel; 4]);

impl HomeOrder {
    fn all() -> impl Iterator<Item = (&'static str, HomeOrder)> {
        Allocation::all().filter_map(|(name, allocation)| match allocation {
            Allocation::Static(order) => Some((name, HomeOrder(order))),
            Allocation::Dynamic | Allocation::FreeChannel => None,
        })
    }
}

impl Form for HomeOrder {
    type Value = HomeOrder;
    type Bounded = Infallible;

    fn parameter_type() -> ParameterType {
        ParameterType::Choice
    }

    fn choices() -> Vec<Choice> {
        let of_order = |name: &'static str| Allocation::choices().into_iter().find(|choice| choice.name == name);
        HomeOrder::all().filter_map(|(name, _)| of_order(name)).collect()
    }

    fn read(node: &Node) -> Result<HomeOrder, Misfit> {
        let (names, values): (Vec<_>, Vec<_>) = HomeOrder::all().unzip();
        choices::place_of(node, &names).map(|place| values[place]).map_err(|misfit| Misfit {
            help: misfit
                .help
                .or_else(|| Some("write the four initials of channel, way, die and plane, the fastest first".into())),
            ..misfit
        })
    }

    fn write(value: &HomeOrder) -> Option<String> {
        Some(toml_string(&Allocation::Static(value.0).name()))
    }
}
