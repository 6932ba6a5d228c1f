"use strict";

/** Names and values as a list; values that are objects are written as JSON. */
function facts(pairs) {
  return element("dl", {}, ...pairs.filter(([, value]) => value !== "" && value !== null && value !== undefined).flatMap(
    ([name, value]) => [element("dt", { text: name }),
      element("dd", {}, value instanceof Node ? value : typeof value === "object" ? JSON.stringify(value) : String(value))]));
}

function openDetails(title, ...content) {
  byId("details-title").textContent = title;
  byId("details-body").replaceChildren(...content);
  byId("details").showModal();
  byId("details").scrollTop = 0;
}

/** Shows where a row's figures come from: its jobs, each with settings, software, machine and problems. */
function showJobs(jobs, row) {
  const one = jobs.length === 1;
  const parts = jobs.map((job) => element("details", one ? { class: "job", open: "" } : { class: "job" },
    element("summary", { text: jobTitle(job) }), ...jobParts(job)));
  const status = row.status ? element("p", { class: "warning", text: row.status }) : null;
  openDetails(`${row.algorithm} on ${row.sequence}`, ...[status, ...parts].filter(Boolean),
    ...(jobs.length ? [] : [element("p", { class: "hint", text: "No such job was run." })]));
}

function jobTitle(job) {
  const score = job.status === "done" ? `A ${shown("A", job.A)}` : job.status;
  return `realisation ${job.realisation}, seed ${job.seed}: ${score}`;
}

function jobParts(job) {
  const { options, ...settings } = job.settings;
  const { packages, code, ...machine } = page.environments[job.environment];
  const figures = Object.keys(FIGURES).map((name) => [FIGURES[name].title, job[name] === null ? "" : shown(name, job[name])]);
  return [
    facts([["status", job.status], ["reason", job.reason], ["accuracies", job.check], ...figures, ["folder", job.place]]),
    element("h3", { text: "Provenance" }),
    facts([...Object.entries(settings), ["software", settings.software || "not recorded (older result)"], ["options", options],
      ["packages", packages && Object.entries(packages).map((each) => each.join(" ")).join(", ")],
      ["commit", code && `${code.commit}${code.dirty ? " (with uncommitted changes)" : ""}`],
      ["machine", machine && Object.values(machine).join(", ")]].filter(([name], place, all) =>
      all.findLastIndex(([other]) => other === name) === place)),
    job.problems.length ? element("h3", { text: "Problems" }) : null,
    job.problems.length ? problemTable(job.problems) : null,
    job.matrix.length ? element("h3", { text: "Accuracy matrix, %" }) : null,
    job.matrix.length ? matrixTable(job.matrix) : null,
  ].filter(Boolean);
}

function problemTable(problems) {
  const percent = (value) => (value === null ? "–" : (100 * value).toFixed(2));
  const head = ["", "problem", "when learnt, %", "at the end, %", "TFLOPs", "path"];
  const lines = problems.map((problem, place) => element("tr", {},
    element("td", { text: String(place + 1) }), element("td", { class: "name", text: problem.name }),
    element("td", { text: percent(problem.learnt) }), element("td", { text: percent(problem.final) }),
    element("td", { text: shown("train_flops", problem.train_flops) }),
    element("td", { class: "name", text: problem.path ? problem.path.join(" · ") : "–" })));
  return element("div", { class: "scroll" }, element("table", {},
    element("thead", {}, element("tr", {}, ...head.map((text, place) => element("th", { scope: "col", text, class: place === 1 || place === 5 ? "name" : "" })))),
    element("tbody", {}, ...lines)));
}
