"""Charts in notebooks without network access: each output contains the JavaScript that draws the chart."""

from __future__ import annotations

import base64
import gzip
import json
import uuid
from functools import lru_cache
from importlib.resources import files
from typing import Any

import altair as alt

NAME = "flashmesh"
SCRIPTS = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js")
DRAW = """<div id="{place}" style="width: 100%"></div>
<script>
(() => {{
  const unpack = async () => {{
    const bytes = Uint8Array.from(atob("{scripts}"), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    // As plain scripts, whatever loader of modules the notebook has.
    new Function("define", "exports", "module", await new Response(stream).text()).call(globalThis);
  }};
  globalThis.flashmeshVega ??= unpack();
  globalThis.flashmeshVega.then(() => vegaEmbed("#{place}", {spec}, {{ mode: "vega-lite", renderer: "svg" }}));
}})();
</script>"""


@lru_cache(maxsize=1)
def scripts() -> str:
    """Returns the JavaScript that draws charts, compressed to a third of a megabyte."""
    assets = files("flashmesh.html").joinpath("assets")
    text = "\n;\n".join(assets.joinpath(name).read_text(encoding="utf-8") for name in SCRIPTS)
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


def render(spec: dict[str, Any], **_: Any) -> dict[str, str]:
    """Returns a chart as the output of a notebook cell."""
    place = f"flashmesh-{uuid.uuid4().hex}"
    shown = json.dumps(spec).replace("<", "\\u003c")
    html = DRAW.format(place=place, scripts=scripts(), spec=shown)
    return {"text/html": html, "text/plain": f"<chart: {spec.get('title', 'untitled')}>"}


def install() -> None:
    """Registers this renderer in notebooks, unless another renderer was enabled."""
    if NAME not in alt.renderers.names():
        alt.renderers.register(NAME, render)
    if alt.renderers.active == "default":
        alt.renderers.enable(NAME)
