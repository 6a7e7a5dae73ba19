/* The loader of the touchable models, and what they share.

   A page holds <div class="touch" data-touch="NAME"> with a picture for readers without scripts, and this script. It
   fetches NAME.js (the model) and data/NAME.js (its weights) with script elements, which work from file:// as well,
   and then puts the model in the place of the picture. If anything is missing, the picture stays. */
(function () {
  "use strict";
  const source = document.currentScript.src;
  const base = source.slice(0, source.lastIndexOf("/") + 1);
  const models = {};
  const data = {};

  // ---- numbers ----
  /** Rows of numbers from one flat list of integers, each a whole number of 1/scale. */
  function matrix(flat, columns, scale) {
    const rows = [];
    for (let k = 0; k < flat.length; k += columns) rows.push(flat.slice(k, k + columns).map((n) => n / scale));
    return rows;
  }

  /** W v */
  function times(W, v) {
    return W.map((row) => row.reduce((sum, w, k) => sum + w * v[k], 0));
  }

  function softmax(scores) {
    const top = Math.max(...scores);
    const parts = scores.map((s) => Math.exp(s - top));
    const sum = parts.reduce((a, b) => a + b, 0);
    return parts.map((p) => p / sum);
  }

  function dot(a, b, from = 0, to = a.length) {
    let sum = 0;
    for (let k = from; k < to; k += 1) sum += a[k] * b[k];
    return sum;
  }

  const sigmoid = (a) => 1 / (1 + Math.exp(-a));
  const mean = (v) => v.reduce((a, b) => a + b, 0) / v.length;

  /** A number with a real minus sign. */
  function fixed(value, digits = 2) {
    const text = value.toFixed(digits);
    return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "−");
  }

  /** 0.00032 as 3.2 · 10⁻⁴; numbers of ordinary size stay as they are. */
  function short(value) {
    if (value === 0 || (Math.abs(value) >= 0.01 && Math.abs(value) < 1000)) return fixed(value);
    const [digits, power] = value.toExponential(1).split("e");
    const raised = [...power.replace("+", "")].map((c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c])).join("");
    return `${digits.replace("-", "−")}\u00a0·\u00a010${raised}`;
  }

  // ---- layers of a Transformer; numbers in lists or in Float64Arrays ----
  const linear = (x, { weight, bias }) => bias.map((b, k) => b + dot(weight[k], x));
  const plus = (a, b) => a.map((value, k) => value + b[k]);

  function normed(x, { g, b }, eps = 1e-5) {  // eq-layer-norm
    const middle = mean(x), root = Math.sqrt(mean(x.map((v) => (v - middle) ** 2)) + eps);
    return x.map((v, k) => g[k] * (v - middle) / root + b[k]);
  }

  /** eq-gelu; the error function by a formula that is right to 2e-7 (Abramowitz and Stegun, 7.1.26). */
  function gelu(u) {
    const z = Math.abs(u) / Math.SQRT2, t = 1 / (1 + 0.3275911 * z);
    const tail = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-z * z);
    return u * (u < 0 ? tail / 2 : 1 - tail / 2);
  }

  /** Multi-head self-attention: rows x, may(t, s) says whether t may look at s; a row that may look at nobody gets zeros.
      Of the head off, if one is named, nothing is passed on. */
  function attend(x, layer, heads, may, off = -1) {
    const K = x[0].length / heads, [q, k, v] = ["q", "k", "v"].map((name) => x.map((row) => linear(row, layer[name])));
    const weights = [...Array(heads).keys()].map((n) => q.map((query, t) => {
      const scores = k.map((key, s) => (may(t, s) ? dot(key, query, n * K, (n + 1) * K) / Math.sqrt(K) : -Infinity));
      return scores.some((score) => score > -Infinity) ? softmax(scores) : scores.map(() => 0);
    }));
    const out = x.map((_, t) => linear(x[0].map((_, j) => (Math.floor(j / K) === off ? 0 :
      v.reduce((sum, value, s) => sum + weights[Math.floor(j / K)][t][s] * value[j], 0))), layer.o));
    return { out, weights };
  }

  /** Random numbers from a seed, the same in every browser (mulberry32). */
  function random(seed) {
    let a = seed >>> 0;
    return () => {
      a = (a + 0x6d2b79f5) >>> 0;
      let t = Math.imul(a ^ (a >>> 15), a | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  // ---- pieces of a page ----
  function make(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== undefined && value !== null) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
  }
  const html = (tag, attributes, ...children) => make(document.createElement(tag), attributes, children);
  const svg = (tag, attributes, ...children) =>
    make(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);

  let count = 0;
  /** A label and its control, one above the other. */
  function field(label, control, wide) {
    control.id = control.id || `touch-${++count}`;
    return html("div", { class: wide ? "touch-field touch-wide" : "touch-field" },
      html("label", { for: control.id }, label), control);
  }

  const button = (label, onclick) => html("button", { type: "button", onclick }, label);

  function select(options, onchange) {
    const control = html("select", { onchange: () => onchange(control.value) },
      Object.entries(options).map(([value, text]) => html("option", { value }, text)));
    return control;
  }

  /** A slider whose value stands beside it. */
  function slider(label, { min, max, step, value, show = String }, oninput) {
    const control = html("input", { type: "range", min, max, step, value });
    const shown = html("output", {}, show(value));
    const tell = () => {
      shown.textContent = show(Number(control.value));
      control.setAttribute("aria-valuetext", show(Number(control.value)));
    };
    control.addEventListener("input", () => { tell(); oninput(Number(control.value)); });
    const whole = field(label, control);
    whole.querySelector("label").append(" ", shown);
    tell();
    return {
      whole, control,
      set(next, top) {
        if (top !== undefined) control.max = top;
        control.value = next;
        tell();
      },
    };
  }

  /** A square of a heat map: blue for negative, orange for positive numbers, stronger for larger ones (at most 1). */
  function square(x, y, width, height, value, more) {
    return svg("rect", {
      x, y, width, height, class: value < 0 ? "touch-minus" : "touch-plus",
      "fill-opacity": Math.min(1, Math.abs(value)).toFixed(3), ...more,
    });
  }

  const label = (x, y, text, more) => svg("text", { x, y, ...more }, text);

  /** What a line of a drawing means. */
  const key = (more, text, kind = "touch-curve") => html("span", { class: "touch-key" }, svg("svg", { width: 34, height: 10, "aria-hidden": "true" },
    svg("line", { x1: 1, x2: 33, y1: 5, y2: 5, class: `${kind} ${more}` })), ` ${text}`);

  /** The place where a model draws: called again when the width changes. */
  function drawing(name, height, draw) {  // height: a number, or a function of the width that gives it
    const picture = svg("svg", { role: "img", "aria-label": name });
    const box = html("div", { class: "touch-drawing" }, picture);
    const again = () => {
      const width = Math.max(180, Math.floor(box.clientWidth)), tall = typeof height === "function" ? height(width) : height;
      picture.setAttribute("width", width);
      picture.setAttribute("height", tall);
      picture.setAttribute("viewBox", `0 0 ${width} ${tall}`);
      picture.replaceChildren(...draw(width, tall).flat(3).filter(Boolean));
    };
    let before = 0;
    new ResizeObserver(() => {
      if (box.clientWidth !== before) { before = box.clientWidth; again(); }
    }).observe(box);
    return { box, again, name(text) { picture.setAttribute("aria-label", text); } };
  }

  /** Where a model says in words what the picture shows. */
  function said() {
    const text = html("p", { class: "touch-said", role: "status", "aria-live": "polite" });
    return { text, say(sentence) { if (text.textContent !== sentence) text.textContent = sentence; } };
  }

  // ---- loading ----
  function load(address) {
    return new Promise((resolve, reject) => {
      const script = html("script", { src: base + address, onload: resolve });
      script.addEventListener("error", () => reject(new Error(`${address} is missing`)));
      document.head.append(script);
    });
  }

  async function begin(place) {
    const name = place.dataset.touch;
    try {
      await Promise.all([load(`data/${name}.js`), load(`${name}.js`)]);
      const parts = models[name].build(data[name]);
      place.setAttribute("role", "group");
      place.setAttribute("aria-label", models[name].title);
      place.classList.add("touch-live");
      place.replaceChildren(...parts);
      place.dispatchEvent(new Event("touch-ready"));
    } catch (error) {
      place.append(html("p", { class: "touch-said", role: "status" }, `The model could not be loaded: ${error.message}.`));
    }
  }

  window.unrolledData = (name, values) => { data[name] = values; };
  window.touch = {
    models, data, matrix, times, dot, softmax, sigmoid, mean, linear, plus, normed, gelu, attend, random, fixed, short, html, svg, field, button, select, slider, square,
    label, key, drawing, said, load,
    model(name, parts) { models[name] = parts; },
  };
  document.querySelectorAll(".touch[data-touch]").forEach(begin);
})();
