"use strict";
/* Draws the charts of the page, and their data as tables. */
const report = JSON.parse(document.getElementById("report-data").textContent);

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
    const keys = Object.keys(rows[0]).filter((key) => !["order", "from", "text"].includes(key));
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

async function draw() {
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
  };
  for (const chart of document.querySelectorAll("[data-chart]")) {
    const columns = columnsOf(chart);
    if (chart.dataset.columns === String(columns)) continue;
    chart.dataset.columns = columns;
    const spec = specOf(chart.dataset.chart);
    const config = { ...spec.config, legend: { ...spec.config.legend, columns } };
    await vegaEmbed(chart, { ...spec, config }, options);
  }
  document.body.dataset.drawn = "true";
}

/* How many names of a legend stand beside each other. */
function columnsOf(chart) {
  return Math.max(1, Math.min(4, Math.floor((chart.clientWidth - 60) / 130)));
}

let waiting = null;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(draw, 200);
});
draw();
