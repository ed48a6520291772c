"use strict";
/* Draws the charts of the page, and their data as tables, for the runs that the filter selects. */
const report = JSON.parse(document.getElementById("report-data").textContent);
const views = new Map();
/* The width of a chart on paper: a sheet of A4 or letter has about 700 pixels without its margins. */
const PAPER = 660;
const PANEL_MIN = 230;
/* Largest shares of a chart for the names of its rows before and after they are split into lines, and the width of a letter. */
const NAMES_SHARE = 0.32;
const SPLIT_SHARE = 0.5;
const CHARACTER = 6.6;
const LINE = 13;
/* Pixels of the width of a chart that its legend cannot use: labels of the axis, and the stroke of an entry. */
const LEGEND_MARGIN = 130;
/* The longest name of a row and of a legend on one line, in pixels. */
const NAMES_MAX = 330;
const LEGEND_MAX = 400;
/* The names of the runs shown; null for all of them. */
let chosen = null;

const nameOf = (row) => row.point ?? row.run ?? row.panel;

/* Returns the rows of a dataset that the filter selects, and those of no run, such as bounds. */
function rowsOf(part) {
  const rows = report.datasets[part];
  if (chosen === null) return rows;
  const known = new Set(report.table.names);
  return rows.filter((row) => !known.has(nameOf(row)) || chosen.has(nameOf(row)));
}

/* Returns whether a chart has rows of runs, and the filter selects none of them. */
function isEmpty(name) {
  const parts = report.specs[name].datasets;
  return parts.some((part) => report.datasets[part].length) && parts.every((part) => !rowsOf(part).length);
}

function specOf(name) {
  const { spec, datasets, lineOf } = report.specs[name];
  const data = Object.fromEntries(datasets.map((part) => [part, rowsOf(part)]));
  const found = { ...structuredClone(spec), datasets: data };
  // Panels compute the line of a row from its run.
  const withLine = (row) => {
    const line = lineOf[row.run] ?? lineOf[nameOf(row)];
    return line === undefined ? row : { ...row, line };
  };
  if (chosen !== null) withoutAbsent(found, Object.values(data).flat().map(withLine));
  return found;
}

/* Removes names without rows from legends, with their colours. */
function withoutAbsent(part, rows) {
  if (Array.isArray(part)) {
    for (const each of part) withoutAbsent(each, rows);
  } else if (part && typeof part === "object") {
    const { domain, range } = part.scale ?? {};
    if (part.field && Array.isArray(domain) && typeof domain[0] === "string" && rows.some((row) => part.field in row)) {
      const there = new Set(rows.map((row) => row[part.field]));
      part.scale.domain = domain.filter((name) => there.has(name));
      if (Array.isArray(range)) part.scale.range = range.filter((_, index) => there.has(domain[index]));
    }
    for (const [key, each] of Object.entries(part)) if (key !== "datasets") withoutAbsent(each, rows);
  }
}

/* Returns the number of panels of a chart that have rows. */
function panelsOf(name) {
  const { panels, panelOf, datasets } = report.specs[name];
  if (!panels || chosen === null) return panels;
  return new Set(datasets.flatMap(rowsOf).map((row) => panelOf[nameOf(row)] ?? row.panel)).size;
}

