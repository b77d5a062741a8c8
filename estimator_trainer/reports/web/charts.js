// Draws the charts of the page with uPlot, each as wide as its place. charts.py describes a chart.
window.Charts = (function () {
  "use strict";
  const HEIGHT = 210, LARGE = 420, COLOURS = 8, PAPER = 330;
  const DASHES = [[], [8, 4], [2, 3], [11, 3, 2, 3]];
  let charts = JSON.parse(document.getElementById("charts").textContent);
  // The state of each place: its chart, its plot if it is drawn, and what the reader has chosen.
  const states = new Map();
  const hooks = [];
  let isPaper = false;

  function number(value, digits = 4) {
    if (value === null || value === undefined) return "-";
    const size = Math.abs(value);
    if (size && (size < 1e-3 || size >= 1e6)) return value.toExponential(Math.max(digits - 2, 1));
    return String(+value.toPrecision(digits));
  }

  // As many digits as tell the marks of an axis from each other.
  function ticks(_, values) {
    for (let digits = 3; ; digits++) {
      const texts = values.map((value) => value === null ? "" : number(value, digits));
      if (digits > 8 || new Set(texts).size === values.length || texts.includes("")) return texts;
    }
  }

  // The least pixels between two marks of the horizontal axis, for the longest of their texts.
  function apart(plot, _, low, high) {
    const size = Math.max(...[low, high].map((value) => number(value, 3).length));
    return (isPaper ? 2 : 1) * Math.max(50, 20 + 7.4 * size);
  }

  function css(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  }

  function colour(index) {
    return css(`--series-${index % COLOURS}`);
  }

  // The y values of the plain kinds, and what uPlot is to draw of them.
  function ofData(chart) {
    const series = chart.series.map((each, i) => {
      const known = chart.data[i + 1].filter((value) => value !== null);
      // A series that has one point would be no line.
      const kind = each.kind === "line" && known.length < 2 ? "dots" : each.kind;
      return {...each, kind: kind, look: each.colour === undefined ? i : each.colour, dash: i,
              isBridged: true};
    });
    return {x: chart.x, data: chart.data, series: series, bands: [], limits: chart.limits};
  }

  // Dots so close to each other would hide their line.
  const LEAST_GAP = 7;

  function drawn(each, values, width, scale) {
    const count = values.reduce((sum, value) => sum + (typeof value === "number"), 0);
    const hasDots = each.kind === "points" || each.kind === "dots" && count * LEAST_GAP < width;
    const ink = each.kind === "dashes" ? css("--quiet") : colour(each.look);
    const shown = {label: each.label, stroke: ink, width: 1.6 * scale, spanGaps: each.isBridged,
                   dash: (DASHES[each.dash % DASHES.length] || []).map((part) => part * scale),
                   points: {show: hasDots, size: 5 * scale, fill: ink}};
    if (each.kind === "dashes") shown.dash = [5 * scale, 4 * scale];
    if (each.kind === "points") shown.paths = () => null;
    if (each.kind === "bars") {
      Object.assign(shown, {paths: uPlot.paths.bars({size: [0.9, 60]}), fill: ink + "66",
                            dash: [], points: {show: false}});
    }
    // A value between two gaps is no line, either.
    if (each.kind === "line" || each.kind === "dots" && !hasDots) shown.points = {show: false, filter: alone, size: 5, fill: ink};
    if (each.isRaw) Object.assign(shown, {stroke: ink + "55", width: scale, dash: []});
    if (each.isEdge) Object.assign(shown, {stroke: "transparent", width: 0});
    shown.class = each.isRaw || each.isEdge && each.kind === "low" ? "unlisted" :
        `kind-${each.kind}`;
    shown.value = (plot, value, index, at) => at === null || at === undefined ?
        each.summary || "" : valueAt(plot, each, value, at);
    return shown;
  }

  function valueAt(plot, each, value, at) {
    if (each.low) return `${number(plot.data[each.low][at])} to ${number(value)}`;
    return number(value) + (each.raw ? ` (${number(plot.data[each.raw][at])})` : "");
  }

  // A sample of a line, with its dash and its dots; a box for other kinds.
  function markers(series) {
    const dashes = ["solid", "dashed", "dotted", "dashed"];
    const ink = (each) => each.kind === "dashes" ? css("--quiet") : colour(each.look);
    const at = (index) => series[index - 1];
    return {width: (_, i) => i && !at(i).isEdge ? 2 : 0, stroke: (_, i) => ink(at(i)),
            dash: (_, i) => at(i).kind === "dashes" ? "dashed" : dashes[at(i).dash % 4],
            fill: (_, i) => !i ? "" : ink(at(i)) + (at(i).isEdge ? "55" : "")};
  }

  function alone(plot, index, _, gaps) {
    const values = plot.data[index], found = [];
    let before = null, last = -1;
    values.forEach((value, i) => {
      if (value === undefined) return;
      if (value === null) {
        if (before === 1) found.push(last);
        before = 0;
      } else {
        before = (before || 0) + 1;
        last = i;
      }
    });
    if (before === 1) found.push(last);
    return gaps || found.length ? found : null;
  }

  function draw(state, width) {
    if (state.plot) state.plot.destroy();
    state.place.textContent = "";
    const legend = document.createElement("div");
    const chart = state.chart, scale = isPaper ? 2 : 1;
    const table = chart.runs ? Charts.curves(state) : ofData(chart);
    const font = `${12 * scale}px system-ui, sans-serif`;
    const axis = {stroke: css("--ink-soft"), grid: {stroke: css("--line"), width: scale},
                  ticks: {stroke: css("--line"), width: scale, size: 5 * scale}, font: font,
                  labelFont: font, gap: 4 * scale, space: (isPaper ? 50 : 40) * scale};
    const bars = chart.series.some((each) => each.kind === "bars");
    const height = (state.isLarge ? LARGE : HEIGHT) * scale;
    const x = {time: Boolean(table.isTime), range: bars ? padded : undefined};
    const y = {distr: state.isLog ? 3 : 1, range: (plot, low, high) => state.isLog ?
        uPlot.rangeLog(low || 1e-3, high || 1, 10, false) : span(plot, table, bars ? 0 : low, high)};
    state.table = table;
    state.plot = new uPlot({
      width: width * scale, height: height, padding: isPaper ? [16, 30, 0, 0] : undefined,
      scales: {x: x, y: y},
      tzDate: (secs) => uPlot.tzDate(new Date(secs * 1e3), "Etc/UTC"),
      legend: {mount: (_, made) => legend.append(made), markers: markers(table.series)},
      cursor: {sync: chart.runs ? {key: "curves"} : undefined, drag: {x: true, y: false}},
      axes: [{...axis, label: table.x, labelSize: 22 * scale, size: 34 * scale,
              ...(table.isTime ? {} : {values: ticks, space: apart})},
             {...axis, values: ticks, space: 22 * scale, size: (_, values) => scale * (20 + 7.4 * Math.max(
                  4, ...(values || []).map((each) => String(each).length)))}],
      series: [{label: table.x, value: table.isTime ? "{YYYY}-{MM}-{DD} {HH}:{mm}:{ss}" :
                (_, value) => value === null ? "" : number(value, 7)},
               ...table.series.map((each, i) => drawn(each, table.data[i + 1], width, scale))],
      bands: table.bands.map(([high, low, look]) => ({series: [high, low],
                                                      fill: colour(look) + "33"})),
      hooks: {draw: [(plot) => table.mark && table.mark(plot)]},
    }, table.data, state.place);
    state.place.append(legend);
    state.width = width;
    state.place.dataset.drawn = "true";
    hooks.forEach((hook) => hook(state));
  }

  function padded(plot, low, high) {
    const count = plot.data[0].length;
    const half = count > 1 ? (high - low) / (count - 1) / 2 : 0.5;
    return [low - half, high + half];
  }

  // The scale itself changes only after the range of y is known.
  function isZoomed(plot) {
    const [first, last] = plot.series[0].idxs || [];
    return first > 0 || last < plot.data[0].length - 1;
  }

  function span(plot, table, low, high) {
    if (table.limits && !isZoomed(plot)) [low, high] = table.limits;
    if (low === null || high === null) return [0, 1];
    const gap = (high - low || Math.abs(high) || 1) * 0.06;
    return [low === 0 ? 0 : low - gap, high + gap];
  }

  // A chart that was never drawn stays so: `watch` draws it when its turn comes.
  function redraw(state) {
    const width = isPaper ? PAPER * (state.isLarge ? 2 : 1) : state.place.clientWidth;
    if (width && (state.plot || isPaper)) draw(state, width);
  }

  // Charts in the window at once, the others when there is time, or when they are seen.
  function redrawAll() {
    states.forEach((state) => {
      if (isPaper || state.isSeen) redraw(state);
      else if (state.plot) addWaiting(state);
    });
  }

  function addWaiting(state) {
    waiting.add(state);
    if (isBusy) return;
    isBusy = true;
    idle(drawNext);
  }

  // Charts in the window are drawn at once, the others when there is time. A part of the page that
  // is closed has no width: its charts are drawn when it is opened.
  const waiting = new Set();
  const idle = window.requestIdleCallback || ((step) => setTimeout(step, 1));
  let isBusy = false;

  function drawNext() {
    const [state] = waiting;
    isBusy = Boolean(state);
    if (!state) return;
    waiting.delete(state);
    if (!isPaper && state.place.clientWidth) draw(state, state.place.clientWidth);
    idle(drawNext);
  }

  const sizes = new ResizeObserver((entries) => entries.forEach((entry) => {
    const state = states.get(entry.target), width = Math.floor(entry.contentRect.width);
    if (!width || isPaper || width === state.width && state.plot) return;
    state.width = width;
    if (state.plot) state.plot.setSize({width: width, height: state.isLarge ? LARGE : HEIGHT});
    else addWaiting(state);
  }));

  const sights = new IntersectionObserver((entries) => entries.forEach((entry) => {
    const state = states.get(entry.target);
    state.isSeen = entry.isIntersecting;
    const width = Math.floor(entry.boundingClientRect.width);
    if (!state.isSeen || isPaper || !width || state.plot && !waiting.has(state)) return;
    waiting.delete(state);
    draw(state, width);
  }), {rootMargin: "200px"});

  function watch(place) {
    states.set(place, {place: place, chart: charts[+place.dataset.chart], plot: null, width: 0,
                       isLog: false, isLarge: false});
    sizes.observe(place);
    sights.observe(place);
  }

  function start() {
    document.querySelectorAll("[data-chart]").forEach(watch);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
  }

  // Draws newer charts into the places that are there, and charts at new places.
  function update(newest) {
    charts = newest;
    states.forEach((state, place) => {
      if (place.isConnected) return;
      if (state.plot) state.plot.destroy();
      waiting.delete(state);
      sizes.unobserve(place);
      sights.unobserve(place);
      states.delete(place);
    });
    document.querySelectorAll("[data-chart]").forEach((place) => {
      const state = states.get(place), chart = charts[+place.dataset.chart];
      if (!state) return watch(place);
      if (JSON.stringify(chart) === JSON.stringify(state.chart)) return;
      state.chart = chart;
      place.closest("figure").querySelector(".alt").textContent = chart.alt;
      if (state.plot) keeping(state, () => redraw(state));
    });
  }

  // Makes a change that leaves what the reader has made of a chart: the zoom, the place of the
  // cursor, series that are switched off, and the focus.
  function keeping(state, change) {
    const before = state.plot, {min, max} = before.scales.x, {left, top} = before.cursor;
    const isZoom = isZoomed(before);
    const labels = () => [...state.place.querySelectorAll(".u-series th")];
    const off = labels().filter((each) => each.getAttribute("aria-pressed") === "false").map(
        (each) => each.textContent);
    const places = () => [...state.place.querySelectorAll("[tabindex]")];
    const focused = places().indexOf(document.activeElement);
    change();
    if (isZoom) state.plot.setScale("x", {min: min, max: max});
    labels().filter((each) => off.includes(each.textContent)).forEach((each) => each.click());
    if (left >= 0) state.plot.setCursor({left: left, top: top}, false, false);
    if (focused >= 0 && places()[focused]) places()[focused].focus({preventScroll: true});
  }

  function setPaper(value) {
    isPaper = value;
    document.documentElement.classList.toggle("paper", value);
    redrawAll();
  }

  return {states: states, hooks: hooks, number: number, css: css, colour: colour,
          redraw: redraw, redrawAll: redrawAll, isZoomed: isZoomed, setPaper: setPaper,
          start: start, update: update};
})();
