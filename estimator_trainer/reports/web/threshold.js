// A threshold to move: the counts at it, and its point on both curves (threshold_section.py).
(function () {
  "use strict";
  const HEIGHT = 230, PAPER = 330, COUNTS = ["tp", "fp", "fn", "tn"];

  function ratio(part, whole) {
    return whole ? part / whole : null;
  }

  // The same as threshold_curves.at.
  function at(curve, row) {
    const tp = curve.true_positives[row], fp = curve.false_positives[row];
    const fn = curve.positives - tp, tn = curve.negatives - fp;
    const all = curve.positives + curve.negatives;
    return {threshold: curve.thresholds[row], tp, fp, fn, tn, precision: ratio(tp, tp + fp),
            recall: ratio(tp, curve.positives), f1: ratio(2 * tp, 2 * tp + fp + fn),
            accuracy: ratio(tp + tn, all), share: ratio(tp + fp, all)};
  }

  function shown(name, value) {
    if (value === null) return "-";
    if (COUNTS.includes(name)) return value.toLocaleString("en");
    if (name === "share") return (100 * value).toFixed(1) + " %";
    return name === "threshold" ? String(+value.toPrecision(4)) : value.toFixed(3);
  }

  // Returns x, the curve, and what a model without knowledge would get; a curve begins at 0.
  function columns(curve, kind) {
    const rows = curve.thresholds.map((_, row) => at(curve, row));
    if (kind === "roc") {
      const x = [0, ...rows.map((each) => each.fp / curve.negatives)];
      return [x, [0, ...rows.map((each) => each.recall)],
              x.map((value, i) => i === 0 || i === x.length - 1 ? value : null)];
    }
    // Without a true positive, precision is 0 or unknown: the curve begins with the first one.
    const first = rows.find((each) => each.tp);
    const x = [0, ...rows.map((each) => each.recall)], base = curve.positives / (
        curve.positives + curve.negatives);
    return [x, [first ? first.precision : null, ...rows.map((each) => each.tp ? each.precision : null)],
            x.map(() => base)];
  }

  // A curve's first row is at index 1.
  function withPoint(data, row) {
    return [...data, data[0].map((_, i) => i === row + 1 ? data[1][i] : null)];
  }

  // A chart for paper is drawn twice as large, as in charts.js.
  function drawn(place, data, isPaper) {
    const scale = isPaper ? 2 : 1, font = `${12 * scale}px system-ui, sans-serif`;
    const kind = place.dataset.curve, ink = Charts.css("--ink-soft");
    const grid = {stroke: Charts.css("--line-soft"), width: scale};
    const axis = {stroke: ink, grid: grid, ticks: grid, font: font, labelFont: font};
    const labels = kind === "roc" ? ["false positive rate", "recall"] : ["recall", "precision"];
    const accent = Charts.css("--series-0"), other = Charts.css("--series-1");
    return new uPlot({
      width: isPaper ? PAPER * scale : place.clientWidth, height: HEIGHT * scale, legend: {show: false},
      cursor: {show: false},
      scales: {x: {time: false, range: [-0.02, 1.02]}, y: {range: [0, 1.03]}},
      axes: [{...axis, label: labels[0], labelSize: 20 * scale, size: 32 * scale},
             {...axis, label: labels[1], labelSize: 20 * scale, size: 44 * scale}],
      series: [{}, {stroke: accent, width: 2 * scale, points: {show: false}},
               {stroke: ink, width: 1, dash: [5, 4], spanGaps: true, points: {show: false}},
               {paths: () => null, stroke: other,
                points: {show: true, size: 11 * scale, fill: other, stroke: other}}],
    }, data, place);
  }

  // The data with which each part was started; a running job's page may get newer ones.
  const started = new WeakMap();

  function start(root) {
    const before = started.get(root);
    if (before && before.curves === root.dataset.curves) return;
    if (before) before.listeners.abort();
    const listeners = new AbortController(), until = {signal: listeners.signal};
    started.set(root, {curves: root.dataset.curves, listeners: listeners});
    const curves = JSON.parse(root.dataset.curves);
    const range = root.querySelector("input"), select = root.querySelector("select");
    const places = [...root.querySelectorAll("[data-curve]")], plots = new Map();
    let curve = curves[0], data = {}, isPaper = false;

    function row() {
      return curve.thresholds.length - 1 - range.value;
    }

    function choose(number) {
      curve = curves[number];
      for (const kind of ["roc", "pr"]) data[kind] = columns(curve, kind);
      range.max = curve.thresholds.length - 1;
      const titles = {roc: "ROC: AUC " + shown("auc", curve.auc), pr:
          "precision by recall: average precision " + shown("", curve.average_precision)};
      for (const each of root.querySelectorAll("[data-title]")) {
        each.textContent = titles[each.dataset.title];
      }
      move(curve.own);
    }

    function move(to) {
      range.value = curve.thresholds.length - 1 - to;
      update();
    }

    function update() {
      const found = at(curve, row());
      for (const each of root.querySelectorAll("[data-value]")) {
        each.textContent = shown(each.dataset.value, found[each.dataset.value]);
      }
      range.setAttribute("aria-valuetext", shown("threshold", found.threshold));
      for (const place of places) {
        const title = root.querySelector(`[data-title=${place.dataset.curve}]`).textContent;
        place.setAttribute("aria-label", `${title}, of ${curve.name}. At the threshold `
            + `${shown("threshold", found.threshold)}: recall ${shown("", found.recall)}, `
            + (place.dataset.curve === "roc"
               ? `false positive rate ${shown("", found.fp / curve.negatives)}`
               : `precision ${shown("", found.precision)}`) + ".");
        const plot = plots.get(place);
        if (plot) plot.setData(withPoint(data[place.dataset.curve], row()));
      }
    }

    function draw(place) {
      const old = plots.get(place);
      if (old) old.destroy();
      plots.delete(place);
      if (!isPaper && !place.clientWidth) return;
      plots.set(place, drawn(place, withPoint(data[place.dataset.curve], row()), isPaper));
    }

    range.addEventListener("input", update, until);
    if (select) select.addEventListener("change", () => choose(+select.value), until);
    for (const button of root.querySelectorAll("[data-row]")) {
      button.addEventListener("click", () => move(curve[button.dataset.row]), until);
    }
    choose(select ? +select.value : 0);
    // A curve is drawn when its place is seen first: in a part that is closed it has no width.
    for (const place of places) {
      place.replaceChildren();
      const observer = new ResizeObserver(() => {
        const width = place.clientWidth, plot = plots.get(place);
        if (!width || isPaper) return;
        if (!plot) draw(place);
        else if (plot.width !== width) plot.setSize({width: width, height: HEIGHT});
      });
      observer.observe(place);
      until.signal.addEventListener("abort", () => observer.disconnect());
    }
    for (const [event, value] of [["beforeprint", true], ["afterprint", false]]) {
      addEventListener(event, () => {
        isPaper = value;
        places.forEach(draw);
      }, until);
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
      places.forEach(draw);
    }, until);
  }

  function startAll() {
    document.querySelectorAll("[data-curves]").forEach(start);
  }

  startAll();
  document.addEventListener("page:updated", startAll);
})();
