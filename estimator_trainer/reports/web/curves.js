// The curves of a training, on the horizontal axis that the reader chooses; see curves.py.
Charts.controls = (function () {
  "use strict";
  const chosen = {axis: "step", smoothing: 0, all: false};
  const KEY = `curves of ${location.pathname}`;
  // A page that is loaded again keeps what was chosen. A file may have no storage.
  const storage = (step) => { try { return step(); } catch (error) { return null; } };
  Object.assign(chosen, JSON.parse(storage(() => sessionStorage.getItem(KEY)) || "{}"));

  // A running job's page gets its controls with the first curves.
  function show() {
    const place = document.querySelector(".axes");
    if (!place) return;
    const [axis, smoothing, all] = place.querySelectorAll("select, input");
    if (!axis.querySelector(`[value="${chosen.axis}"]`)) chosen.axis = "step";
    axis.value = chosen.axis;
    smoothing.value = chosen.smoothing;
    all.checked = chosen.all;
    place.querySelector("output").textContent = chosen.smoothing;
  }

  document.addEventListener("input", (event) => {
    const place = event.target.closest(".axes");
    if (!place) return;
    const [axis, smoothing, all] = place.querySelectorAll("select, input");
    Object.assign(chosen, {axis: axis.value, smoothing: +smoothing.value, all: all.checked});
    storage(() => sessionStorage.setItem(KEY, JSON.stringify(chosen)));
    show();
    Charts.redrawAll();
  });
  document.addEventListener("page:updated", show);
  show();
  return chosen;
})();

Charts.curves = (function () {
  "use strict";
  const UNITS = [["seconds", 1, 300], ["minutes", 60, 300 * 60], ["hours", 3600, Infinity]];
  const chosen = Charts.controls;

  // One unit for the page, so that its charts can be compared.
  function unit() {
    const longest = Math.max(0, ...[...Charts.states.values()].flatMap(({chart}) => chart.runs ?
        chart.series.map((each) => each.secs[each.secs.length - 1]) : []));
    return UNITS.find(([, , most]) => longest < most);
  }

  function positions(each, run, factor) {
    if (chosen.axis === "secs") return each.secs.map((secs) => secs / factor);
    if (chosen.axis === "time") return each.secs.map((secs) => run.start + secs);
    if (chosen.axis === "epoch") return run.epoch ? each.step.map((step) => step / run.epoch) : [];
    return each.step;
  }

  // The exponential moving average of TensorBoard's scalars, without the bias of its start: the
  // function resmoothDataset in its vz_line_chart2.
  function smoothed(values, weight) {
    let sum = 0, count = 0;
    return values.map((value) => {
      // After a gap the average begins again.
      if (value === null) {
        sum = count = 0;
        return null;
      }
      sum = sum * weight + (1 - weight) * value;
      return sum / (1 - weight ** ++count);
    });
  }

  // The range of most values of a series. With few values, one of each end may be outside.
  function core(values) {
    const sorted = values.filter((value) => value !== null).sort((a, b) => a - b);
    if (sorted.length < 5) return sorted.length ? [sorted[0], sorted[sorted.length - 1]] : null;
    const skipped = Math.ceil((sorted.length - 1) * 0.05);
    return [sorted[skipped], sorted[sorted.length - 1 - skipped]];
  }

  // Outliers would squeeze the rest into less than 40 % of the height.
  function outliers(chart, tables) {
    const cores = tables.map(([, ys]) => core(ys)).filter(Boolean);
    const low = Math.min(...cores.map((each) => each[0]));
    const high = Math.max(...cores.map((each) => each[1]));
    const reach = 1.5 * (high - low), found = [];
    let limits = [Infinity, -Infinity];
    tables.forEach(([xs, ys], i) => ys.forEach((y, j) => {
      if (y === null) return;
      if (reach && (y < low - reach || y > high + reach)) {
        found.push({label: chart.series[i].label, step: chart.series[i].step[j], x: xs[j], y: y,
                    isAbove: y > high});
      } else {
        limits = [Math.min(limits[0], y), Math.max(limits[1], y)];
      }
    }));
    return {found: found, limits: found.length ? limits : null};
  }

  function summary(chart, each) {
    const known = each.value.map((value, i) => [value, each.step[i]]).filter(
        ([value]) => value !== null);
    if (!known.length) return "";
    const [last] = known[known.length - 1];
    if (each.kind !== "dots" || !chart.best) return `last ${Charts.number(last)}`;
    const [best, step] = known.reduce((a, b) => (chart.best === "max" ? b[0] > a[0] : b[0] < a[0]) ?
        b : a);
    return `last ${Charts.number(last)}, best ${Charts.number(best)} at step ${step}`;
  }

  // Triangles at the edge show where values are outside.
  function mark(plot, found) {
    if (Charts.isZoomed(plot)) return;
    const {ctx, bbox} = plot, size = 5 * devicePixelRatio;
    ctx.save();
    ctx.fillStyle = Charts.css("--ink-soft");
    for (const each of found) {
      const x = plot.valToPos(each.x, "x", true);
      const [tip, base] = each.isAbove ? [bbox.top, bbox.top + 1.6 * size] :
          [bbox.top + bbox.height, bbox.top + bbox.height - 1.6 * size];
      ctx.beginPath();
      ctx.moveTo(x, tip);
      ctx.lineTo(x - size, base);
      ctx.lineTo(x + size, base);
      ctx.fill();
    }
    ctx.restore();
  }

  return function (state) {
    const chart = state.chart, [name, factor] = unit();
    const tables = chart.series.map((each) => {
      const xs = positions(each, chart.runs[each.run], factor);
      return [xs, xs.length ? each.value : []];
    });
    const isSmooth = (each) => chosen.smoothing > 0 && each.kind === "line";
    const {found, limits} = outliers(chart, tables);
    const isWhole = chosen.all || state.isLog || !limits;
    const series = [], columns = [], bands = [];
    chart.series.forEach((each, i) => {
      let [xs, ys] = tables[i];
      // A logarithm needs values above 0.
      if (state.isLog) [xs, ys] = [xs, ys].map((side) => side.filter(
          (_, j) => ys[j] === null || ys[j] > 0));
      const shown = {label: each.label, kind: each.kind, look: each.colour, dash: each.dash,
                     summary: summary(chart, each), isEdge: each.kind === "low" ||
                     each.kind === "high"};
      if (isSmooth(each)) {
        series.push({...shown, isRaw: true});
        columns.push([xs, ys]);
        shown.raw = columns.length;
        ys = smoothed(ys, chosen.smoothing);
      }
      series.push(shown);
      columns.push([xs, ys]);
      if (each.kind !== "high") return;
      // The legend has one entry for both edges.
      shown.low = columns.length - 1;
      const [low, high] = [chart.series[i - 1], each].map((edge) => Charts.number(edge.value.at(-1)));
      shown.summary = `last ${low} to ${high}`;
      bands.push([columns.length, columns.length - 1, each.colour]);
    });
    const axis = {step: "step", secs: `${name} since the start of training`,
                  time: "time of day, UTC", epoch: "epoch"}[chosen.axis];
    // A null is a gap up to the neighbours of its own series; the x values of others are none.
    const data = uPlot.join(columns, columns.map(() => [0, 2]));
    return {x: axis, isTime: chosen.axis === "time", data: data, series: series, bands: bands,
            limits: isWhole ? null : limits, outside: isWhole ? [] : found,
            mark: isWhole ? null : (plot) => mark(plot, found)};
  };
})();
