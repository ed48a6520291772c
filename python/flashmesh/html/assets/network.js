"use strict";
/* The moving view: the network at a moment of simulated time, drawn by D3 from a recording. */
(() => {
  const PHASES = {
    reserved: { text: "reserved by a scout", color: "#e69f00", dash: "5 3" },
    path: { text: "path held", color: "#7f7f7f", dash: null },
    command: { text: "command or written data moves", color: "#0072b2", dash: null },
    data: { text: "read data moves", color: "#009e73", dash: null },
  };
  const CHIPS = {
    blocked: { text: "die waits: its path is taken", color: "#f4b28f", mark: "!" },
    waiting: { text: "die waits while its path is set up", color: "#ffe9b3", mark: "…" },
    reading: { text: "array reads", color: "#cfe8dd", mark: "" },
    idle: { text: "nothing recorded", color: "#ffffff", mark: "" },
  };
  const SCOUTS = {
    sent: { text: "scout searches", color: "#e69f00" },
    back: { text: "scout backtracks", color: "#d55e00" },
    found: { text: "scout returns: the circuit stands", color: "#009e73" },
  };
  const CAUSES = { channel: "the channel or the pins of the chip are taken", controller: "all controllers are taken", link: "a link on the way is taken" };
  const CELL = 64;
  const get = (id) => document.getElementById(id);
  const svg = d3.select("#moving-view");
  const [play, slider, tip] = [get("moving-play"), get("moving-time"), get("moving-tip")];
  let view = null;
  let now = 0;
  let timer = null;

  /* Returns transfers, holds and scouts as objects, with the moments of all changes. */
  function prepared(recording) {
    const requests = new Map(recording.requests.map(([number, kind, offset, size, issued, completed]) =>
      [number, { number, kind, offset, size, issued, completed }]));
    const transfers = recording.transfers.map(
      ([die, phase, message, numbers, asked, granted, delivered, released, causes, blocked], index) =>
        ({ index, die, chip: Math.floor(die / recording.dies_per_chip), phase, message, numbers, asked, granted, delivered, released, causes, blocked }));
    const holds = recording.holds.map(([link, die, transfer, from, until]) =>
      ({ link, die, transfer: transfer === null ? null : transfers[transfer], from, until }));
    const scouts = new Map();
    for (const [at, controller, die, step, chip] of recording.scouts) {
      if (!scouts.has(controller)) scouts.set(controller, []);
      scouts.get(controller).push({ at, controller, die, step, chip });
    }
    const nextOfDie = new Map();
    for (const transfer of [...transfers].reverse()) {
      transfer.next = nextOfDie.get(transfer.die) ?? null;
      nextOfDie.set(transfer.die, transfer);
    }
    const moments = new Set([recording.start, recording.end]);
    const add = (at) => { if (at !== null && at >= recording.start && at <= recording.end) moments.add(at); };
    for (const { asked, granted, delivered, released } of transfers) [asked, granted, delivered, released].forEach(add);
    for (const { from, until } of holds) [from, until].forEach(add);
    for (const steps of scouts.values()) steps.forEach((step) => add(step.at));
    const sorted = [...moments].sort((a, b) => a - b);
    // A step leads to the last of the moments with the same text, since the clock shows no less than a nanosecond.
    const steps = sorted.filter((at, index) => index + 1 === sorted.length || time(at) !== time(sorted[index + 1]));
    const conflicts = transfers.filter((one) => one.causes.length && one.blocked > 0).map((one) => one.asked)
      .filter((at) => at >= recording.start && at <= recording.end).sort((a, b) => a - b);
    return { recording, requests, transfers, holds, scouts, moments: steps, conflicts };
  }

  const grouped = new Intl.NumberFormat("en", { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  const time = (ps) => `${grouped.format(ps / 1e6)} us`;
  const UNITS = [["s", 1e12], ["ms", 1e9], ["us", 1e6], ["ns", 1e3], ["ps", 1]];
  /* Returns a time with four digits, for texts that are no clock. */
  const shortTime = (ps) => {
    const [unit, scale] = UNITS.find((each) => ps >= each[1]) ?? ["ps", 1];
    return `${Number((ps / scale).toPrecision(4))} ${unit}`;
  };
  const count = (number) => number.toLocaleString("en");
  const size = (bytes) => (bytes >= 1024 ? `${bytes / 1024} KiB` : `${bytes} B`);
  const x = (column) => (column + 1.6) * CELL;
  const y = (row) => (row + 0.6) * CELL;

  function requestText(numbers) {
    if (!numbers.length) return "work of the firmware, or a request outside the recording";
    return numbers.map((number) => {
      const found = view.requests.get(number);
      if (!found) return `request ${number}`;
      const done = found.completed === null ? "not completed yet" : `completed ${time(found.completed)}`;
      return `request ${number}: ${found.kind} of ${size(found.size)} at ${found.offset}, issued ${time(found.issued)}, ${done}`;
    }).join("\n");
  }

  const what = (transfer) => ({ read: "read command", program: "program with its data", erase: "erase command", copyback: "copyback command", data: "read data", copy: "data to another chip" })[transfer.message] ?? transfer.phase;

  function phaseOf(hold) {
    const { transfer } = hold;
    if (!transfer) return "path";
    if (transfer.granted === null || now < transfer.granted) return view.scouts.size ? "reserved" : "path";
    if (transfer.delivered === null || now < transfer.delivered) return transfer.phase === "command" ? "command" : "data";
    return "path";
  }

  function stateOf(transfer) {
    if (now >= transfer.asked && (transfer.granted === null || now < transfer.granted)) {
      return transfer.causes.length && now < transfer.asked + transfer.blocked ? "blocked" : "waiting";
    }
    const reads = transfer.message === "read" && transfer.delivered !== null && now >= transfer.delivered;
    return reads && (!transfer.next || now < transfer.next.asked) ? "reading" : "idle";
  }

  /* Returns the place of the scout of a controller, between the places of its last step and of its next. */
  function scoutAt(steps) {
    let index = d3.bisector((step) => step.at).right(steps, now) - 1;
    if (index < 0) return null;
    const step = steps[index];
    const after = steps[index + 1];
    const spot = (chip, controller) => (chip === null ? [-1, controller] : [chip % view.recording.columns, Math.floor(chip / view.recording.columns)]);
    if (step.step === "failed") return null;
    if (step.step === "found") {
      const transfer = view.transfers.find((one) => one.die === step.die && one.granted !== null && one.granted >= step.at);
      if (!transfer || now >= transfer.granted) return null;
      // Back over the entire circuit by the time of the grant.
      const path = steps.slice(steps.findLastIndex((one, at) => at <= index && one.step === "sent"), index + 1);
      const share = (now - step.at) / Math.max(1, transfer.granted - step.at);
      const back = trail(path).reverse();
      const at = Math.min(back.length - 1, Math.floor(share * back.length));
      return { step, spot: back[at], state: "found" };
    }
    const from = index > 0 && step.step !== "sent" ? spot(steps[index - 1].chip, step.controller) : [-1, step.controller];
    const to = spot(step.chip, step.controller);
    const share = after ? (now - step.at) / Math.max(1, after.at - step.at) : 1;
    const place = [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share];
    return { step, spot: place, state: step.step === "back" ? "back" : "sent" };
  }

  /* Returns the routers of a circuit: the path of its scout without the detours that it took back. */
  function trail(steps) {
    const { columns } = view.recording;
    const spots = [[-1, steps[0].controller]];
    for (const step of steps) {
      if (step.step === "back") spots.pop();
      else if (step.step !== "found") spots.push([step.chip % columns, Math.floor(step.chip / columns)]);
    }
    return spots;
  }

  function drawFrame() {
    const { recording } = view;
    const { rows, columns } = recording;
    svg.attr("viewBox", `0 0 ${(columns + 1.4) * CELL} ${(rows + 0.4) * CELL}`);
    svg.selectAll("*").remove();
    svg.append("g").attr("class", "links");
    svg.append("g").attr("class", "controllers");
    svg.append("g").attr("class", "chips");
    svg.append("g").attr("class", "scouts");
    const placed = recording.links.map((link, index) => ({ index, name: link[0], ends: link.slice(1) })).filter((link) => link.ends.length);
    svg.select(".links").selectAll("line").data(placed).join("line")
      .attr("x1", (d) => x(d.ends[0])).attr("y1", (d) => y(d.ends[1]))
      .attr("x2", (d) => x(d.ends[2])).attr("y2", (d) => y(d.ends[3]))
      .attr("stroke", "#dddddd").attr("stroke-width", 4).attr("stroke-linecap", "round")
      .on("pointermove", (event, d) => showTip(event, () => linkText(d))).on("pointerleave", hideTip);
    const controller = svg.select(".controllers").selectAll("g").data(d3.range(rows)).join("g")
      .attr("transform", (row) => `translate(${x(-1)},${y(row)})`);
    controller.append("rect").attr("x", -22).attr("y", -16).attr("width", 30).attr("height", 32).attr("rx", 4).attr("fill", "#eeeeee").attr("stroke", "#595959");
    controller.append("text").attr("x", -7).attr("y", 5).attr("text-anchor", "middle").attr("font-size", 13).text((row) => row);
    const chip = svg.select(".chips").selectAll("g").data(d3.range(rows * columns)).join("g")
      .attr("transform", (number) => `translate(${x(number % columns)},${y(Math.floor(number / columns))})`)
      .on("pointermove", (event, d) => showTip(event, () => chipText(d))).on("pointerleave", hideTip);
    chip.append("rect").attr("x", -17).attr("y", -17).attr("width", 34).attr("height", 34).attr("rx", 3).attr("fill", "#ffffff").attr("stroke", "#595959");
    chip.append("text").attr("class", "number").attr("y", -3).attr("text-anchor", "middle").attr("font-size", 10).attr("fill", "#595959").text((d) => d);
    chip.append("text").attr("class", "mark").attr("y", 13).attr("text-anchor", "middle").attr("font-size", 15).attr("font-weight", 700);
    get("moving-about").textContent = recording.about;
    const bound = recording.is_cut ? " The recording holds the first events of the run, as many as measure.network-events-max allows." : "";
    const taken = view.transfers.filter((one) => one.causes.length).length;
    const seen = `${count(view.transfers.length)} transfers, ${count(taken)} of them with their path taken`;
    get("moving-note").textContent = `Recorded from ${shortTime(recording.start)} to ${shortTime(recording.end)}: ${seen}.${bound}`;
    get("moving-conflict").hidden = !view.conflicts.length;
    get("moving-backtrack").hidden = !view.scouts.size;
    drawLegend();
  }

  /* Returns whether a link leads from a router to its own chip: its line is shorter than that to the next router. */
  const isOfChip = ([, ...ends]) => ends.length > 0 && Math.hypot(ends[2] - ends[0], ends[3] - ends[1]) < 0.9;

  function drawLegend() {
    const hasScouts = view.scouts.size > 0;
    const entries = [
      ...Object.entries(PHASES).filter(([key]) => hasScouts || key !== "reserved")
        .map(([, part]) => ({ text: part.text, draw: (g) => g.append("line").attr("x1", 1).attr("x2", 23).attr("y1", 8).attr("y2", 8).attr("stroke", part.color).attr("stroke-width", 4).attr("stroke-dasharray", part.dash) })),
      ...(view.recording.links.some(isOfChip) ? [{ text: "short line: pins of a chip", draw: (g) => g.append("line").attr("x1", 6).attr("x2", 18).attr("y1", 8).attr("y2", 8).attr("stroke", "#dddddd").attr("stroke-width", 4).attr("stroke-linecap", "round") }] : []),
      ...Object.values(CHIPS).slice(0, 3).map((part) => ({ text: part.text, draw: (g) => {
        g.append("rect").attr("x", 4).attr("width", 16).attr("height", 16).attr("fill", part.color).attr("stroke", "#595959");
        g.append("text").attr("x", 12).attr("y", 13).attr("text-anchor", "middle").attr("font-size", 12).attr("font-weight", 700).text(part.mark);
      } })),
      ...(hasScouts ? Object.values(SCOUTS).map((part) => ({ text: part.text, draw: (g) => g.append("circle").attr("cx", 12).attr("cy", 8).attr("r", 7).attr("fill", part.color).attr("stroke", "#000") })) : []),
    ];
    const items = d3.select("#moving-legend").selectAll("li").data(entries).join("li").html("");
    items.each(function (entry) {
      entry.draw(d3.select(this).append("svg").attr("width", 24).attr("height", 16).attr("aria-hidden", "true"));
      d3.select(this).append("span").text(entry.text);
    });
  }

  function draw() {
    const held = new Map(view.holds.filter((hold) => hold.from <= now && now < hold.until).map((hold) => [hold.link, hold]));
    view.held = held;
    svg.select(".links").selectAll("line").each(function (link) {
      const hold = held.get(link.index);
      const part = hold ? PHASES[phaseOf(hold)] : null;
      d3.select(this).attr("stroke", part ? part.color : "#dddddd").attr("stroke-width", part ? 6 : 4)
        .attr("stroke-dasharray", part ? part.dash : null).attr("stroke-linecap", part?.dash ? "butt" : "round").attr("data-held", hold ? phaseOf(hold) : null);
    });
    const rank = Object.keys(CHIPS);
    const states = new Map();
    view.active = [];
    for (const transfer of view.transfers) {
      if (transfer.asked > now) break;
      const state = stateOf(transfer);
      if (state !== "idle" && rank.indexOf(state) < rank.indexOf(states.get(transfer.chip) ?? "idle")) states.set(transfer.chip, state);
      if (now >= transfer.asked && (transfer.released === null || now < transfer.released)) view.active.push(transfer);
    }
    view.states = states;
    const chips = svg.select(".chips").selectAll("g");
    chips.select("rect").attr("fill", (d) => CHIPS[states.get(d) ?? "idle"].color).attr("data-state", (d) => states.get(d) ?? "idle");
    chips.select(".mark").text((d) => CHIPS[states.get(d) ?? "idle"].mark);
    const scouts = [...view.scouts.values()].map(scoutAt).filter(Boolean);
    const drawn = svg.select(".scouts").selectAll("g").data(scouts, (d) => d.step.controller).join((enter) => {
      const g = enter.append("g");
      g.append("circle").attr("r", 11).attr("stroke", "#000000").attr("stroke-width", 1.2);
      g.append("text").attr("y", 4).attr("text-anchor", "middle").attr("font-size", 12).attr("font-weight", 700);
      g.on("pointermove", (event, d) => showTip(event, () => scoutText(d))).on("pointerleave", hideTip);
      return g;
    });
    drawn.attr("transform", (d) => `translate(${x(d.spot[0])},${y(d.spot[1])})`).attr("data-scout", (d) => d.state);
    drawn.select("circle").attr("fill", (d) => SCOUTS[d.state].color);
    drawn.select("text").text((d) => d.step.controller);
    get("moving-now").textContent = time(now);
    slider.value = String(Math.round(((now - view.recording.start) / Math.max(1, view.recording.end - view.recording.start)) * 1e6));
    slider.setAttribute("aria-valuetext", time(now));
    tell(scouts);
  }

  function tell(scouts) {
    const lines = scouts.map((scout) => scoutText(scout).split("\n")[0]);
    for (const transfer of view.active) lines.push(transferText(transfer));
    const shown = lines.slice(0, 14);
    if (lines.length > shown.length) shown.push(`and ${lines.length - shown.length} more`);
    d3.select("#moving-events").selectAll("li").data(shown).join("li").text((line) => line);
  }

  function transferText(transfer) {
    const numbers = transfer.numbers.length ? ` for request ${transfer.numbers.join(", ")}` : "";
    const state = stateOf(transfer);
    if (state === "blocked") return `Die ${transfer.die} waits to move ${transfer.phase === "command" ? "a command" : "data"}: ${transfer.causes.map((cause) => CAUSES[cause]).join(", then ")}`;
    if (state === "waiting") return `Die ${transfer.die} waits while a path is set up for its ${transfer.phase}`;
    return `Die ${transfer.die}: ${what(transfer)}${numbers}`;
  }

  function scoutText({ step, state }) {
    const chip = Math.floor(step.die / view.recording.dies_per_chip);
    const where = step.chip === null ? "its controller" : `the router of chip ${step.chip}`;
    if (state === "found") return `Scout ${step.controller} has reached chip ${chip} and returns over its circuit`;
    if (state === "back") return `Scout ${step.controller} finds no way on and backtracks to ${where}, looking for chip ${chip}`;
    return `Scout ${step.controller} reserves a link to ${where}, looking for chip ${chip}`;
  }

  function linkText(link) {
    const hold = view.held.get(link.index);
    if (!hold) return `${link.name}: free`;
    const lines = [`${link.name}: ${PHASES[phaseOf(hold)].text}, for die ${hold.die}`, `held from ${time(hold.from)} to ${time(hold.until)}`];
    if (hold.transfer) lines.push(what(hold.transfer), requestText(hold.transfer.numbers));
    return lines.join("\n");
  }

  function chipText(chip) {
    const own = view.active.filter((transfer) => transfer.chip === chip);
    const lines = [`chip ${chip}: ${CHIPS[view.states.get(chip) ?? "idle"].text}`];
    for (const transfer of own) lines.push(transferText(transfer), requestText(transfer.numbers));
    return lines.join("\n");
  }

  function showTip(event, text) {
    tip.textContent = text();
    tip.hidden = false;
    const box = tip.getBoundingClientRect();
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - box.width - 8)}px`;
    tip.style.top = `${Math.min(event.clientY + 14, innerHeight - box.height - 8)}px`;
  }
  function hideTip() { tip.hidden = true; }

  function go(to) {
    now = Math.min(view.recording.end, Math.max(view.recording.start, to));
    draw();
  }

  function pause() {
    timer?.stop();
    timer = null;
    play.textContent = "Play";
    play.setAttribute("aria-pressed", "false");
  }

  function start() {
    if (now >= view.recording.end) go(view.recording.start);
    let last = null;
    timer = d3.timer((elapsed) => {
      const passed = last === null ? 0 : elapsed - last;
      last = elapsed;
      // The speed is in nanoseconds of simulated time per second, which is the number of picoseconds per millisecond.
      go(now + passed * Number(get("moving-speed").value));
      if (now >= view.recording.end) pause();
    });
    play.textContent = "Pause";
    play.setAttribute("aria-pressed", "true");
  }

  const after = (moments) => moments.find((at) => at > now);
  function step(forward) {
    pause();
    const { moments } = view;
    const index = forward ? d3.bisectRight(moments, now) : d3.bisectLeft(moments, now) - 1;
    if (index >= 0 && index < moments.length) go(moments[index]);
  }
  function jump(moments) {
    pause();
    const inside = moments.filter((at) => at >= view.recording.start && at <= view.recording.end).sort((a, b) => a - b);
    const to = after(inside) ?? inside[0];
    if (to !== undefined) go(to);
  }

  function choose(index) {
    pause();
    view = prepared(report.moving[index]);
    drawFrame();
    go(view.conflicts[0] ?? view.recording.start);
  }

  /* Scrolls a chip whose die waits into the visible part of the drawing and of the window. */
  function showConflict() {
    jump(view.conflicts);
    get("moving-view").querySelector('[data-state="blocked"]')?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  play.addEventListener("click", () => (timer ? pause() : start()));
  get("moving-step").addEventListener("click", () => step(true));
  get("moving-back").addEventListener("click", () => step(false));
  get("moving-conflict").addEventListener("click", showConflict);
  get("moving-backtrack").addEventListener("click", () => jump([...view.scouts.values()].flat().filter((one) => one.step === "back").map((one) => one.at)));
  get("moving-run").addEventListener("change", (event) => choose(Number(event.target.value)));
  // A filter may leave the recordings of several runs: one of them is shown.
  document.addEventListener("runs-chosen", () => {
    const options = [...get("moving-run").options];
    for (const option of options) option.disabled = option.hidden;
    const left = options.find((option) => !option.hidden);
    if (left && get("moving-run").selectedOptions[0]?.hidden !== false) {
      left.selected = true;
      choose(Number(left.value));
    }
  });
  slider.addEventListener("input", () => {
    pause();
    go(view.recording.start + (Number(slider.value) / 1e6) * (view.recording.end - view.recording.start));
  });
  document.querySelector("#moving .stage .wide").addEventListener("keydown", (event) => {
    const does = { " ": () => play.click(), ArrowRight: () => step(true), ArrowLeft: () => step(false) }[event.key];
    if (does) {
      event.preventDefault();
      does();
    }
  });
  choose(0);
})();
