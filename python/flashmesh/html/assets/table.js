"use strict";
/* The table of results: filtered by words and bounds, sorted by a column, and of a chosen length. */
(() => {
  const table = document.getElementById("headline-table");
  const filter = document.getElementById("headline-filter");
  if (!filter) return;
  const data = report.table;
  const PAGE = 100;
  const count = document.getElementById("headline-count");
  const more = document.getElementById("headline-more");
  const UNITS = {
    ps: { ps: 1, ns: 1e3, us: 1e6, "µs": 1e6, ms: 1e9, s: 1e12 },
    share: { "%": 0.01, "": 1 },
    "B/s": { "B/s": 1, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9 },
    J: { J: 1, mJ: 1e-3, uJ: 1e-6, nJ: 1e-9 },
    "": { "": 1, k: 1e3, M: 1e6, G: 1e9 },
  };
  const texts = data.names.map((name, row) => `${name} ${data.settings[row]} ${data.marks[row]}`.toLowerCase());
  let shown = PAGE;
  let sorted = { column: null, down: false };

  /* Parses a filter: words, and bounds of columns. A bound of an unknown column or unit is reported, not ignored. */
  function asked(text) {
    const words = [];
    const bounds = [];
    const problems = [];
    const rest = text.toLowerCase().replace(/([a-z][a-z0-9. ]*?)\s*(<=|>=|<|>)\s*([\d.]+)\s*([^\s\d]*)/g, (whole, name, sign, number, unit) => {
      // Words may precede the name: the longest heading at its end is used.
      const found = data.columns.map((column, index) => ({ column, index, heading: column.heading.toLowerCase() }))
        .filter(({ heading }) => name === heading || name.endsWith(` ${heading}`))
        .sort((one, other) => other.heading.length - one.heading.length)[0];
      if (!found) {
        problems.push(`no column ends "${name.trim()}"`);
        return "";
      }
      const units = Object.fromEntries(Object.entries(UNITS[found.column.unit] ?? { "": 1 }).map(([key, value]) => [key.toLowerCase(), value]));
      if (!(unit in units)) {
        problems.push(`${found.column.heading} is in ${Object.keys(UNITS[found.column.unit] ?? {}).filter(Boolean).join(", ") || "plain numbers"}`);
        return "";
      }
      bounds.push({ index: found.index, sign, limit: Number(number) * units[unit] });
      return name.slice(0, name.length - found.heading.length);
    });
    words.push(...rest.split(/\s+/).filter(Boolean));
    return { words, bounds, problems };
  }

  const holds = { "<": (a, b) => a < b, "<=": (a, b) => a <= b, ">": (a, b) => a > b, ">=": (a, b) => a >= b };

  function chosen() {
    const { words, bounds, problems } = asked(filter.value);
    const rows = [];
    for (let row = 0; row < data.names.length; row += 1) {
      const within = bounds.every(({ index, sign, limit }) => data.values[row][index] !== null && holds[sign](data.values[row][index], limit));
      if (within && words.every((word) => texts[row].includes(word))) rows.push(row);
    }
    const { column, down } = sorted;
    if (column !== null) {
      const value = column === 0 ? (row) => data.names[row] : (row) => data.values[row][column - 1];
      rows.sort((one, other) => {
        const [a, b] = [value(one), value(other)];
        // Rows without a value come last in either order.
        if (a === null || b === null) return (a === null) - (b === null);
        const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
        return down ? -order : order;
      });
    }
    return { rows, problems };
  }

  function draw() {
    const { rows, problems } = chosen();
    const body = document.createElement("tbody");
    for (const row of rows.slice(0, shown)) {
      const line = body.insertRow();
      line.dataset.run = row;
      const head = document.createElement("th");
      head.scope = "row";
      head.append(...settingsOf(data.names[row]));
      if (data.marks[row]) {
        const mark = document.createElement("em");
        mark.textContent = ` (${data.marks[row]})`;
        head.append(mark);
      }
      line.append(head);
      data.columns.forEach((column, index) => {
        const cell = line.insertCell();
        cell.className = "number";
        cell.dataset.key = column.key;
        cell.dataset.value = JSON.stringify(data.values[row][index]);
        cell.textContent = data.texts[row][index];
      });
    }
    table.tBodies[0].replaceWith(body);
    tell(rows.length, problems);
    tellScrolling(table.parentElement);
    return rows;
  }

  function tell(found, problems) {
    const total = data.names.length;
    const part = found === total ? `${total.toLocaleString("en")} rows` : `${found.toLocaleString("en")} of ${total.toLocaleString("en")} rows`;
    const first = found > shown ? `, the first ${shown.toLocaleString("en")} shown` : "";
    count.textContent = [part + first, ...problems].join("; ");
    more.hidden = found <= shown;
  }

  [...table.tHead.rows[0].cells].forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      sorted = { column, down: sorted.column === column && !sorted.down };
      for (const other of table.tHead.rows[0].cells) other.setAttribute("aria-sort", "none");
      head.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      draw();
    });
  });
  filter.addEventListener("input", () => {
    shown = PAGE;
    showRuns(draw().map((row) => data.names[row]));
  });
  more.addEventListener("click", () => {
    shown *= 5;
    draw();
  });
  tell(data.names.length, []);
})();
