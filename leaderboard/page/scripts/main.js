"use strict";

const page = JSON.parse(byId("data").textContent);
Object.assign(FIGURES, page.scores, page.costs);

function chosenBoard() {
  return page.boards[Number(byId("board").value)];
}

function drawBoard() {
  const board = chosenBoard();
  byId("older").hidden = !board.older;
  byId("older").textContent = board.older ? `These are older results: ${board.older}.` : "";
  drawOverall(board);
  drawResults(board, page.jobs);
  drawHeat(board);
  drawCharts(board, page.budgets);
  drawProperties(board);
  drawMatrices(board, page.jobs);
}

const scores = Object.entries(page.scores);
byId("scores").replaceWith(...scores.flatMap(([, score]) =>
  [element("dt", { text: score.title }), element("dd", { text: score.says })]));
choices(byId("heat-figure"), [["A_gain", "A minus SA's"], ...scores
  .filter(([, score]) => score.against_standalone)
  .map(([name, score]) => [name, `${score.title}: ${score.says}`])]);
choices(byId("board"), page.boards.map((board, place) => [String(place), board.title]));
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("board").addEventListener("change", drawBoard);
byId("level").addEventListener("change", () => drawResults(chosenBoard(), page.jobs));
byId("heat-figure").addEventListener("change", () => drawHeat(chosenBoard()));
byId("matrix-sequence").addEventListener("change", () => drawMatrices(chosenBoard(), page.jobs));
byId("details").addEventListener("click", (event) => {
  if (event.target === byId("details")) byId("details").close();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => drawHeat(chosenBoard()));
drawBoard();
