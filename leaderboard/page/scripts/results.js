"use strict";

function tradedCosts() {
  return Object.keys(page.costs).filter((name) => page.costs[name].traded);
}

function shownFigures() {
  return [...Object.keys(page.scores), ...tradedCosts()];
}

function named(title, value) {
  return { title, name: true, cell: value, key: value };
}

/** Columns of means: scores have bars, other figures have their interval in the tooltip. If a row has
 * no score, the column of A names the status. */
function figureColumns(rows) {
  return shownFigures().map((figure) => {
    const range = figure in page.scores ? rangeOf(rows, figure) : null;
    const fault = (row) => (figure === "A" && row.status) || "";
    return {
      title: FIGURES[figure].title,
      key: (row) => row[figure]?.[0],
      kind: (row) => (fault(row) ? "status" : ""),
      cell: (row) => fault(row) || (range ? measure(figure, row[figure], range)
        : element("span", { text: shown(figure, row[figure]?.[0]), title: withInterval(figure, row[figure]) })),
    };
  });
}

function drawOverall(board) {
  const rows = board.averages;
  const all = board.averaged.length;
  const columns = [
    named("algorithm", (row) => row.algorithm),
    { title: "rank", key: (row) => (row.rank ? parseFloat(row.rank) : null), cell: (row) => row.rank || "–" },
    ...figureColumns(rows),
    { title: "coverage", key: (row) => row.flop_coverage?.[0],
      cell: (row) => shown("flop_coverage", row.flop_coverage?.[0]) },
    { title: "sequences", key: (row) => row.complete, kind: (row) => (row.complete < all ? "status" : ""),
      cell: (row) => (row.complete < all ? `${row.complete} of ${all}: incomplete` : `${all}`) },
  ];
  sortableTable(byId("overall-table"), columns, rows, { sort: [2, "descending"] });
  const alone = board.sequences.filter((name) => !board.averaged.includes(name));
  const notes = alone.length ? [...board.notes, `left out of averages and ranks: ${alone.join(", ")}`] : board.notes;
  byId("notes").replaceChildren(...notes.map((text) => element("li", { text })));
}

function drawResults(board, jobs) {
  const level = byId("level").value;
  const rows = level === "cells" ? board.cells : boardJobs(board, jobs);
  const table = sortableTable(byId("results-table"), level === "cells" ? cellColumns(rows) : jobColumns(), rows, {
    open: (row) => showJobs(level === "cells" ? row.jobs.map((place) => jobs[place]) : [row.job], row),
  });
  choices(byId("sequence"), [["", "all"], ...board.sequences.map((name) => [name, name])]);
  const statuses = [...new Set(rows.map((row) => row.status || "done"))].sort();
  choices(byId("status"), [["", "all"], ...statuses.map((name) => [name, name])]);
  const filter = () => {
    const [sequence, status] = [byId("sequence").value, byId("status").value];
    const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const count = table.show((row) => (!sequence || row.sequence === sequence)
      && (!status || (row.status || "done") === status)
      && words.every((word) => `${row.algorithm} ${row.sequence} ${row.status || "done"}`.toLowerCase().includes(word)));
    byId("count").textContent = `${count} of ${rows.length} rows`;
  };
  for (const id of ["sequence", "status"]) byId(id).onchange = filter;
  byId("find").oninput = filter;
  filter();
}

/** The board's jobs as rows: plain numbers without intervals. */
function boardJobs(board, jobs) {
  return board.cells.flatMap((cell) => cell.jobs.map((place) => ({
    sequence: cell.sequence, algorithm: cell.algorithm, status: jobs[place].status === "done" ? "" : jobs[place].status, job: jobs[place],
  })));
}

function cellColumns(rows) {
  return [
    named("algorithm", (row) => row.algorithm),
    named("sequence", (row) => row.sequence),
    ...figureColumns(rows),
    { title: "n", key: (row) => parseFloat(row.n), cell: (row) => row.n },
    { title: "status", name: true, key: (row) => row.status || "done", cell: (row) => row.status || "done",
      kind: (row) => (row.status ? "status" : "") },
  ];
}

function jobColumns() {
  return [
    named("algorithm", (row) => row.algorithm),
    named("sequence", (row) => row.sequence),
    { title: "realisation", key: (row) => row.job.realisation, cell: (row) => String(row.job.realisation) },
    { title: "seed", key: (row) => row.job.seed, cell: (row) => String(row.job.seed) },
    ...shownFigures().map((figure) => ({ title: FIGURES[figure].title, key: (row) => row.job[figure],
      cell: (row) => shown(figure, row.job[figure]) })),
    { title: "status", name: true, key: (row) => row.status || "done", cell: (row) => row.status || "done",
      kind: (row) => (row.status ? "status" : "") },
  ];
}
