"use strict";

const book = JSON.parse(byId("data").textContent);
const KINDS = { reproduced: ["yes", "✓ "], "not reproduced": ["no", "✗ "], "not enough evidence": ["unknown", "? "] };

function twoDigits(value) {
  return value === null || value === undefined ? "–" : value.toFixed(2).replace("-", "−");
}

function ranged(value, low, high) {
  return low === null || low === undefined ? twoDigits(value)
    : `${twoDigits(value)} [${twoDigits(low)}, ${twoDigits(high)}]`;
}

function pairs(entries) {
  return element("dl", {}, ...entries.filter(([, text]) => text).flatMap(([term, text]) => [
    element("dt", { text: term }), element("dd", { text })]));
}

function showClaim(claim) {
  byId("details-title").textContent = claim.id;
  const inPrint = { reproduced: "hold it", "not reproduced": "contradict it" }[claim.in_print];
  byId("details-body").replaceChildren(
    element("p", { text: claim.says }),
    pairs([["where", claim.source], ["protocol", claim.protocol], ["rule", claim.rule],
      ["verdict", claim.verdict], ["why", claim.why], ["decided by", claim.decided_by],
      ["in print", inPrint && `the paper's own figures ${inPrint}`], ["note", claim.note]]),
    ...claim.figures.map((each) => element("div", {}, element("h3", { text: each.label }), pairs([
      ["must be", each.region], ["published", twoDigits(each.published)],
      ["measured", ranged(each.measured, each.low, each.high)],
      ["interval over", each.over && `${each.n} ${each.over}`], ["lacks", each.lacking]]))));
  byId("details").showModal();
}

function drawClaims() {
  const column = (title, value) => ({ title, name: true, cell: value, key: value });
  const columns = [
    column("claim", (row) => row.id),
    { title: "verdict", name: true, key: (row) => row.verdict, kind: (row) => KINDS[row.verdict][0],
      cell: (row) => KINDS[row.verdict][1] + row.verdict },
    { title: "published", key: (row) => row.published, cell: (row) => twoDigits(row.published) },
    { title: "measured", key: (row) => row.measured, cell: (row) => ranged(row.measured, row.low, row.high) },
    { ...column("the paper says", (row) => row.says), cell: (row) => element("span", { class: "wrapped", text: row.says }) },
    { ...column("where", (row) => row.source), cell: (row) => element("span", { class: "wrapped source", text: row.source }) },
  ];
  const table = sortableTable(byId("claim-table"), columns, book.claims, { open: showClaim });
  const filter = () => {
    const [verdict, part] = [byId("verdict").value, byId("part").value];
    const words = byId("find").value.toLowerCase().split(/\s+/).filter(Boolean);
    const count = table.show((row) => (!verdict || row.verdict === verdict) && (!part || row.part === part)
      && words.every((word) => `${row.id} ${row.says} ${row.source} ${row.rule}`.toLowerCase().includes(word)));
    byId("count").textContent = `${count} of ${book.claims.length} claims`;
  };
  choices(byId("verdict"), [["", "all"], ...book.verdicts.map((name) => [name, name])]);
  choices(byId("part"), [["", "all"], ...[...new Set(book.claims.map((row) => row.part))].map((name) => [name, name])]);
  for (const id of ["verdict", "part"]) byId(id).onchange = filter;
  byId("find").oninput = filter;
  byId("filters").addEventListener("submit", (event) => event.preventDefault());
  filter();
}

function drawTable(table) {
  const cell = ([text, low, high], place) => {
    const made = element(place < table.names ? "th" : "td", { class: place < table.names ? "name" : "", text });
    if (low) made.append(element("small", { class: "says", text: `${low} … ${high}` }));
    return made;
  };
  return element("div", {}, element("h3", { text: table.title }),
    element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": table.title },
      element("table", {},
        element("thead", {}, element("tr", {}, ...table.header.map((text) => element("th", { scope: "col", text })))),
        element("tbody", {}, ...table.rows.map((row) => element("tr", {}, ...row.map(cell)))))),
    ...table.notes.map((text) => element("p", { class: "hint", text })));
}

byId("paper").textContent = book.facts.paper;
byId("tally").textContent = book.verdicts.map((verdict) =>
  `${KINDS[verdict][1]}${verdict}: ${book.claims.filter((row) => row.verdict === verdict).length}`).join(" · ");
byId("facts").replaceWith(pairs(Object.entries(book.facts).filter(([name]) => name !== "paper")));
byId("paper-tables").replaceChildren(...book.tables.map(drawTable));
byId("details").addEventListener("click", (event) => {
  if (event.target === byId("details")) byId("details").close();
});
drawClaims();
