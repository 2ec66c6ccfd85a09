"use strict";
// Every figure.chart is drawn from the JSON inside it. Legend entries switch curves; the pointer, or the arrow
// keys, read values off; dragging with a mouse, or + and -, zooms; a double click, or Escape, shows everything.
(() => {
  const SVG = "http://www.w3.org/2000/svg";
  const MARGIN = { top: 10, right: 14, bottom: 38, left: 66 };
  const charts = [];

  const make = (name, attributes = {}, parent = null, text = "") => {
    const node = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    if (text) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  };
  const element = (name, className, parent, text = "") => {
    const node = document.createElement(name);
    node.className = className;
    node.textContent = text;
    parent.append(node);
    return node;
  };
  const shown = (value) => {
    const digits = Math.abs(value) < 10 ? 2 : 1;
    return value.toFixed(digits).replace(/\.0+$/, "").replace("-", "−");
  };
  const clamp = (value, low, high) => Math.min(Math.max(value, low), high);

  // Round numbers between two ends, about `count` of them.
  const ticks = (low, high, count) => {
    const rough = (high - low) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const found = [];
    for (let n = Math.ceil(low / step); n * step <= high; n++) found.push(n * step);
    return found;
  };
  const costTicks = (low, high) => {
    const found = [];
    for (let power = 0; power < 7; power++)
      for (const digit of [1, 2, 5]) found.push(-digit * 10 ** power);
    return found.filter((tick) => tick >= low && tick <= high);
  };

  function chart(figure) {
    const data = JSON.parse(figure.querySelector("script").textContent);
    const plot = figure.querySelector(".plot");
    const svg = make("svg", { tabindex: 0, role: "img" });
    const readout = document.createElement("output");
    readout.className = "readout";
    plot.append(svg, readout);
    const everything = [
      Math.min(...data.series.map((s) => s.x[0])),
      Math.max(...data.series.map((s) => s.x.at(-1))),
    ];
    if (everything[0] === everything[1]) everything[1] += 1;
    let variant = Object.keys(data.series[0].bands)[0];
    let range = everything;
    let at = null; // the x that is read off
    let scale = null;

    const buttons = data.series.map((series) => {
      const button = element("button", "", figure.querySelector(".legend"), series.name);
      button.type = "button";
      const swatch = make("svg", { width: 26, height: 8, "aria-hidden": "true" });
      make("line", { x1: 1, x2: 25, y1: 4, y2: 4, class: `curve series-${series.colour}`,
        "stroke-dasharray": series.dash }, swatch);
      button.prepend(swatch);
      button.addEventListener("click", () => { series.shown = !series.shown; draw(); });
      return button;
    });
    const reset = element("button", "reset", figure.querySelector(".legend"), "Show all");
    reset.type = "button";
    reset.addEventListener("click", () => zoom(everything));

    const visible = () => data.series.filter((series) => series.shown);
    const levels = () => data.levels.filter((level) => visible().some((s) => s.colour === level.colour));

    function zoom(to) {
      const [low, high] = to.map((x) => clamp(x, ...everything));
      if (high - low >= Math.min(4, (everything[1] - everything[0]) / 10)) range = [low, high];
      draw();
    }

    // What is on show decides the height, so that hiding a bad curve opens up the good ones.
    function heights() {
      let low = Infinity, high = -Infinity;
      for (const series of visible()) {
        const band = series.bands[variant];
        series.x.forEach((x, i) => {
          if (x < range[0] || x > range[1]) return;
          for (const values of band)
            if (values[i] !== null) { low = Math.min(low, values[i]); high = Math.max(high, values[i]); }
        });
      }
      for (const level of levels()) { low = Math.min(low, level.y); high = Math.max(high, level.y); }
      if (low > high) return [0, 1];
      if (data.log && high < 0) return [low * 1.15, high * 0.87];
      const room = (high - low || Math.abs(high) || 1) * 0.06;
      return [low - room, high + room];
    }

    function draw() {
      const width = Math.max(plot.clientWidth, 200);
      const height = width < 420 ? 230 : 280;
      const [low, high] = heights();
      const bend = data.log && high < 0 ? (y) => -Math.log10(-y) : (y) => y;
      const [bottom, top] = [bend(low), bend(high)];
      const inner = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
      const px = (x) => inner.left + ((x - range[0]) / (range[1] - range[0])) * (inner.right - inner.left);
      const py = (y) => inner.bottom - ((bend(y) - bottom) / (top - bottom)) * (inner.bottom - inner.top);
      scale = { inner, px, py, back: (p) => range[0] + ((p - inner.left) / (inner.right - inner.left)) * (range[1] - range[0]) };

      svg.replaceChildren();
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      svg.setAttribute("aria-label", `${data.title}: ${data.y} against ${data.x}. Arrow keys read values.`);
      const clip = `clip-${charts.indexOf(self)}`;
      const clipPath = make("clipPath", { id: clip }, make("defs", {}, svg));
      make("rect", { x: inner.left, y: inner.top - 2, width: inner.right - inner.left, height: inner.bottom - inner.top + 4 }, clipPath);

      for (const y of data.log && high < 0 ? costTicks(low, high) : ticks(low, high, 5)) {
        make("line", { class: "grid", x1: inner.left, x2: inner.right, y1: py(y), y2: py(y) }, svg);
        make("text", { x: inner.left - 7, y: py(y) + 4, "text-anchor": "end" }, svg, shown(y));
      }
      for (const x of ticks(...range, width < 420 ? 4 : 6)) {
        make("line", { class: "grid", x1: px(x), x2: px(x), y1: inner.top, y2: inner.bottom }, svg);
        make("text", { x: px(x), y: inner.bottom + 16, "text-anchor": "middle" }, svg, shown(x));
      }
      make("text", { x: (inner.left + inner.right) / 2, y: height - 5, "text-anchor": "middle" }, svg, data.x);
      make("text", { transform: `translate(11 ${(inner.top + inner.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, svg,
        data.y + (data.log && high < 0 ? " (log)" : ""));

      const marks = make("g", { "clip-path": `url(#${clip})` }, svg);
      for (const series of visible()) {
        const [, lows, highs] = series.bands[variant];
        const there = series.x.map((_, i) => i).filter((i) => lows[i] !== null && highs[i] !== null);
        const up = there.map((i) => `${px(series.x[i]).toFixed(1)},${py(highs[i]).toFixed(1)}`);
        const down = there.map((i) => `${px(series.x[i]).toFixed(1)},${py(lows[i]).toFixed(1)}`).reverse();
        make("polygon", { class: `band series-${series.colour}`, points: [...up, ...down].join(" ") }, marks);
      }
      for (const level of levels())
        make("line", { class: `level series-${level.colour}`, x1: inner.left, x2: inner.right, y1: py(level.y), y2: py(level.y) }, marks);
      for (const series of visible()) {
        const [middle] = series.bands[variant];
        let path = "", pen = "M";
        series.x.forEach((x, i) => {
          if (middle[i] === null) { pen = "M"; return; }
          path += `${pen}${px(x).toFixed(1)} ${py(middle[i]).toFixed(1)}`;
          pen = "L";
        });
        make("path", { class: `curve series-${series.colour}`, d: path, "stroke-dasharray": series.dash,
          "data-name": series.name }, marks);
      }
      buttons.forEach((button, i) => button.setAttribute("aria-pressed", data.series[i].shown));
      reset.hidden = range[0] === everything[0] && range[1] === everything[1];
      const named = levels().map((level) => `${level.name} ${shown(level.y)}`);
      figure.querySelector(".levels").textContent = named.length ? `${data.compared}: ${named.join(", ")}` : "";
      read();
    }

    // The crosshair, a dot on each curve, and their values in words.
    function read() {
      svg.querySelectorAll(".cross, .dot").forEach((node) => node.remove());
      if (at === null || !visible().length) { readout.replaceChildren(); return; }
      at = clamp(at, ...range);
      const near = (series) =>
        series.x.reduce((best, x, i) => (Math.abs(x - at) < Math.abs(series.x[best] - at) ? i : best), 0);
      const x = visible()[0].x[near(visible()[0])];
      make("line", { class: "cross", x1: scale.px(x), x2: scale.px(x), y1: scale.inner.top, y2: scale.inner.bottom }, svg);
      readout.replaceChildren();
      element("strong", "", readout, `${data.x} ${x}`);
      for (const series of visible()) {
        const i = near(series);
        const [middle, low, high] = series.bands[variant].map((values) => values[i]);
        const row = element("span", `row series-${series.colour}`, readout);
        element("span", "", row, series.name);
        element("b", "", row, middle === null ? "diverged" : shown(middle));
        if (low !== null && high !== null) element("span", "", row, `${shown(low)} to ${shown(high)}`);
        if (middle !== null)
          make("circle", { class: `dot series-${series.colour}`, cx: scale.px(series.x[i]), cy: scale.py(middle), r: 4 }, svg);
      }
      const beside = scale.px(x) > (scale.inner.left + scale.inner.right) / 2 ? -12 - readout.offsetWidth : 12;
      readout.style.left = `${clamp(scale.px(x) + beside, 0, Math.max(0, plot.clientWidth - readout.offsetWidth))}px`;
    }

    let dragged = null;
    const pointed = (event) => scale.back(event.clientX - svg.getBoundingClientRect().left);
    svg.addEventListener("pointerdown", (event) => {
      at = pointed(event);
      read();
      if (event.pointerType !== "mouse" || event.button !== 0) return;
      dragged = { from: at, box: make("rect", { class: "zoom", y: scale.inner.top, height: scale.inner.bottom - scale.inner.top }, svg) };
      svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointermove", (event) => {
      at = pointed(event);
      if (dragged) {
        const [a, b] = [dragged.from, clamp(at, ...range)].sort((p, q) => p - q).map(scale.px);
        dragged.box.setAttribute("x", a);
        dragged.box.setAttribute("width", b - a);
      }
      read();
    });
    svg.addEventListener("pointerup", () => {
      if (!dragged) return;
      const ends = [dragged.from, clamp(at, ...range)].sort((p, q) => p - q);
      dragged.box.remove();
      dragged = null;
      if (scale.px(ends[1]) - scale.px(ends[0]) > 8) zoom(ends);
    });
    svg.addEventListener("pointerleave", () => { if (!dragged) { at = null; read(); } });
    svg.addEventListener("blur", () => { at = null; read(); });
    svg.addEventListener("dblclick", () => zoom(everything));
    svg.addEventListener("keydown", (event) => {
      const span = range[1] - range[0];
      const centre = at ?? (range[0] + range[1]) / 2;
      const moves = { ArrowLeft: -span / 50, ArrowRight: span / 50, Home: -span, End: span };
      if (event.key in moves) { at = clamp(centre + moves[event.key], ...range); read(); }
      else if (event.key === "+" || event.key === "=") zoom([centre - span / 4, centre + span / 4]);
      else if (event.key === "-") zoom([centre - span, centre + span]);
      else if (event.key === "Escape") zoom(everything);
      else return;
      event.preventDefault();
    });

    element("p", "levels", figure);
    const self = {
      redraw: draw,
      group: (name, on) => { data.series.forEach((s) => { if (s.group === name) s.shown = on; }); draw(); },
      variant: (name) => { if (name in data.series[0].bands) { variant = name; draw(); } },
    };
    charts.push(self);
    draw();
    let width = plot.clientWidth;
    new ResizeObserver(() => {
      if (plot.clientWidth !== width) { width = plot.clientWidth; draw(); }
    }).observe(plot);
  }

  document.querySelectorAll("figure.chart").forEach(chart);
  document.querySelectorAll("input[data-group]").forEach((input) => {
    input.addEventListener("change", () => charts.forEach((one) => one.group(input.dataset.group, input.checked)));
  });
  document.querySelectorAll("input[data-variant]").forEach((input) => {
    input.addEventListener("change", () => charts.forEach((one) => one.variant(input.dataset.variant)));
  });
})();
