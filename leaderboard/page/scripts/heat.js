"use strict";

/** A colour from purple to orange through grey, which colour-blind readers can tell apart; darker in
 * the dark theme. It grows with the square root, so that a gain of 3 can be seen beside a loss of 30. */
function diverging(share) {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const [low, middle, high] = dark ? ["#6d4fb3", "#24272b", "#a85a12"] : ["#8e7cc3", "#f4f4f2", "#f0a04b"];
  return d3.interpolateRgb(middle, share < 0 ? low : high)(Math.sqrt(Math.min(1, Math.abs(share))));
}

function sequential(share) {
  return d3.interpolateCividis(Math.max(0, Math.min(1, share)));
}

/** Black or white, whichever is easier to read on a colour. */
function inkOn(colour) {
  const { r, g, b } = d3.rgb(colour);
  const linear = [r, g, b].map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.179 ? "#000" : "#fff";
}

function coloured(cell, colour) {
  cell.style.backgroundColor = colour;
  cell.style.color = inkOn(colour);
  return cell;
}

function drawHeat(board) {
  const figure = byId("heat-figure").value;
  const names = board.algorithms.filter((name) => name !== board.standalone);
  const cells = new Map(board.cells.map((cell) => [`${cell.sequence}\n${cell.algorithm}`, cell]));
  const means = board.cells.map((cell) => Math.abs(cell[figure]?.[0] ?? 0));
  const reach = Math.max(1, ...means);
  const head = element("tr", {}, element("th", { class: "name", scope: "col", text: "sequence" }),
    ...names.map((text) => element("th", { scope: "col", text })));
  const lines = board.sequences.map((sequence) => element("tr", {},
    element("th", { class: "name", scope: "row", text: sequence }),
    ...names.map((name) => heatCell(cells.get(`${sequence}\n${name}`), figure, reach))));
  byId("heat-table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...lines));
}

function heatCell(cell, figure, reach) {
  const numbers = cell[figure];
  if (!numbers) return element("td", { class: "status", text: cell.status || "no SA" });
  const [mean, low, high] = numbers;
  const strong = low !== null && (low > 0 || high < 0);
  return coloured(element("td", { class: strong ? "strong" : "", text: shown(figure, mean),
    title: withInterval(figure, numbers) }), diverging(mean / reach));
}
