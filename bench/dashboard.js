/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the page from the data inside it.  Text from results only ever becomes text nodes. */
"use strict";
(() => {
    const data = JSON.parse(document.getElementById("data").textContent);
    const main = document.querySelector("main");
    const SETS = ["scalar", "avx2", "avx512", "neon", "auto"];
    const colour = (set) => (SETS.includes(set) ? SETS.indexOf(set) : 5);

    /* ---- Small helpers ---------------------------------------------------------------------- */

    const put = (node, attributes, children) => {
        for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
        node.append(...(children || []));
        return node;
    };
    const make = (tag, attributes, ...children) =>
        put(document.createElement(tag), attributes, children);
    const svg = (tag, attributes, ...children) =>
        put(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
    const unique = (values) => [...new Set(values)];
    const short = (value) =>
        value === null ? "-" : String(Number(value.toPrecision(Math.abs(value) >= 100 ? 4 : 3)));
    const percent = (step) => (step > 0 ? "+" : "") + (100 * step).toFixed(1) + " %";
    const day = (date) => date.slice(0, 16).replace("T", " ");

    /* ---- Scales and axes -------------------------------------------------------------------- */

    /* From values to pixels; logarithmic ones step 1, 2, 5, 10, finer in short ranges. */
    const scale = (values, from, to, logarithmic) => {
        let low = Math.min(...values), high = Math.max(...values);
        const ticks = [];
        if (logarithmic) {
            low = Math.min(low, high / 1.5);
            low /= 1.08;
            high *= 1.08;
            const digits = high / low > 8 ? [1, 2, 5] : high / low > 3 ? [1, 1.5, 2, 3, 5, 7]
                : [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 4, 5, 6, 7, 8];
            for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
                for (const digit of digits) ticks.push(digit * 10 ** power);
        } else {
            const margin = Math.max((high - low) * 0.12, high * 0.01);
            low -= margin;
            high += margin;
            const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
            const step = [1, 2, 5, 10].map((d) => d * power).find((s) => s >= rough);
            for (let i = Math.ceil(low / step); i * step <= high; i++) ticks.push(i * step);
        }
        const at = (v) =>
            logarithmic ? Math.log(v / low) / Math.log(high / low) : (v - low) / (high - low);
        const place = (v) => from + (to - from) * at(v);
        return { place, ticks: ticks.filter((t) => t >= low && t <= high) };
    };

    const path = (points) =>
        points.map(([x, y], i) => (i ? "L" : "M") + x.toFixed(1) + " " + y.toFixed(1)).join("");

    /* Frame, horizontal lines with their values, and a title for those who cannot see it. */
    const frame = (width, height, y, label, edges) => {
        const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
        for (const tick of y.ticks) {
            const at = y.place(tick);
            chart.append(
                svg("line", { class: "axis", x1: edges.left, x2: edges.right, y1: at, y2: at }),
                svg("text", { x: edges.left - 5, y: at + 4, "text-anchor": "end" }, short(tick)));
        }
        chart.append(svg("text", { x: 2, y: 10 }, label));
        return chart;
    };

    const dot = (x, y, set, title, action) => {
        const circle = svg("circle", { class: "point f" + colour(set), cx: x, cy: y, r: 4 },
            svg("title", {}, title));
        if (action) circle.addEventListener("click", action);
        return circle;
    };

    /* ---- Throughput and ratio by length ----------------------------------------------------- */

    const tokens = (n) => (n >= 1024 && n % 1024 === 0 ? n / 1024 + "k" : String(n));

    /* One chart: a line per set over log2 of the length; index 1 is throughput, 5 the ratio. */
    const lengthChart = (series, lengths, index, label, choose) => {
        const width = 380, height = index === 1 ? 245 : 165;
        const edges = { left: 42, right: width - 10, top: 22, bottom: height - 38 };
        const shown = series.flatMap((s) => s.points.map((p) => p.values[index])).concat(
            index === 1 ? series.flatMap((s) => s.points.map((p) => p.values[4])) : [1])
            .filter((v) => v !== null);
        const y = scale(shown, edges.bottom, edges.top, true);
        const first = Math.log2(Math.min(...lengths)), last = Math.log2(Math.max(...lengths));
        const x = (n) => last === first ? (edges.left + edges.right) / 2
            : edges.left + 12 + (edges.right - edges.left - 24) * (Math.log2(n) - first) / (last - first);
        const chart = frame(width, height, y, label, edges);
        for (const n of lengths)
            chart.append(svg("text", { x: x(n), y: height - 22, "text-anchor": "middle" }, tokens(n)));
        chart.append(svg("text", { x: (edges.left + edges.right) / 2, y: height - 6,
            "text-anchor": "middle" }, "tokens"));
        if (index === 5)
            chart.append(svg("line", { class: "axis dashed", x1: edges.left, x2: edges.right,
                y1: y.place(1), y2: y.place(1) }));
        for (const { set, points } of series) {
            const line = (i) => path(points.filter((p) => p.values[i] !== null)
                .map((p) => [x(p.length), y.place(p.values[i])]));
            if (index === 1)
                chart.append(svg("path", { class: "series dashed s" + colour(set), d: line(4) }));
            chart.append(svg("path", { class: "series s" + colour(set), d: line(index) }));
            for (const p of points) {
                if (p.values[index] === null) continue;
                const text = `${p.name}\n${short(p.values[1])} ${p.unit}, limit ${short(p.values[4])}` +
                    `, time / limit ${short(p.values[5])}`;
                chart.append(dot(x(p.length), y.place(p.values[index]), set, text, () => choose(p.name)));
            }
        }
        return chart;
    };

    /* "f32, half, 32 + 8 heads x 128"; keys that it does not know follow as they are. */
    const titleOf = ({ job, isa, seq, dtype, pair, hq, hkv, d, ...others }) => {
        const heads = hq === undefined ? "d " + d : `${hq} + ${hkv} heads x ${d}`;
        return [dtype, pair, d && heads, ...Object.entries(others).map(([k, v]) => k + " " + v)]
            .filter((word) => word).join(", ");
    };

    const panels = (job, run, choose) => {
        const groups = new Map();
        for (const { name, points } of data.cells) {
            const { keys, unit } = data.names[name];
            const values = points.find((p) => p[0] === run);
            const length = Number(keys.seq);
            if (keys.job !== job || !values || !(length > 0)) continue;
            const title = titleOf(keys) || job;
            const set = keys.isa || "";
            if (!groups.has(title)) groups.set(title, new Map());
            const sets = groups.get(title);
            if (!sets.has(set)) sets.set(set, []);
            sets.get(set).push({ name, unit, length, values });
        }
        const cards = [];
        for (const [title, sets] of groups) {
            const series = [...sets].map(([set, points]) =>
                ({ set, points: points.sort((a, b) => a.length - b.length) }));
            const all = series.flatMap((s) => s.points);
            const lengths = unique(all.map((p) => p.length)).sort((a, b) => a - b);
            const card = make("figure", { class: "card" }, make("h3", {}, title),
                lengthChart(series, lengths, 1, unique(all.map((p) => p.unit)).join(", "), choose));
            if (all.some((p) => p.values[5] !== null))
                card.append(lengthChart(series, lengths, 5, "time / limit", choose));
            cards.push({ card, count: lengths.length });
        }
        return cards.sort((a, b) => b.count - a.count).map((c) => c.card); /* whole curves first */
    };

    const legend = () => {
        const sets = unique(Object.values(data.names).map((n) => n.keys.isa || ""))
            .sort((a, b) => colour(a) - colour(b));
        const sample = (kind) => svg("svg", { viewBox: "0 0 34 12", "aria-hidden": "true" },
            svg("path", { class: "series " + kind, d: "M1 6H33" }));
        return make("ul", { class: "legend" },
            ...sets.map((set) => make("li", {}, sample("s" + colour(set)), set || "any")),
            make("li", {}, sample("dashed plain"), "limit of the machine, same bytes"));
    };

    /* ---- History of one cell ---------------------------------------------------------------- */

    const MEANING = { slower: "slower", faster: "faster", limit: "machine changed" };

    /* Two charts over the same runs: the cell, and below it the limit in a scale of its own. */
    const historyCharts = (machine, name, chosen) => {
        const cell = data.cells.find((c) => c.machine === machine && c.name === name);
        if (!cell) return [make("p", {}, "No run of this machine has it.")];
        const { unit, keys } = data.names[name];
        const points = cell.points;
        const width = Math.min(1500, Math.max(360, main.clientWidth - 30));
        const left = 46, right = width - 12;
        const step = (right - left - 16) / Math.max(points.length - 1, 1);
        const x = (i) => points.length === 1 ? (left + right) / 2 : left + 8 + step * i;
        const chart = (height, below, indices, label) => {
            const edges = { left, right, top: 34, bottom: height - below };
            const values = points.flatMap((p) => indices.map((i) => p[i])).filter((v) => v !== null);
            const y = scale(values, edges.bottom, edges.top, false);
            const line = (index) => points.map((p, i) => [p, i]).filter(([p]) => p[index] !== null)
                .map(([p, i]) => [x(i), y.place(p[index])]);
            return { edges, y, line, node: frame(width, height, y, label, edges) };
        };

        const top = chart(280, 42, [1, 2, 3], unit);
        top.node.append(
            svg("path", { class: "band f" + colour(keys.isa), d: path(top.line(3).concat(top.line(2).reverse())) + "Z" }),
            svg("path", { class: "series s" + colour(keys.isa), d: path(top.line(1)) }));
        for (const change of data.changes.filter((c) => c.machine === machine && c.name === name)) {
            const at = x(points.findIndex((p) => p[0] === change.run)) - step / 2;
            const tip = change.kind === "slower" ? `M${at - 6} 18h12l-6 10z` : `M${at - 6} 28h12l-6 -10z`;
            const late = at > width - 150;
            top.node.append(
                svg("line", { class: "mark " + change.kind, x1: at, x2: at, y1: 26, y2: top.edges.bottom }),
                svg("path", { class: "mark " + change.kind, d: tip }),
                svg("text", { x: late ? at - 9 : at + 9, y: 27, "text-anchor": late ? "end" : "start" },
                    `${MEANING[change.kind]}: ${percent(change.step)}`));
        }
        points.forEach((p, i) => {
            const run = data.runs[p[0]];
            top.node.append(dot(x(i), top.y.place(p[1]), keys.isa,
                `${run.commit}  ${day(run.date)}\n${short(p[1])} ${unit} (${short(p[2])} to ${short(p[3])})` +
                `, limit ${short(p[4])}, time / limit ${short(p[5])}`));
            if (p[0] === chosen)
                top.node.append(svg("circle", { class: "ring", cx: x(i), cy: top.y.place(p[1]), r: 7 }));
        });
        /* Commit and day under every so many points, from the newest back, where there is room. */
        const every = Math.ceil(90 / Math.max(step, 1));
        for (let i = points.length - 1; i >= 0; i -= every) {
            const at = Math.min(Math.max(x(i), left + 20), right - 32);
            for (const [row, text] of [data.runs[points[i][0]].commit.slice(0, 8),
                data.runs[points[i][0]].date.slice(0, 10)].entries())
                top.node.append(svg("text", { x: at, y: top.edges.bottom + 17 + 15 * row,
                    "text-anchor": "middle" }, text));
        }
        if (!points.some((p) => p[4] !== null)) return [top.node];
        const below = chart(110, 8, [4], "limit, " + unit);
        below.node.append(svg("path", { class: "series dashed plain", d: path(below.line(4)) }));
        return [top.node, below.node];
    };

    /* ---- Tables ----------------------------------------------------------------------------- */

    /* In a narrow window every row is a card, whose lines have the name of their column. */
    const table = (heads, rows) => {
        for (const row of rows)
            [...row.cells].forEach((cell, i) => { cell.dataset.head = heads[i]; });
        const isNumber = (i) => rows[0].cells[i].classList.contains("number");
        return make("div", { class: rows.length > 10 ? "scroll long" : "scroll" }, make("table", {},
            make("thead", {}, make("tr", {}, ...heads.map((head, i) =>
                make("th", { scope: "col", class: isNumber(i) ? "number" : "" }, head)))),
            make("tbody", {}, ...rows)));
    };

    const changesTable = (machine, choose) => {
        const rows = data.changes.filter((c) => c.machine === machine).slice(0, 10).map((change) => {
            const run = data.runs[change.run];
            const link = make("button", { class: "link", type: "button" }, change.name);
            link.addEventListener("click", () => choose(change.name));
            return make("tr", {}, make("td", { class: change.kind }, MEANING[change.kind]),
                make("td", { class: "number " + change.kind }, percent(change.step)),
                ...[change.limit, change.ratio].map((value) =>
                    make("td", { class: "number" }, value === null ? "-" : percent(value))),
                make("td", {}, run.commit), make("td", {}, day(run.date)),
                make("td", { class: "name" }, link));
        });
        return rows.length
            ? table(["change", "throughput", "limit", "time / limit", "first with it", "run", "benchmark"], rows)
            : make("p", {}, "None found. It takes at least 8 runs of one machine to find one.");
    };

    const runsTable = (machine) => table(["run", "commit", "version", "sets", "compiler", "SLEEF", "raw"],
        data.runs.filter((run) => run.machine === machine).reverse().map((run) => make("tr", {},
            make("td", {}, day(run.date)), make("td", {}, run.commit),
            ...["rope_version", "rope_isa", "rope_compiler", "rope_sleef"].map((key) =>
                make("td", {}, run.context[key] || "-")),
            make("td", {}, make("a", { href: "raw/" + run.file }, "JSON"),
                run.refused ? ` (${run.refused} rows not usable)` : ""))));

    /* ---- The page --------------------------------------------------------------------------- */

    const selector = (label, action) => {
        const select = make("select", {});
        select.addEventListener("change", action);
        return { select, field: make("label", {}, label, select) };
    };
    /* Keeps the choice where it is still there.  Options may have a group: [value, text, group]. */
    const offer = (select, options, fallback) => {
        const before = select.value;
        select.replaceChildren(...unique(options.map(([, , group]) => group)).flatMap((group) => {
            const members = options.filter((option) => option[2] === group)
                .map(([value, text]) => make("option", { value }, text));
            return group === undefined ? members : [make("optgroup", { label: group }, ...members)];
        }));
        select.value = options.some(([value]) => value === before) ? before : fallback;
    };

    const machine = selector("Machine", () => fill());
    const commit = selector("Commit and run", () => draw());
    const job = selector("Job", () => draw());
    const cell = selector("Benchmark", () => drawHistory());
    const grid = make("div", { class: "grid" });
    const history = make("div", { class: "card wide" });
    const changes = make("div", {});
    const runs = make("div", {});

    const choose = (name) => {
        cell.select.value = name;
        drawHistory();
        history.scrollIntoView({ block: "center" });
    };
    const drawHistory = () =>
        history.replaceChildren(...historyCharts(machine.select.value, cell.select.value,
            Number(commit.select.value)));
    const draw = () => {
        grid.replaceChildren(...panels(job.select.value, Number(commit.select.value), choose));
        drawHistory();
    };
    const fill = () => {
        const name = machine.select.value;
        const own = data.cells.filter((c) => c.machine === name).map((c) => c.name);
        const indices = data.runs.map((run, i) => i).filter((i) => data.runs[i].machine === name).reverse();
        const described = (i) => `${data.runs[i].commit}  ${day(data.runs[i].date)}`;
        offer(commit.select, indices.map((i) => [String(i), described(i)]), String(indices[0]));
        const jobs = unique(own.map((n) => data.names[n].keys.job));
        offer(job.select, jobs.map((j) => [j, j]), jobs[0]);
        const ours = data.changes.filter((c) => c.machine === name);
        const changed = ours.find((c) => c.kind !== "limit") || ours[0];
        offer(cell.select, own.map((n) => [n, n, data.names[n].keys.job]),
            changed ? changed.name : own[0]);
        draw();
        changes.replaceChildren(changesTable(name, choose));
        runs.replaceChildren(runsTable(name));
    };

    const machines = unique(data.runs.map((run) => run.machine));
    document.getElementById("summary").textContent =
        `${data.runs.length} runs on ${machines.length} kind${machines.length > 1 ? "s" : ""} of machine, ` +
        `${Object.keys(data.names).length} benchmarks, ${data.changes.length} changes found`;
    main.append(
        make("div", { class: "controls" }, machine.field, commit.field, job.field),
        make("h2", {}, "By sequence length"),
        make("p", {}, "Bytes read and written per second over tokens (log 2); below, time over the " +
            "time of the machine's limit for the same bytes, measured in turn with it. Medians."),
        legend(), grid,
        make("h2", {}, "History"),
        make("p", {}, "Median and interquartile band of each run; the ring is the run chosen above. Marks " +
            "show changes: red slower, green faster, grey where the limit moved too, so that the " +
            "machine changed and not the library."),
        make("div", { class: "controls" }, cell.field), history,
        make("h2", {}, "Last 10 changes"), changes,
        make("h2", {}, "Runs"), runs);
    const last = data.runs[data.runs.length - 1].machine;
    offer(machine.select, machines.map((m) => [m, m]), last);
    fill();
    let timer = 0;
    window.addEventListener("resize", () => {
        clearTimeout(timer);
        timer = setTimeout(drawHistory, 100);
    });
    document.documentElement.dataset.drawn = "yes";
})();