function tableOf(name) {
  const region = document.createElement("div");
  region.className = "wide";
  region.tabIndex = 0;
  for (const part of report.specs[name].datasets) {
    const rows = rowsOf(part);
    if (!rows.length) continue;
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((key) => !["order", "label", "text", "dark", "cell", "point"].includes(key));
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

function fillTable(details) {
  if (!details.open || details.querySelector("table")) return;
  const region = tableOf(details.dataset.of);
  details.append(region);
  tellScrolling(region);
}

for (const details of document.querySelectorAll("details")) {
  details.addEventListener("toggle", () => {
    if (details.dataset.of) fillTable(details);
    for (const region of details.querySelectorAll(".wide")) tellScrolling(region);
  });
}

/* States the hidden parts of a table, and their place: columns to the right, rows below. */
function tellScrolling(region) {
  const table = region.querySelector("table");
  if (!table) return;
  let told = region.nextElementSibling;
  if (!told?.classList.contains("scrolls")) {
    told = document.createElement("p");
    told.className = "scrolls hint";
    region.after(told);
    region.addEventListener("scroll", () => tellScrolling(region), { passive: true });
  }
  region.classList.toggle("fits", region.scrollWidth <= region.clientWidth + 1 && region.scrollHeight <= region.clientHeight + 1);
  const edge = region.getBoundingClientRect();
  const columns = [...(table.tHead ?? table).rows[0].cells].filter((cell) => cell.getBoundingClientRect().right > edge.right + 1).length;
  const below = [...table.rows].filter((row) => row.getBoundingClientRect().bottom > edge.bottom + 1).length;
  const count = (number, what) => `${number.toLocaleString("en")} more ${what}${number === 1 ? "" : "s"}`;
  const parts = [...(columns ? [`${count(columns, "column")} to the right`] : []), ...(below ? [`${count(below, "row")} below`] : [])];
  region.classList.toggle("more", columns > 0);
  told.hidden = !parts.length;
  told.textContent = parts.length ? `Scroll the table: ${parts.join(", ")}.` : "";
}

function tellAllScrolling() {
  for (const region of document.querySelectorAll(".wide")) tellScrolling(region);
}

/* Returns the number of panels side by side in a width, and the width of each; several rows have equal lengths. */
function panelsIn(width, panels) {
  const most = Math.max(1, Math.min(panels, 4, Math.floor((width - 60) / (PANEL_MIN + 20))));
  const columns = Math.ceil(panels / Math.ceil(panels / most));
  return { columns, width: Math.max(120, Math.floor((width - 80 - 22 * (columns - 1)) / columns)) };
}

/* Returns the number of names of a legend side by side, at most as many as fit on a sheet of paper. */
function columnsOf(spec, width) {
  const names = [...JSON.stringify(spec).matchAll(/"domain":(\["[^\]]*"\])/g)].flatMap(([, list]) => JSON.parse(list));
  const longest = Math.min(60, Math.max(6, ...names.map((name) => name.length)));
  return Math.max(1, Math.min(6, Math.floor((Math.min(width, PAPER) - 70) / (46 + 6.6 * longest))));
}

/* Returns every part of a chart that encodes a field. */
function encodings(part) {
  if (!part || typeof part !== "object") return [];
  return [...(part.encoding ? [part.encoding] : []), ...(part.layer ?? []).flatMap(encodings), ...encodings(part.spec)];
}

/* Fits the height of a chart to the selected runs if each has a row, and splits names into lines if they are too long.
   Returns the width of the names. */
function sizeRows(spec, width) {
  const rows = encodings(spec).map(({ y }) => y).filter((y) => y?.type === "nominal");
  if (!rows.length || typeof spec.height !== "number") return 0;
  const { field } = rows[0];
  const values = Object.values(spec.datasets).flat().map((row) => row[field]).filter((name) => typeof name === "string");
  const there = new Set(values);
  const all = new Set(report.specs[spec.usermeta].datasets.flatMap((part) => report.datasets[part]).map((row) => row[field]).filter((name) => typeof name === "string"));
  spec.height = Math.max(60, Math.round((spec.height * there.size) / Math.max(1, all.size)));
  const longest = CHARACTER * Math.max(0, ...values.map((name) => name.length));
  if (longest < Math.min(width * NAMES_SHARE, NAMES_MAX)) return longest;
  const lines = Math.max(1, ...values.map((name) => name.split(", ").length));
  spec.height = Math.max(spec.height, there.size * (LINE * lines + 8) + 10);
  for (const y of rows) y.axis = { ...y.axis, labelExpr: "split(datum.label, ', ')", labelFontSize: 11, labelLimit: Math.round(width * SPLIT_SHARE), labelLineHeight: LINE };
  return Math.min(width * SPLIT_SHARE, CHARACTER * Math.max(0, ...values.flatMap((name) => name.split(", ")).map((part) => part.length)));
}

/* Splits the names of a legend into one line for each setting if one of them is too long for a line. */
function sizeLegends(spec, width) {
  const room = width - LEGEND_MARGIN;
  const named = encodings(spec).flatMap((channels) => Object.values(channels)).filter((each) => each?.legend && Array.isArray(each.scale?.domain));
  for (const channel of named) {
    if (CHARACTER * Math.max(0, ...channel.scale.domain.map((name) => String(name).length)) < Math.min(room, LEGEND_MAX)) continue;
    channel.legend = { ...channel.legend, labelExpr: "split(datum.label, ', ')", rowPadding: LINE };
  }
}

/* Hides texts on marks that overlap earlier ones, and gives each an edge in the colour of the page. */
function declutter(chart) {
  const all = [...chart.querySelectorAll(".mark-text.role-mark text")];
  const place = (text) => `${text.textContent} ${text.getAttribute("transform")}`;
  const kept = [];
  const hidden = new Set();
  for (const text of all.filter((each) => each.getAttribute("stroke") !== "white")) {
    const box = text.getBoundingClientRect();
    if (!text.textContent || !box.width) continue;
    const meets = kept.some((other) => Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1 && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > 2);
    if (meets) hidden.add(place(text));
    else kept.push(box);
  }
  for (const text of all) text.style.visibility = hidden.has(place(text)) ? "hidden" : "";
}

async function drawChart(chart) {
  const name = chart.dataset.chart;
  const panels = panelsOf(name);
  const spec = specOf(name);
  const width = chart.clientWidth;
  const layout = panels ? panelsIn(width, panels) : null;
  const state = JSON.stringify([layout, Math.round(width / 50), chosen === null ? null : [...chosen]]);
  if (chart.dataset.layout === state) return;
  chart.dataset.layout = state;
  spec.usermeta = name;
  const namesWidth = sizeRows(spec, width);
  const columns = columnsOf(spec, width - namesWidth);
  sizeLegends(spec, width);
  delete spec.usermeta;
  const config = { ...spec.config, legend: { ...spec.config.legend, columns, labelLimit: Math.max(80, Math.min(LEGEND_MAX, width - LEGEND_MARGIN)) } };
  const narrow = width < 420 ? { title: { ...spec.config.title, fontSize: 12 }, axisTop: { labelFontSize: 9 } } : {};
  const sized = layout ? { columns: layout.columns, spec: { ...spec.spec, width: layout.width } } : {};
  if (layout) {
    spec.facet.header = { ...spec.facet.header, labelLimit: layout.width };
    // An incomplete row of panels would have axes without panels.
    if (panels % layout.columns) sized.resolve = { ...spec.resolve, axis: { ...spec.resolve?.axis, x: "independent" } };
  }
  const title = typeof spec.title === "string" ? wrapped(spec.title, width) : spec.title;
  const options = {
    mode: "vega-lite",
    renderer: "svg",
    actions: { export: { svg: true, png: true }, source: false, compiled: false, editor: false },
  };
  const drawn = await vegaEmbed(chart, { ...spec, ...sized, ...(title ? { title } : {}), config: { ...config, ...narrow } }, options);
  views.get(chart)?.finalize();
  views.set(chart, drawn.view);
  declutter(chart);
  for (const field of chart.querySelectorAll(".vega-bindings select")) {
    field.addEventListener("change", () => drawn.view.runAsync().then(() => declutter(chart)));
  }
}

async function draw() {
  tellAllScrolling();
  for (const chart of document.querySelectorAll("[data-chart]")) {
    const figure = chart.closest("figure");
    figure.hidden = isEmpty(chart.dataset.chart);
    if (!figure.hidden) await drawChart(chart);
  }
  for (const section of document.querySelectorAll("main > section")) hideIfEmpty(section);
  document.body.dataset.drawn = "true";
}

/* Returns a name in which each setting stays on one line. */
function settingsOf(name) {
  const parts = name.split(", ");
  return parts.map((part, index) => {
    const span = document.createElement("span");
    span.className = "setting";
    span.textContent = index + 1 < parts.length ? `${part}, ` : part;
    return span;
  });
}

/* Hides a section of which the filter selects nothing, with the link to it. */
function hideIfEmpty(section) {
  const parts = [...section.querySelectorAll("figure, [data-of-run]")];
  const isHidden = section.id !== "headline" && chosen !== null && parts.length > 0 && parts.every((part) => part.hidden);
  section.hidden = isHidden;
  const link = document.querySelector(`nav a[href="#${section.id}"]`);
  if (link) link.parentElement.hidden = isHidden;
}

/* Shows only some runs in all sections below the table of results. */
let waiting = null;
function showRuns(names) {
  const all = names.length === report.table.names.length;
  chosen = all ? null : new Set(names);
  for (const part of document.querySelectorAll("[data-of-run]")) part.hidden = chosen !== null && !chosen.has(part.dataset.ofRun);
  for (const details of document.querySelectorAll("details[data-of]")) {
    details.querySelector(".scrolls")?.remove();
    details.querySelector(".wide")?.remove();
    fillTable(details);
  }
  document.dispatchEvent(new CustomEvent("runs-chosen"));
  document.body.dataset.drawn = "false";
  clearTimeout(waiting);
  waiting = setTimeout(draw, 200);
}

/* Splits a title into as many lines as the width requires. */
function wrapped(title, width) {
  const room = Math.max(16, Math.floor(width / 8.2));
  const lines = [""];
  for (const word of title.split(" ")) {
    if (lines.at(-1) && lines.at(-1).length + word.length >= room) lines.push("");
    lines[lines.length - 1] += (lines.at(-1) ? " " : "") + word;
  }
  return lines;
}

/* Paper has its own width: charts are drawn for it before the browser prints the page, and restored afterwards. */
function resized(width) {
  for (const [chart, view] of views) {
    const layout = JSON.parse(chart.dataset.layout)[0];
    const room = Math.min(width, PAPER);
    if (layout) {
      const { columns } = layout;
      view.signal("child_width", Math.max(60, Math.floor((room - 80 - 22 * (columns - 1)) / columns)));
    } else {
      view.signal("width", room);
    }
    view.resize().run();
    declutter(chart);
  }
}

addEventListener("resize", () => {
  document.body.dataset.drawn = "false";
  clearTimeout(waiting);
  waiting = setTimeout(draw, 200);
});
addEventListener("beforeprint", () => resized(PAPER));
addEventListener("afterprint", () => {
  for (const chart of views.keys()) delete chart.dataset.layout;
  draw();
});
draw();
