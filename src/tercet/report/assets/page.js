"use strict";
(function () {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const find = (id) => document.getElementById(id);
  const components = page.components || [];
  const noun = page.noun[0].toUpperCase() + page.noun.slice(1);
  const SVG = "http://www.w3.org/2000/svg";
  const SHOWN = 16;
  let chosen = 0;

  // All text enters the page through textContent and attributes, never as markup.
  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  function draw(tag, attributes, ...children) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
    element.append(...children);
    return element;
  }
  const percent = (share) => (100 * share).toFixed(share < 0.1 ? 2 : 1) + " %";
  const quantity = (value) => {
    const size = Math.abs(value);
    return size !== 0 && (size < 0.001 || size >= 1e5) ? value.toExponential(1) : value.toPrecision(3);
  };
  const width = (part, whole) => "width:" + Math.max(0, Math.min(100, whole > 0 ? (100 * part) / whole : 0)).toFixed(2) + "%";
  const shortWords = (index, count) => components[index].terms.slice(0, count).map((term) => term[0]).join(", ");

  // Theme: what the system prefers until somebody chooses.
  const themeButton = find("theme");
  function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    themeButton.setAttribute("aria-pressed", String(dark));
  }
  const preference = window.matchMedia("(prefers-color-scheme: dark)");
  setTheme(preference.matches);
  preference.addEventListener("change", (event) => setTheme(event.matches));
  themeButton.addEventListener("click", () => setTheme(document.documentElement.dataset.theme !== "dark"));

  // Bubbles that hide one another are pushed apart a little; order of work is fixed.
  function spread(bubbles, size) {
    for (let round = 0; round < 120; round++) {
      for (let i = 0; i < bubbles.length; i++) {
        for (let j = i + 1; j < bubbles.length; j++) {
          const a = bubbles[i], b = bubbles[j];
          let dx = b.x - a.x, dy = b.y - a.y;
          if (dx === 0 && dy === 0) { dx = 0.01 * (j - i); dy = 0.01; }
          const distance = Math.hypot(dx, dy), wanted = 0.8 * (a.radius + b.radius);
          if (distance >= wanted) continue;
          const push = (0.25 * (wanted - distance)) / distance;
          a.x -= push * dx; a.y -= push * dy; b.x += push * dx; b.y += push * dy;
        }
      }
      for (const part of bubbles) {
        part.x = Math.min(size - part.radius - 2, Math.max(part.radius + 2, part.x));
        part.y = Math.min(size - part.radius - 2, Math.max(part.radius + 2, part.y));
      }
    }
  }

  function drawMap() {
    const size = 420, margin = 46, reach = size / 2 - margin;
    const largest = Math.max(...components.map((part) => part.weight));
    const bubbles = components.map((part) => ({
      x: size / 2 + reach * part.place[0],
      y: size / 2 - reach * part.place[1],
      radius: Math.max(10, 34 * Math.sqrt(largest > 0 ? part.weight / largest : 0)),
    }));
    spread(bubbles, size);
    const svg = draw("svg", { viewBox: `0 0 ${size} ${size}`, role: "group", "aria-label": `Map, one mark for each ${page.noun}` });
    svg.append(draw("line", { class: "axis", x1: size / 2, y1: 8, x2: size / 2, y2: size - 8 }),
      draw("line", { class: "axis", x1: 8, y1: size / 2, x2: size - 8, y2: size / 2 }));
    const order = components.map((_, index) => index).sort((a, b) => components[b].weight - components[a].weight);
    for (const index of order) {
      const part = components[index];
      const { x, y, radius } = bubbles[index];
      const label = `${noun} ${index + 1}, ${percent(part.weight)}: ${shortWords(index, 5)}`;
      const group = draw("g", { class: "bubble-group", tabindex: "0", role: "button", "aria-label": label, "data-index": index },
        draw("title", {}, label),
        draw("circle", { class: "bubble", cx: x, cy: y, r: radius }),
        draw("text", { x: x, y: y + 4.5, "text-anchor": "middle" }, String(index + 1)));
      group.addEventListener("click", () => choose(index));
      group.addEventListener("keydown", (event) => {
        if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(index); }
      });
      svg.append(group);
    }
    find("map").append(svg);
  }

  function drawSizes() {
    const largest = Math.max(...components.map((part) => part.weight));
    components.forEach((part, index) => {
      const button = make("button", { type: "button", "data-index": index },
        make("span", {}, String(index + 1)),
        make("span", {}, make("span", { class: "words-short", dir: "auto" }, shortWords(index, 5)),
          make("span", { class: "line", style: width(part.weight, largest) })),
        make("span", { class: "number" }, percent(part.weight)));
      button.addEventListener("click", () => choose(index));
      find("sizes").append(make("li", {}, button));
    });
  }

  function rank(terms, share) {
    const signed = terms.some((term) => term[1] <= 0 || term[2] <= 0);
    const relevance = (term) => signed
      ? share * Math.abs(term[1]) + (1 - share) * Math.abs(term[1] - term[2])
      : Math.log(term[1]) - (1 - share) * Math.log(term[2]);
    return terms.map((term) => [relevance(term), term]).sort((a, b) => b[0] - a[0]).map((pair) => pair[1]);
  }

  function showWords() {
    const share = Number(find("lambda").value);
    find("lambda-shown").textContent = share.toFixed(1);
    const ranked = rank(components[chosen].terms, share).slice(0, SHOWN);
    const largest = Math.max(...ranked.map((term) => Math.max(Math.abs(term[1]), Math.abs(term[2]))), 0);
    find("words").replaceChildren(...ranked.map((term) => make("tr", {},
      make("th", { scope: "row", dir: "auto" }, term[0]),
      make("td", {}, make("span", { class: "track", "aria-hidden": "true" },
        make("span", { class: "inside", style: width(Math.abs(term[1]), largest) }),
        make("span", { class: "everywhere", style: width(Math.abs(term[2]), largest) }))),
      make("td", { class: "number" }, quantity(term[1])),
      make("td", { class: "number" }, quantity(term[2])))));
  }

  function showDocuments() {
    const list = find("documents");
    if (!list) return;
    list.replaceChildren(...(components[chosen].documents || []).map((document_) => {
      const item = make("li", {}, make("strong", { dir: "auto" }, document_.title), " ",
        make("span", {}, percent(document_.share) + (document_.time === undefined ? "" : `, ${document_.time}`)));
      if (document_.excerpt) item.append(make("span", { class: "excerpt", dir: "auto" }, document_.excerpt));
      return item;
    }));
  }

  function drawCurve(values, highest, tall, label) {
    const wide = 460, left = 6, bottom = 20, top = 8;
    const x = (i) => left + (values.length > 1 ? (i * (wide - 2 * left)) / (values.length - 1) : (wide - 2 * left) / 2);
    const y = (value) => top + (tall - top - bottom) * (1 - (highest > 0 ? value / highest : 0));
    const points = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`);
    const periods = page.trend.periods;
    const svg = draw("svg", { viewBox: `0 0 ${wide} ${tall}`, role: "img", "aria-label": label },
      draw("title", {}, label),
      draw("line", { class: "axis", x1: left, y1: y(0), x2: wide - left, y2: y(0) }),
      draw("polygon", { class: "area", points: `${x(0)},${y(0)} ${points.join(" ")} ${x(values.length - 1)},${y(0)}` }),
      draw("polyline", { class: "curve", points: points.join(" ") }),
      draw("text", { x: left, y: tall - 4 }, periods[0]),
      draw("text", { x: wide - left, y: tall - 4, "text-anchor": "end" }, periods[periods.length - 1]));
    return svg;
  }

  function describeTrend(index) {
    const values = page.trend.shares[index];
    const peak = values.indexOf(Math.max(...values));
    return `${noun} ${index + 1} over time: from ${percent(values[0])} in ${page.trend.periods[0]} to ` +
      `${percent(values[values.length - 1])} in ${page.trend.periods[values.length - 1]}, highest ` +
      `${percent(values[peak])} in ${page.trend.periods[peak]}.`;
  }

  function showTrend() {
    if (!page.trend) return;
    const values = page.trend.shares[chosen];
    find("trend").replaceChildren(drawCurve(values, Math.max(...values), 170, describeTrend(chosen)),
      make("p", { class: "hint" }, describeTrend(chosen)));
  }

  function drawMultiples() {
    if (!page.trend) return;
    const highest = Math.max(...page.trend.shares.flat());
    components.forEach((_, index) => {
      find("multiples").append(make("figure", { class: "card" },
        make("h3", { dir: "auto" }, `${index + 1}: ${shortWords(index, 4)}`),
        drawCurve(page.trend.shares[index], highest, 110, describeTrend(index))));
    });
  }

  function drawHeat() {
    if (!page.heat) return;
    const rows = [page.heat.overall, ...page.heat.rows];
    const largest = page.heat.features.map((_, j) => Math.max(...rows.map((row) => Math.abs(row[j]))));
    const head = make("tr", {}, make("th", { scope: "col" }, noun),
      ...page.heat.features.map((name) => make("th", { scope: "col", dir: "auto" }, name)));
    const body = rows.map((row, i) => make("tr", {}, make("th", { scope: "row" }, i === 0 ? "everybody" : String(i)),
      ...row.map((value, j) => {
        const strength = largest[j] > 0 ? Math.abs(value) / largest[j] : 0;
        return make("td", { style: `background:rgba(var(--heat),${(0.5 * strength).toFixed(3)})` }, quantity(value));
      })));
    find("heat-table").append(make("thead", {}, head), make("tbody", {}, ...body));
  }

  function showFrequencies() {
    if (!page.heat) return;
    const values = page.heat.rows[chosen], overall = page.heat.overall;
    const order = values.map((_, j) => j).sort((a, b) => Math.abs(values[b] - overall[b]) - Math.abs(values[a] - overall[a])).slice(0, 20);
    const highest = Math.max(...order.map((j) => Math.max(Math.abs(values[j]), Math.abs(overall[j]))), 0);
    const wide = 700, step = 24, left = 190;
    const span = (value) => (highest > 0 ? ((wide - left - 70) * Math.abs(value)) / highest : 0);
    const svg = draw("svg", { viewBox: `0 0 ${wide} ${step * order.length + 8}`, role: "img",
      "aria-label": `Values in ${page.noun} ${chosen + 1} of the features that set it apart` });
    order.forEach((j, place) => {
      const y = 4 + step * place;
      const name = page.heat.features[j];
      svg.append(
        draw("text", { x: left - 8, y: y + 16, "text-anchor": "end" }, name.length > 26 ? name.slice(0, 25) + "…" : name),
        draw("rect", { x: left, y: y + 4, height: step - 9, width: span(values[j]).toFixed(1), fill: "var(--inside)" },
          draw("title", {}, `${name}: ${quantity(values[j])}, everybody ${quantity(overall[j])}`)),
        draw("line", { x1: left + span(overall[j]), x2: left + span(overall[j]), y1: y + 1, y2: y + step - 3, stroke: "var(--everywhere)", "stroke-width": 3 }),
        draw("text", { x: left + Math.max(span(values[j]), span(overall[j])) + 8, y: y + 16 }, quantity(values[j])));
    });
    find("frequencies").replaceChildren(svg);
  }

  function choose(index) {
    chosen = (index + components.length) % components.length;
    const part = components[chosen];
    find("choice").value = String(chosen);
    find("detail-title").textContent = `${noun} ${chosen + 1}: ${percent(part.weight)}`;
    for (const button of find("sizes").querySelectorAll("button")) {
      button.setAttribute("aria-current", String(Number(button.dataset.index) === chosen));
    }
    for (const group of document.querySelectorAll(".bubble-group")) {
      group.classList.toggle("chosen", Number(group.dataset.index) === chosen);
      group.setAttribute("aria-pressed", String(Number(group.dataset.index) === chosen));
    }
    showWords();
    showDocuments();
    showTrend();
    showFrequencies();
  }

  // A spreadsheet takes a cell that begins so for a formula.
  const guard = (text) => (/^[=+\-@\t\r]/.test(text) ? "'" + text : text);
  const cell = (value) => (typeof value === "number" ? String(value) : '"' + guard(value).replace(/"/g, '""') + '"');
  function download() {
    const lines = [["component", "weight", "feature", "inside", "everywhere"].join(",")];
    components.forEach((part, index) => part.terms.forEach((term) =>
      lines.push([index + 1, part.weight, term[0], term[1], term[2]].map(cell).join(","))));
    const url = URL.createObjectURL(new Blob([lines.join("\r\n")], { type: "text/csv" }));
    const link = make("a", { href: url, download: "components.csv" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  function filter() {
    const wanted = find("find").value.trim().toLocaleLowerCase();
    const rows = [...find("all").tBodies[0].rows];
    let shown = 0;
    rows.forEach((row, index) => {
      const hit = !wanted || components[index].terms.some((term) => term[0].toLocaleLowerCase().includes(wanted));
      row.classList.toggle("hidden", !hit);
      shown += hit;
    });
    find("found").textContent = wanted ? `${shown} of ${rows.length} hold it` : "";
  }

  function describeNode(node) {
    return make("span", { title: node.note }, make("strong", {}, node.name), " ",
      make("span", { class: "share" }, `${node.size.toLocaleString("en")} rows, ${percent(node.weight)}`), " ",
      make("span", { dir: "auto" }, node.words.join(", ")));
  }
  function drawTree(node, depth) {
    if (!node.children.length) return make("div", { class: "leaf" }, describeNode(node));
    const details = make("details", depth < 2 ? { open: "" } : {}, make("summary", {}, describeNode(node)));
    node.children.forEach((child) => details.append(drawTree(child, depth + 1)));
    return details;
  }

  find("facts").textContent = JSON.stringify(page.facts, null, 2);
  if (page.tree) {
    find("tree").append(drawTree(page.tree, 0));
    const setAll = (open) => find("tree").querySelectorAll("details").forEach((part) => { part.open = open; });
    find("open-all").addEventListener("click", () => setAll(true));
    find("close-all").addEventListener("click", () => setAll(false));
  }
  if (page.kind !== "views") {
    drawMap();
    drawSizes();
    drawMultiples();
    drawHeat();
    find("choice").addEventListener("change", (event) => choose(Number(event.target.value)));
    find("previous").addEventListener("click", () => choose(chosen - 1));
    find("next").addEventListener("click", () => choose(chosen + 1));
    find("lambda").addEventListener("input", showWords);
    find("find").addEventListener("input", filter);
    find("download").addEventListener("click", download);
    choose(0);
  }
  document.documentElement.dataset.ready = "true";
})();
