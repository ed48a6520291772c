"use strict";
/* Draws the charts of the page, and their data as tables. */
const report = JSON.parse(document.getElementById("report-data").textContent);
const views = new Map();
/* The width of a chart on paper: a sheet of A4 or letter without its margins has some 700 pixels. */
const PAPER = 660;
const PANEL_MIN = 230;

function specOf(name) {
  const { spec, datasets } = report.specs[name];
  return { ...spec, datasets: Object.fromEntries(datasets.map((part) => [part, report.datasets[part]])) };
}

function tableOf(name) {
  const region = document.createElement("div");
  region.className = "wide";
  region.tabIndex = 0;
  for (const part of report.specs[name].datasets) {
    const rows = report.datasets[part];
    if (!rows.length) continue;
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => !["order", "label", "text", "dark", "cell"].includes(key));
    for (const key of keys) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = key;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of rows) {
      const line = body.insertRow();
      for (const key of keys) line.insertCell().textContent = row[key] ?? "";
    }
    region.append(table);
  }
  return region;
}

for (const details of document.querySelectorAll("details.data")) {
  details.addEventListener("toggle", () => {
    if (details.open && !details.querySelector("table")) details.append(tableOf(details.dataset.of));
  });
}

/* How many panels stand beside each other in a width, and how wide each is. */
function panelsIn(width, panels) {
  const columns = Math.max(1, Math.min(panels, 4, Math.floor((width - 60) / (PANEL_MIN + 20))));
  return { columns, width: Math.max(120, Math.floor((width - 80 - 22 * (columns - 1)) / columns)) };
}

/* How many names of a legend stand beside each other: as many as a sheet of paper has room for, too. */
function columnsOf(spec, width) {
  const names = [...JSON.stringify(spec).matchAll(/"domain":(\["[^\]]*"\])/g)].flatMap(([, list]) => JSON.parse(list));
  const longest = Math.min(40, Math.max(6, ...names.map((name) => name.length)));
  return Math.max(1, Math.min(6, Math.floor((Math.min(width, PAPER) - 70) / (46 + 6.6 * longest))));
}

async function draw() {
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
  };
  for (const chart of document.querySelectorAll("[data-chart]")) {
    const { panels } = report.specs[chart.dataset.chart];
    const spec = specOf(chart.dataset.chart);
    const width = chart.clientWidth;
    const columns = columnsOf(spec, width);
    const layout = panels ? panelsIn(width, panels) : null;
    const state = JSON.stringify([columns, layout]);
    if (chart.dataset.layout === state) continue;
    chart.dataset.layout = state;
    const config = { ...spec.config, legend: { ...spec.config.legend, columns, labelLimit: Math.max(80, Math.min(260, width - 90)) } };
    const narrow = width < 420 ? { axisY: { labelLimit: 90 }, title: { ...spec.config.title, fontSize: 12 } } : {};
    const sized = layout ? { columns: layout.columns, spec: { ...spec.spec, width: layout.width } } : {};
    const title = typeof spec.title === "string" ? wrapped(spec.title, width) : spec.title;
    const drawn = await vegaEmbed(chart, { ...spec, ...sized, title, config: { ...config, ...narrow } }, options);
    views.get(chart)?.finalize();
    views.set(chart, drawn.view);
  }
  document.body.dataset.drawn = "true";
}

/* A title in as many lines as the width asks for. */
function wrapped(title, width) {
  const room = Math.max(16, Math.floor(width / 8.2));
  const lines = [""];
  for (const word of title.split(" ")) {
    if (lines.at(-1) && lines.at(-1).length + word.length >= room) lines.push("");
    lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
  }
  return lines;
}

/* Paper has a width of its own: charts are drawn for it before the browser takes the page, and as they were after it. */
function resized(width) {
  for (const [chart, view] of views) {
    const { panels } = report.specs[chart.dataset.chart];
    const room = Math.min(width, PAPER);
    if (panels) {
      const { columns } = JSON.parse(chart.dataset.layout)[1];
      view.signal("child_width", Math.max(60, Math.floor((room - 80 - 22 * (columns - 1)) / columns)));
    } else {
      view.signal("width", room);
    }
    view.resize().run();
  }
}

let waiting = null;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(draw, 200);
});
addEventListener("beforeprint", () => resized(PAPER));
addEventListener("afterprint", () => {
  for (const chart of views.keys()) delete chart.dataset.layout;
  draw();
});
draw();
