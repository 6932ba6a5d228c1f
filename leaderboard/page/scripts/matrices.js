"use strict";

/** The mean of several jobs' matrices; null where they have none. */
function meanMatrix(matrices) {
  const found = matrices.filter((matrix) => matrix.length);
  if (!found.length || found.some((matrix) => matrix.length !== found[0].length)) return null;
  return found[0].map((line, t) => line.map((_, i) => d3.mean(found, (matrix) => matrix[t][i])));
}

function matrixTable(matrix) {
  const size = matrix.length;
  const head = element("tr", {}, element("th"), ...matrix.map((_, i) => element("th", { scope: "col", text: String(i + 1) })));
  const lines = matrix.map((line, t) => element("tr", {}, element("th", { scope: "row", text: String(t + 1) }),
    ...line.map((value) => coloured(element("td", { text: (100 * value).toFixed(0) }), sequential(2 * value - 1))),
    ...Array.from({ length: size - line.length }, () => element("td"))));
  return element("table", { class: "matrix" }, element("thead", {}, head), element("tbody", {}, ...lines));
}

function drawMatrices(board, jobs) {
  choices(byId("matrix-sequence"), board.sequences.map((name) => [name, name]));
  const sequence = byId("matrix-sequence").value;
  const figures = board.cells.filter((cell) => cell.sequence === sequence).map((cell) => {
    const matrix = meanMatrix(cell.jobs.map((place) => jobs[place].matrix));
    return element("figure", {}, element("figcaption", { text: cell.algorithm }),
      matrix ? matrixTable(matrix) : element("p", { class: "hint", text: cell.status || "no matrix" }));
  });
  byId("matrix-grid").replaceChildren(...figures);
}
