/* Chapter 10: a beam search grows as a tree, and α decides at the end which of the kept sentences wins. */
(function () {
  "use strict";
  const { fixed, html, svg, field, button, select, slider, label, key, drawing, said } = touch;
  const DROPPED = 2, BOX = 64, COLUMN = 88, ROW = 38, TOP = 22;

  /** The next tokens of a beginning with their log-probabilities: all of them, or the likeliest ones of a stored tree. */
  function following(model, tokens) {
    if (model.next) return model.next[tokens.join(" ")];
    const row = model.logp[tokens.length ? model.tokens.indexOf(tokens[tokens.length - 1]) : model.start];
    return row.map((logp, k) => [model.tokens[k], logp]).filter(([, logp]) => logp !== null);
  }

  /** For each step the k beginnings that stay, the most probable first, then the best of those that are dropped. */
  function search(model, k) {
    const steps = [];
    let beam = [{ tokens: [], logp: 0, ended: false }];
    while (steps.length < model.longest && beam.some((one) => !one.ended)) {
      const candidates = beam.flatMap((one, parent) => (one.ended ? [{ ...one, parent }] :
        following(model, one.tokens).map(([token, logp]) => (  // eq-beam
          { tokens: [...one.tokens, token], logp: one.logp + logp, parent, ended: token === model.end }))));
      candidates.sort((a, b) => b.logp - a.logp);
      beam = candidates.slice(0, k);
      steps.push(candidates.slice(0, k + DROPPED).map((one, place) => ({ ...one, kept: place < k })));
    }
    return steps;
  }

  const score = ({ tokens, logp }, alpha) => logp / tokens.length ** alpha;  // eq-length

  /** The kept of one step with their scores, the best first. */
  function ranked(step, alpha) {
    return step.filter((one) => one.kept).map((one, place) => ({ ...one, place, score: score(one, alpha) })).sort((a, b) => b.score - a.score);
  }

  function compute(data, { model, k, alpha }) {
    const steps = search(data.models[model], k);
    return { steps, order: ranked(steps[steps.length - 1], alpha).map((one) => one.place) };
  }

  /** A beginning in words; of one that is long for the width of the page the first and the last. */
  const written = (tokens, half = Infinity) => (tokens.length > 3 * half + 1 ? [...tokens.slice(0, half), "…", ...tokens.slice(-half)] : tokens).join(" ");
  const quoted = ({ tokens, ended }) => (ended && tokens.length === 1 ? "the empty sentence" : `“${written(ended ? tokens.slice(0, -1) : tokens)}”`);

  function build(data) {
    let model = data.models[0], k = 3, alpha = 0, at = 1, steps = [];
    const spoken = said();
    const models = select(Object.fromEntries(data.models.map((one, place) => [place, one.title])), (place) => {
      model = data.models[Number(place)];
      k = Math.min(k, model.widest);
      at = 1;
      begin();
    });
    const width = slider("Width of the beam k", { min: 1, max: model.widest, step: 1, value: k }, (value) => {
      const over = at === steps.length;  // a search that is over stays so: widths can be compared
      k = value;
      begin(over);
    });
    const power = slider("Length normalisation α", { min: 0, max: 1.5, step: 0.05, value: alpha, show: (value) => fixed(value) }, (value) => { alpha = value; show(); });
    const next = button("Next step", () => go(at + 1)), end = button("To the end", () => go(steps.length)), again = button("Again", () => go(0));
    const place = slider("Steps done", { min: 0, max: 1, step: 1, value: at }, go);
    const body = html("tbody"), head = html("thead"), caption = html("caption");
    const table = html("table", { class: "touch-beginnings" }, caption, head, body);

    /** For each step done, the row of the beginning that leads now. */
    function path() {
      const rows = [];
      let row = at ? ranked(steps[at - 1], alpha)[0].place : 0;
      for (let t = at - 1; t >= 0; t -= 1) { rows[t] = row; row = steps[t][row].parent; }
      return rows;
    }

    function draw(wide) {
      const fit = Math.max(2, Math.floor((wide + COLUMN - BOX) / COLUMN)), first = Math.max(0, at + 1 - fit), lead = path();
      const middle = (row) => TOP + row * ROW + (ROW - 6) / 2, centre = TOP + (k * ROW - 6) / 2;
      const x = (t) => 2 + (t + 1 - first) * COLUMN;  // the start is column -1
      const box = (t, y, token, number, more) => [
        svg("rect", { x: x(t), y: y - 16, width: BOX, height: 32, rx: 4, class: `touch-node ${more}` }),
        label(x(t) + BOX / 2, number === null ? y + 4 : y - 2, token, { "text-anchor": "middle", class: more === "touch-dropped" ? "touch-quiet" : "",
          ...(token.length > 8 ? { textLength: BOX - 6, lengthAdjust: "spacingAndGlyphs" } : {}) }),
        number === null ? null : label(x(t) + BOX / 2, y + 12, fixed(number), { "text-anchor": "middle", class: "touch-small touch-quiet" }),
      ];
      const edge = (t, from, to, more) => {
        const right = x(t), left = right - COLUMN + BOX, bend = (right - left) / 2;
        return svg("path", { d: `M${left} ${from}C${left + bend} ${from} ${right - bend} ${to} ${right} ${to}`, class: `touch-edge ${more}` });
      };
      const shown = [...Array(at).keys()].filter((t) => t >= first - 1);
      return [
        first ? null : [box(-1, centre, "<s>", null, "touch-leads"), label(x(-1) + BOX / 2, 12, "start", { "text-anchor": "middle", class: "touch-small touch-quiet" })],
        shown.map((t) => {
          const more = (one, row) => (row === lead[t] ? "touch-leads" : one.kept ? "" : "touch-dropped");
          return [
            first && t < first ? null : [...steps[t].keys()].sort((a, b) => (a === lead[t]) - (b === lead[t]) || b - a).map((row) =>  // what leads is drawn last
              edge(t, t ? middle(steps[t][row].parent) : centre, middle(row), more(steps[t][row], row))),
            steps[t].flatMap((one, row) => box(t, middle(row), one.tokens[one.tokens.length - 1], one.logp, more(one, row))),
            label(x(t) + BOX / 2, 12, `step ${t + 1}`, { "text-anchor": "middle", class: "touch-small touch-quiet" }),
            svg("rect", { x: x(t) - 4, y: 0, width: BOX + 8, height: TOP + (k + DROPPED) * ROW, class: "touch-hit", onclick: () => go(t + 1) }),
          ];
        }),
      ];
    }
    const picture = drawing("", () => TOP + (k + DROPPED) * ROW, draw);

    function show() {
      const over = at === steps.length, step = at ? steps[at - 1] : [];
      width.set(k, model.widest);
      place.set(at, steps.length);
      next.disabled = end.disabled = over;
      again.disabled = at === 0;
      picture.name(`The tree of a beam of width ${k} after ${at} steps: kept beginnings with their log-probabilities, below them the best that were dropped.`);
      picture.again();
      const order = ranked(step, alpha), best = order[0];
      caption.textContent = at ? `After step ${at}: what is kept, and the best of what was dropped` : "Nothing is said yet";
      head.replaceChildren(html("tr", {}, ["state", "beginning", "log p", "tokens", "score"].map((title) => html("th", { scope: "col" }, title))));
      body.replaceChildren(...step.map((one, row) => {
        const leads = one.kept && row === best.place, name = leads ? (over ? "★ wins" : "★ leads") : one.kept ? "kept" : "dropped";
        return html("tr", { class: leads ? "touch-first" : one.kept ? "" : "touch-lost" },
          [name, written(one.tokens, picture.box.clientWidth < 500 ? 3 : 5), fixed(one.logp), String(one.tokens.length), one.kept ? fixed(score(one, alpha), 3) : "–"].map((cell) => html("td", {}, cell)));
      }));
      if (!at) {
        spoken.say(`Nothing is said yet. Press “Next step”: the ${k > 1 ? `${k} likeliest first tokens` : "likeliest first token"} will be kept.`);
        return;
      }
      const ended = order.filter((one) => one.ended).length, lost = step[k];
      const count = `${order.length} kept${ended ? `, ${ended === order.length ? (ended > 1 ? "all" : "and") : `${ended} of them`} ended` : ""}`;
      const state = !over ? `Step ${at}: ${count}. The best one dropped is ${lost ? `${quoted(lost)} with ${fixed(lost.logp)}` : "none"}.`
        : `Over after ${at} steps: ${count}${ended < order.length ? `, the rest cut off at ${model.longest} tokens` : ""}.`;
      const length = `${best.tokens.length} ${best.tokens.length === 1 ? "token" : "tokens"}${best.ended ? " with the end" : ""}`;
      spoken.say(`${state} With α = ${fixed(alpha)} ${quoted(best)} ${over ? "wins" : "leads"}: log-probability ${fixed(best.logp)}, ${length}, score ${fixed(best.score, 3)}.`);
    }

    function go(to) {
      at = Math.max(0, Math.min(steps.length, to));
      show();
    }

    function begin(over = false) {
      steps = search(model, k);
      go(over ? steps.length : at);
    }

    begin();
    return [
      html("div", { class: "touch-controls" }, field("Model", models), html("div", { class: "touch-row" }, next, end, again), width.whole, power.whole, place.whole),
      spoken.text,
      html("p", { class: "touch-keys" }, key("", "kept", "touch-edge"), key("touch-leads", "the best for this α", "touch-edge"), key("touch-dropped", "dropped (the best two)", "touch-edge")),
      picture.box, table,
    ];
  }

  touch.model("beam", { title: "Beam search as a tree", compute, build });
})();
