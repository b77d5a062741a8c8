// Draws the charts of the page with uPlot, each as wide as its place.
(function () {
  "use strict";
  const COLOURS = ["#1f5fa8", "#d1620f", "#2b7f4b", "#8a4fa3", "#b3262e", "#0b8793", "#7a5c1e",
                   "#5a6472", "#c2448f", "#6b7d00"];
  const HEIGHT = 210;
  let charts = JSON.parse(document.getElementById("charts").textContent);
  // The plot at each place; null before its place is seen.
  const plots = new Map();

  function number(value, digits = 4) {
    if (value === null || value === undefined) return "-";
    const size = Math.abs(value);
    if (size && (size < 1e-3 || size >= 1e6)) return value.toExponential(Math.max(digits - 2, 1));
    return String(+value.toPrecision(digits));
  }

  // As many digits as tell the marks of an axis from each other.
  function ticks(_, values) {
    for (let digits = 3; ; digits++) {
      const texts = values.map((value) => number(value, digits));
      if (digits > 8 || new Set(texts).size === values.length) return texts;
    }
  }

  function series(each, i) {
    const colour = COLOURS[i % COLOURS.length];
    const shown = {label: each.label, stroke: colour, width: 1.5, spanGaps: true,
                   points: {show: each.kind === "dots" || each.kind === "points", size: 5,
                            fill: colour}};
    if (each.kind === "dashes") Object.assign(shown, {dash: [5, 4], stroke: "#8a919c"});
    if (each.kind === "points") shown.paths = () => null;
    if (each.kind === "bars") {
      Object.assign(shown, {paths: uPlot.paths.bars({size: [0.9, 60]}), fill: colour + "55",
                            points: {show: false}});
    }
    shown.value = (_, value) => number(value);
    return shown;
  }

  // A series that has one point would be no line.
  function withPoints(chart) {
    chart.series.forEach((each, i) => {
      const values = chart.data[i + 1].filter((value) => value !== null);
      if (each.kind === "line" && values.length < 2) each.kind = "dots";
    });
    return chart;
  }

  function draw(place, width) {
    const chart = withPoints(charts[+place.dataset.chart]);
    const axis = {stroke: "#4a5361", grid: {stroke: "#e7eaee"}, ticks: {stroke: "#e7eaee"},
                  font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif"};
    const bars = chart.series.some((each) => each.kind === "bars");
    const plot = new uPlot({
      width: width, height: HEIGHT,
      scales: {x: {time: false, range: bars ? padded : undefined},
               y: {range: (_, low, high) => span(bars ? 0 : low, high)}},
      axes: [{...axis, label: chart.x, labelSize: 22, size: 34, values: ticks},
             {...axis, size: (_, values) => 20 + 7.4 * Math.max(4, ...(values || []).map(
                  (each) => each.length)), values: ticks}],
      series: [{label: chart.x, value: (_, value) => number(value)}].concat(
          chart.series.map(series)),
    }, chart.data, place);
    place.setAttribute("data-drawn", "true");
    return plot;
  }

  // A chart is drawn when its place is seen first: in a part that is closed it has no width.
  function watch(place) {
    plots.set(place, null);
    new ResizeObserver(() => {
      const width = place.clientWidth;
      if (!width) return;
      const plot = plots.get(place) || draw(place, width);
      plots.set(place, plot);
      if (width !== plot.width) plot.setSize({width: width, height: HEIGHT});
    }).observe(place);
  }

  function padded(plot, low, high) {
    const count = plot.data[0].length;
    const half = count > 1 ? (high - low) / (count - 1) / 2 : 0.5;
    return [low - half, high + half];
  }

  function span(low, high) {
    if (low === null || high === null) return [0, 1];
    const gap = (high - low || Math.abs(high) || 1) * 0.06;
    return [low === 0 ? 0 : low - gap, high + gap];
  }

  // Draws newer data into the charts that are there, and charts at new places.
  function update(newest) {
    charts = newest;
    document.querySelectorAll("[data-chart]").forEach((place) => {
      if (!plots.has(place)) watch(place);
      else if (plots.get(place)) redraw(place);
    });
  }

  function redraw(place) {
    const plot = plots.get(place), chart = charts[+place.dataset.chart];
    const labels = plot.series.slice(1).map((each) => each.label).join("\n");
    if (labels === chart.series.map((each) => each.label).join("\n")) {
      plot.setData(chart.data);
      return;
    }
    plot.destroy();
    plots.set(place, draw(place, place.clientWidth));
  }

  window.Charts = {update};
  document.querySelectorAll("[data-chart]").forEach(watch);
})();
