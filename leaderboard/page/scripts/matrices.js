"use strict";

/** The mean of several jobs' matrices; null if one of them has no matrix. */
function meanMatrix(matrices) {
  if (matrices.some((matrix) => !matrix.length || matrix.length !== matrices[0].length)) return null;
  return matrices[0].map((line, t) => line.map((_, i) => d3.mean(matrices, (matrix) => matrix[t][i])));
}

/** A matrix as a table; its colours range from the lowest accuracy shown to 1. */
function matrixTable(matrix, lowest = d3.min(matrix.flat())) {
  const size = matrix.length;
  const head = element("tr", {}, element("th"), ...matrix.map((_, i) => element("th", { scope: "col", text: String(i + 1) })));
  const lines = matrix.map((line, t) => element("tr", {}, element("th", { scope: "row", text: String(t + 1) }),
    ...line.map((value) => coloured(element("td", { text: (100 * value).toFixed(0) }), sequential((value - lowest) / Math.max(1 - lowest, 1e-9)))),
    ...Array.from({ length: size - line.length }, () => element("td"))));
  return element("table", { class: "matrix" }, element("thead", {}, head), element("tbody", {}, ...lines));
}

function drawMatrices(board, jobs) {
  choices(byId("matrix-sequence"), board.sequences.map((name) => [name, name]));
  const sequence = byId("matrix-sequence").value;
  const cells = board.cells.filter((cell) => cell.sequence === sequence);
  const matrices = cells.map((cell) => (cell.status ? null : meanMatrix(cell.jobs.map((place) => jobs[place].matrix))));
  const lowest = d3.min(matrices.filter(Boolean).flat(2));
  const figures = cells.map((cell, place) => {
    const matrix = matrices[place];
    return element("figure", {}, element("figcaption", { text: cell.algorithm }),
      matrix ? matrixTable(matrix, lowest) : element("p", { class: "hint", text: cell.status || "no matrix" }));
  });
  byId("matrix-grid").replaceChildren(...figures);
}
