"""Selection of claims by name: a paper, a figure or a claim."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from flashmesh._native import ConfigError
from flashmesh.importers.problems import suggestion
from flashmesh.reproduce.registry.fields import listed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from flashmesh.reproduce.registry.paper import Claim, Paper


def select(papers: dict[str, Paper], names: Sequence[str]) -> dict[str, tuple[Claim, ...]]:
    """Returns the claims that `names` select, by paper; without names, all claims.

    Args:
        papers: The registry.
        names: Papers (`venice`), claims (`V07`), or figures and tables (`venice/9a`, or `9a` if unambiguous).

    Raises:
        ConfigError: If a name selects nothing, or selects figures of several papers.
    """
    chosen: dict[str, set[str]] = {}
    for name in names or list(papers):
        key, claims = meant(papers, name)
        chosen.setdefault(key, set()).update(claim.id for claim in claims)
    return {
        key: tuple(claim for claim in paper.claims if claim.id in chosen[key])
        for key, paper in papers.items()
        if key in chosen
    }


def meant(papers: dict[str, Paper], name: str) -> tuple[str, tuple[Claim, ...]]:
    """Returns the paper and the claims that a name on the command line selects."""
    by_lower = {key.lower(): key for key in papers}
    if name.lower() in by_lower:
        paper = papers[by_lower[name.lower()]]
        return paper.key, paper.claims
    for paper in papers.values():
        for claim in paper.claims:
            if claim.id.lower() == name.lower():
                return paper.key, tuple(each for each in paper.claims if claim.id in (each.id, each.part_of))
    prefix, slash, figure = name.rpartition("/")
    if slash and prefix.lower() not in by_lower:
        near = suggestion(prefix, papers)
        raise ConfigError(
            f"there is no paper {prefix!r}: {f'did you mean {near}?' if near else f'there are {listed(papers)}'}"
        )
    among = [papers[by_lower[prefix.lower()]]] if slash else list(papers.values())
    found = {paper.key: claims for paper in among if (claims := in_figure(paper, figure))}
    if len(found) == 1:
        return next(iter(found.items()))
    if found:
        which = " or ".join(f"{key}/{short(figure)}" for key in found)
        raise ConfigError(f"{name!r} is in several papers: say {which}")
    raise ConfigError(unknown(papers, among, name, figure if slash else ""))


def in_figure(paper: Paper, name: str) -> tuple[Claim, ...]:
    """Returns the claims of a figure and its parts, or of a table or section; empty if there is no such figure."""
    wanted = re.compile(rf"{re.escape(short(name))}[a-z]*")
    return tuple(claim for claim in paper.claims if any(map(wanted.fullmatch, figures(claim))))


def figures(claim: Claim) -> list[str]:
    """Returns the short names of the figures of a claim, such as 13b and 13d for `Figure 13b and 13d`."""
    return [short(part) for part in claim.figure.split(" and ")]


def short(figure: str) -> str:
    """Returns the short name of a figure: `9a` for `Figure 9a` and `fig9a`; tables and sections keep their kind."""
    text = re.sub(r"[\s.,]+(?=\S)", lambda match: "." if match[0] == "." else "", figure.lower().strip())
    return re.sub(r"^fig(?:ures?)?\.?", "", text)


def unknown(papers: dict[str, Paper], among: Sequence[Paper], name: str, figure: str) -> str:
    """Returns the error text for a name that selects nothing."""
    known = [f"{paper.key}/{figure}" for paper in among for claim in paper.claims for figure in figures(claim)]
    identifiers = [claim.id for paper in papers.values() for claim in paper.claims]
    if figure:
        return f"there is no figure {name!r}: there are {listed(known)}"
    near = suggestion(name, [*papers, *identifiers, *known])
    if near:
        return f"there is no paper, figure or claim {name!r}: did you mean {near}?"
    # Claims of a paper are numbered, so the first and the last claim show the range.
    whole = {key: [claim.id for claim in paper.claims if not claim.part_of] for key, paper in papers.items()}
    ranges = ", ".join(f"{claims[0]} to {claims[-1]} ({key})" for key, claims in whole.items())
    return f"there is no paper, figure or claim {name!r}: there are {ranges}; --list has all of them"
