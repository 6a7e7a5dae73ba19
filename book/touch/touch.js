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

  /** The place where a model draws: called again when the width changes. */
  function drawing(name, height, draw) {  // height: a number, or a function that gives it
    const picture = svg("svg", { role: "img", "aria-label": name });
    const box = html("div", { class: "touch-drawing" }, picture);
    const again = () => {
      const width = Math.max(180, Math.floor(box.clientWidth)), tall = typeof height === "function" ? height() : height;
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
    models, data, matrix, times, softmax, sigmoid, mean, fixed, short, html, svg, field, button, select, slider, square,
    label, drawing, said, load,
    model(name, parts) { models[name] = parts; },
  };
  document.querySelectorAll(".touch[data-touch]").forEach(begin);
})();
