"use strict";

/** How each figure is named and printed; the page adds its scores and its costs. */
const FIGURES = { A_gain: { title: "A − SA", digits: 2, signed: true } };

function shown(figure, value) {
  if (value === null || value === undefined) return "–";
  const form = FIGURES[figure];
  const scaled = value * (form.scale ?? 1);
  const text = form.significant ? Number(scaled.toPrecision(form.significant)).toString() : scaled.toFixed(form.digits);
  if (Number(text) === 0) return (0).toFixed(form.digits ?? 0) + (form.unit ?? "");
  return (form.signed && scaled > 0 ? "+" : "") + text.replace("-", "−") + (form.unit ?? "");
}

/** "71.15 [68.85, 72.81]", or the mean alone if there is no interval. */
function withInterval(figure, numbers) {
  if (!numbers) return "–";
  const [mean, low, high] = numbers;
  const text = shown(figure, mean);
  return low === null ? text : `${text} [${shown(figure, low)}, ${shown(figure, high)}]`;
}

/** A mean, with its interval as a bar on the column's range. */
function measure(figure, numbers, range) {
  if (!numbers) return document.createTextNode("–");
  const [mean, low, high] = numbers;
  const text = element("span", { text: shown(figure, mean) });
  if (low === null || !range || range[1] <= range[0]) return text;
  const place = (value) => (100 * (value - range[0])) / (range[1] - range[0]);
  const ends = `${shown(figure, low)} … ${shown(figure, high)}`;
  return element("span", { class: "measure" }, text,
    element("span", { class: "bar", role: "img", "aria-label": `95% interval ${ends}`, title: `95%: ${ends}`,
      "--low": `${place(low)}%`, "--rest": `${100 - place(high)}%`, "--mean": `${place(mean)}%` },
      element("i"), element("b")),
    element("small", { text: ends }));
}

/** The range of a figure's intervals over all rows, so that bars can be compared. */
function rangeOf(rows, figure) {
  const ends = rows.flatMap((row) => (row[figure] ? row[figure].slice(0, 3).filter((end) => end !== null) : []));
  return ends.length ? [Math.min(...ends), Math.max(...ends)] : null;
}
