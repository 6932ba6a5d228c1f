"use strict";

const MARKS = { yes: ["yes", "✓ yes"], no: ["no", "✗ no"], "not enough evidence": ["unknown", "?"] };

function drawProperties(board) {
  const found = new Map(board.properties.map((each) => [`${each.property}\n${each.algorithm}`, each]));
  const rows = [...new Map(board.properties.map((each) => [each.property, each.says]))];
  const head = element("tr", {}, element("th", { scope: "col", text: "property" }),
    ...board.algorithms.map((text) => element("th", { scope: "col", text })));
  const lines = rows.map(([property, says]) => element("tr", {},
    element("th", { scope: "row" }, property, element("span", { class: "says", text: says })),
    ...board.algorithms.map((name) => {
      const each = found.get(`${property}\n${name}`);
      const [kind, text] = MARKS[each.verdict];
      return element("td", { class: kind }, element("button", { type: "button", text, title: each.verdict,
        "aria-label": `${property}, ${name}: ${each.verdict}; why?`, onclick: () => showVerdict(each) }));
    })));
  byId("property-table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...lines));
}

function showVerdict(each) {
  const findings = each.findings.map((finding) => element("div", {},
    facts([
      ["rule", finding.rule],
      ["on", finding.sequences.join(", ")],
      ["found", finding.figure ? withInterval(finding.signed ? "A_gain" : "A", finding.figure) : "nothing"],
      ["realisations", finding.figure ? String(finding.figure[3]) : "–"],
      ["verdict", finding.verdict],
      ["why", finding.reason],
    ])));
  openDetails(`${each.property}, ${each.algorithm}: ${each.verdict}`,
    element("p", { class: "hint", text: each.says }), ...findings);
}
