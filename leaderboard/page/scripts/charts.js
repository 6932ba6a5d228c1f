"use strict";

/** The colours of Okabe and Ito; the text colour of the theme replaces black. Symbols differ as well.
 * All of them are areas, because a symbol of lines cannot be filled and would not be visible. */
const COLOURS = ["currentColor", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8a7d00"];
const SYMBOLS = ["circle", "square", "triangle", "diamond", "cross", "star", "wye", "hexagon"];
const CHART = { height: 340, marginLeft: 48, marginRight: 24, marginBottom: 40, style: { fontSize: "12px" } };

/** A different style for each algorithm: from the ninth on, colours repeat with other symbols and dashed lines. */
function styleOf(board, name) {
  const place = board.algorithms.indexOf(name);
  const round = Math.floor(place / COLOURS.length);
  return { colour: COLOURS[place % COLOURS.length], symbol: SYMBOLS[(place + 3 * round) % SYMBOLS.length],
    dash: round ? "5 3" : null };
}

/** Round numbers between the ends; on a wide logarithmic axis, 1, 2 and 5 times each power of ten. */
function logTicks([low, high]) {
  if (high / low < 8) return d3.ticks(low, high, 4);
  const decades = d3.range(Math.floor(Math.log10(low)), Math.ceil(Math.log10(high)) + 1);
  const round = decades.flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
  const inside = round.filter((tick) => tick >= low && tick <= high);
  return inside.length > 7 ? inside.filter((tick) => Number.isInteger(Math.round(1e9 * Math.log10(tick)) / 1e9)) : inside;
}

/** Places for labels, in pixels, so that no label hides another or a point: above, below, beside, or
 * further away. The algorithms with the highest scores get their places first. */
function labelPlaces(names, X, Y, width) {
  const taken = X.map((x, i) => [x - 6, Y[i] - 6, x + 6, Y[i] + 6]);
  const places = [];
  for (const i of d3.sort(d3.range(names.length), (i) => Y[i])) {
    const half = 3.6 * names[i].length + 2;
    const box = ([dx, dy]) => [X[i] + dx - half, Y[i] + dy - 7, X[i] + dx + half, Y[i] + dy + 7];
    const free = ([left, top, right, bottom]) => left >= 0 && right <= width
      && taken.every((other) => right <= other[0] || left >= other[2] || bottom <= other[1] || top >= other[3]);
    const tried = d3.range(14, 100, 7).flatMap((far) => [[0, -far], [0, far], [half + far - 4, 0], [4 - half - far, 0],
      [half, -far], [-half, -far], [half, far], [-half, far]]);
    const [dx, dy] = tried.find((shift) => free(box(shift))) ?? tried[0];
    taken.push(box([dx, dy]));
    places[i] = [X[i] + dx, Y[i] + dy];
  }
  return places;
}

/** Labels of points; their places are computed once the scales are known. */
function labelMark(points) {
  return Plot.text(points, Plot.initializer({ x: "cost", y: "score", text: "name", fill: "currentColor" },
    (data, facets, { x, y }, scales, { width }) => {
      const places = labelPlaces(points.map((point) => point.name), Array.from(x.value, (cost) => scales.x(cost)),
        Array.from(y.value, (score) => scales.y(score)), width);
      const [across, down] = [0, 1].map((axis) => ({ value: places.map((place) => place[axis]) }));
      return { data, facets, channels: { x: across, y: down } };
    }));
}

/** One mark per algorithm with its own style, so that algorithms need not share a scale. */
function pointMarks(board, points) {
  return points.flatMap((point) => {
    const { colour, symbol } = styleOf(board, point.name);
    const whiskers = [
      point.low === null ? null : Plot.ruleX([point], { x: "cost", y1: "low", y2: "high", stroke: colour, strokeOpacity: 0.6 }),
      point.costLow === null ? null
        : Plot.ruleY([point], { y: "score", x1: "costLow", x2: "costHigh", stroke: colour, strokeOpacity: 0.6 }),
    ];
    return [...whiskers.filter(Boolean),
      Plot.dot([point], { x: "cost", y: "score", fill: colour, symbol, r: 5, title: "title" })];
  });
}

function costPoints(board, cost) {
  const scale = FIGURES[cost].scale ?? 1;
  return board.averages.filter((row) => row.complete === board.averaged.length && row.A && row[cost]?.[0] > 0).map((row) => ({
    name: row.algorithm, cost: row[cost][0] * scale, score: row.A[0], low: row.A[1], high: row.A[2],
    costLow: row[cost][1] > 0 ? row[cost][1] * scale : null, costHigh: row[cost][2] * scale,
    title: `${row.algorithm}\nA ${withInterval("A", row.A)}\n${FIGURES[cost].title} ${withInterval(cost, row[cost])}`,
  }));
}

/** The width of a column: there is one column on a phone, and two on wider screens. */
function chartWidth() {
  const room = byId("cost-charts").clientWidth;
  return Math.max(280, Math.min(600, room < 900 ? room : room / 2 - 16));
}

function chart(caption, description, options) {
  const drawn = Plot.plot({ ...CHART, width: chartWidth(), ariaLabel: caption, ariaDescription: description, ...options });
  drawn.setAttribute("role", "img");
  return element("figure", {}, element("figcaption", { text: caption }), drawn);
}

function nothing(caption) {
  return element("figure", {}, element("figcaption", { text: caption }),
    element("p", { class: "hint", text: "No algorithm has completed every sequence." }));
}

function costChart(board, cost) {
  const points = costPoints(board, cost);
  const caption = `A against ${FIGURES[cost].title}`;
  if (!points.length) return nothing(caption);
  const front = board.fronts[cost].map((name) => points.find((point) => point.name === name)).filter(Boolean);
  const ends = d3.extent(points.flatMap((point) => [point.cost, point.costLow, point.costHigh].filter((each) => each > 0)));
  return chart(caption, `Pareto front: ${front.map((point) => point.name).join(", ")}`, {
    x: { type: "log", label: `${FIGURES[cost].title} →`, grid: true, ticks: logTicks(ends), tickFormat: "~g", inset: 30 },
    y: { label: "↑ A, %", grid: true, inset: 18 },
    marks: [
      Plot.line(front, { x: "cost", y: "score", curve: "step-after", stroke: "currentColor", strokeOpacity: 0.45, strokeDasharray: "5 4" }),
      ...pointMarks(board, points),
      labelMark(points),
    ],
  });
}

function budgetChart(board, spent, budgets) {
  const caption = `A at equal budget of ${FIGURES[spent].spent}`;
  const lines = Object.entries(board.budgets[spent]).map(([name, scores]) => ({
    name, points: scores.map((score, i) => score && { x: budgets[i], y: score[0], low: score[1], high: score[2] }).filter(Boolean),
  })).filter((line) => line.points.length);
  if (!lines.length) return nothing(caption);
  const marks = lines.flatMap(({ name, points }) => {
    const { colour, symbol, dash } = styleOf(board, name);
    const band = points.every((point) => point.low !== null)
      ? [Plot.areaY(points, { x: "x", y1: "low", y2: "high", fill: colour, fillOpacity: 0.12 })] : [];
    return [...band, Plot.line(points, { x: "x", y: "y", stroke: colour, strokeWidth: 1.8, strokeDasharray: dash }),
      Plot.dot(points, { x: "x", y: "y", fill: colour, symbol, r: 4, title: (point) => `${name}\n×${point.x}: ${point.y.toFixed(2)}` })];
  });
  return chart(caption, "One line per algorithm; the table of the command line has the numbers", {
    x: { type: "log", base: 2, label: "budget, in multiples of SA's →", ticks: budgets, tickFormat: (value) => `×${value}` },
    y: { label: "↑ A, %", grid: true },
    marks,
  });
}

/** Which symbol and colour each algorithm has. */
function legend(board) {
  const items = board.algorithms.map((name) => {
    const { colour, symbol } = styleOf(board, name);
    const drawn = Plot.plot({ width: 16, height: 16, margin: 0, axis: null,
      marks: [Plot.dot([0], { frameAnchor: "middle", fill: colour, symbol, r: 5 })] });
    drawn.setAttribute("aria-hidden", "true");
    return element("li", {}, drawn, element("span", { text: name }));
  });
  return element("ul", { class: "legend" }, ...items);
}

/** Which algorithms the charts of cost leave out. */
function undrawn(board) {
  const names = board.averages.filter((row) => row.complete < board.averaged.length).map((row) => row.algorithm);
  return names.length ? `Not drawn, because they have not completed every sequence: ${names.join(", ")}.` : "";
}

function drawCharts(board, budgets) {
  byId("undrawn").textContent = undrawn(board);
  byId("cost-charts").replaceChildren(legend(board), ...tradedCosts().map((cost) => costChart(board, cost)));
  byId("budget-charts").replaceChildren(legend(board),
    ...Object.keys(board.budgets).map((spent) => budgetChart(board, spent, budgets)));
}
