#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_dashboard.py SOURCE_DIRECTORY tools|browser

tools: statistics, comparison, converters and the page as text.  browser: the page in a real Chromium;
status 77 without one.  SCREENSHOTS=DIRECTORY in the environment keeps pictures of the page."""
import copy
import io
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout

SOURCE = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(SOURCE, "bench"))
sys.path.insert(0, os.path.join(SOURCE, "tests"))
sys.dont_write_bytecode = True

import browser  # noqa: E402
import compare  # noqa: E402
import convert  # noqa: E402
import dashboard  # noqa: E402
import results  # noqa: E402
import stats  # noqa: E402
import synthetic_history as synthetic  # noqa: E402


def call(tool, *arguments):
    """(status, standard output, standard error) of a tool's main()."""
    out, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(errors):
        status = tool.main(list(arguments))
    return status, out.getvalue(), errors.getvalue()


class InDirectory(unittest.TestCase):
    def setUp(self):
        self._directory = tempfile.TemporaryDirectory()
        self.addCleanup(self._directory.cleanup)
        self.directory = self._directory.name

    def write(self, name, document):
        path = os.path.join(self.directory, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(document if isinstance(document, str) else json.dumps(document))
        return path


class Statistics(unittest.TestCase):
    def test_quantiles(self):
        self.assertEqual(stats.median([3, 1, 2]), 2)
        self.assertEqual(stats.median([4, 1, 2, 3]), 2.5)
        self.assertEqual(stats.quantile([1, 2, 3, 4, 5], 0.25), 2)

    def test_mann_whitney_exact(self):
        # Complete separation: 2 of the C(10, 5) = 252 orders are as extreme.
        u, p = stats.mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10])
        self.assertEqual(u, 25)
        self.assertAlmostEqual(p, 2 / 252, places=12)
        # U = 1 of 9: the orders with U <= 1 are 2 of C(6, 3) = 20, on either side.
        u, p = stats.mann_whitney([1, 2, 4], [3, 5, 6])
        self.assertEqual(u, 8)
        self.assertAlmostEqual(p, 4 / 20, places=12)

    def test_mann_whitney_with_ties(self):
        # By hand: U = 18.5, mean 12.5, variance 25/12 (11 - 60/90) with ties of 3, 3, 2 and 2.
        a, b = [1, 1, 2, 2, 3], [1, 2, 3, 4, 4]
        ties = 2 * (27 - 3) + 2 * (8 - 2)
        spread = 25 / 12 * (11 - ties / 90)
        u, p = stats.mann_whitney(a, b)
        self.assertEqual(u, 18.5)
        self.assertAlmostEqual(p, math.erfc((6 - 0.5) / math.sqrt(spread) / math.sqrt(2)), places=12)
        self.assertEqual(stats.mann_whitney([2, 2], [2, 2])[1], 1.0)

    def found(self, values):
        """The runs that the dashboard marks in a synthetic history, whose limit stays where it is."""
        points = [(run, [value, value, value, 200.0, 200.0 / value]) for run, value in enumerate(values)]
        return [(change["run"], change["kind"]) for change in dashboard.find_changes(points)]

    def test_steps_are_found(self):
        """A 5 % step at 2 % noise after 30 runs: 10 runs later it is marked, in at least 9 of 10
        histories, within four runs of where it is, and in its colour."""
        for step, kind in ((0.95, "slower"), (1.05, "faster")):
            found = sum(any(abs(run - 30) <= 4 and what == kind for run, what in
                            self.found(synthetic.series(seed, 40, 0.02, 30, step)))
                        for seed in range(60))
            self.assertGreaterEqual(found, 54, f"step {step}")

    def test_no_change_no_alarm(self):
        """40 runs at 2 % noise without a change: at most one mark in 60 histories."""
        alarms = sum(bool(self.found(synthetic.series(seed, 40, 0.02))) for seed in range(60))
        self.assertLessEqual(alarms, 1)

    def test_steps_of_the_machine_are_grey(self):
        """The same step in the limit, and in the throughput alone while the time over the limit stays:
        neither is the library's."""
        values = synthetic.series(1, 40, 0.01, 30, 0.9)
        limit = synthetic.series(2, 40, 0.01, 30, 0.9)
        for points in ([[v, v, v, 2 * l, 2 * l / v] for v, l in zip(values, limit)],
                       [[v, v, v, 200.0, 2.0] for v in values],
                       [[v, v, v, 2 * l, None] for v, l in zip(values, limit)]):
            changes = dashboard.find_changes(list(enumerate(points)))
            self.assertEqual([change["kind"] for change in changes], ["limit"])
        for ratio in (True, False):
            changes = dashboard.find_changes(
                [(run, [v, v, v, 200.0, 200 / v if ratio else None]) for run, v in enumerate(values)])
            self.assertEqual([change["kind"] for change in changes], ["slower"])

    def test_two_steps(self):
        values = [value for seed, step in ((5, 1), (6, 1.1), (7, 0.9))
                  for value in synthetic.series(seed, 20, 0.01, 0, step)]
        self.assertEqual(stats.change_points(values), [20, 40])

    def test_few_points(self):
        self.assertEqual(stats.change_points([1.0] * 3 + [2.0] * 3), [])
        self.assertEqual(stats.change_points([1.0] * 50), [])


class Reading(InDirectory):
    def test_garbage_is_refused(self):
        for text in ("", "[]", "{}", '{"benchmarks": 3}', '{"benchmarks": [1, null, {}]}', "\x00",
                     '{"benchmarks": [{"name": "a", "real_time": NaN, "time_unit": "ns"}]}',
                     '{"benchmarks": [{"name": "a", "real_time": -1, "time_unit": "ns"}]}'):
            with self.assertRaises(results.Unusable, msg=text):
                results.Run(self.write("x.json", text))
        with self.assertRaises(results.Unusable):
            results.Run(os.path.join(self.directory, "absent.json"))

    def test_aggregates_and_errors_are_left_out(self):
        document = synthetic.document(0)
        name = document["benchmarks"][0]["run_name"]
        for extra in ({"run_type": "aggregate", "real_time": 1.0},
                      {"error_occurred": True, "real_time": 0.0},
                      {"real_time": float("inf")}):
            document["benchmarks"].append({**document["benchmarks"][0], **extra})
        run = results.Run(self.write("x.json", document))
        self.assertEqual(len(run.rows[name].nanoseconds), 5)
        self.assertEqual(run.refused, [name, name])

    def test_units(self):
        document = {"benchmarks": [{"name": "a", "real_time": 2.5, "time_unit": "us"}]}
        row = results.Run(self.write("x.json", document)).rows["a"]
        self.assertEqual(row.nanoseconds, [2500.0])
        self.assertEqual((row.unit, row.throughput), ("1/s", [4e5]))

    def test_order_of_runs(self):
        paths = [self.write(f"{run}.json", synthetic.document(run)) for run in (2, 0, 1)]
        late = synthetic.document(0)
        late["context"]["date"] = "2001-01-01T13:30:00+02:00"  # 11:30 UTC, before run 0
        paths.append(self.write("late.json", late))
        runs, messages = results.load_history(paths + [os.path.join(self.directory, "absent")])
        self.assertEqual([run.file for run in runs], ["late.json", "0.json", "1.json", "2.json"])
        self.assertEqual(len(messages), 1)


class Comparing(InDirectory):
    def files(self, factor, roof_factor=1.0, noise=0.005):
        old = synthetic.document(0, noise=noise, repetitions=15, seed=1)
        new = synthetic.document(0, lambda *_: (1 / factor, 1 / roof_factor), noise=noise,
                                 repetitions=15, seed=2)
        return self.write("old.json", old), self.write("new.json", new)

    def test_slowdown(self):
        old, new = self.files(1.06, noise=0.002)
        status, text, _ = call(compare, old, new)
        self.assertEqual(status, 1)
        self.assertIn("84 slower, 0 faster, 0 the machine's limit moved too, 0 no difference", text)

    def test_speedup_and_no_change(self):
        old, new = self.files(0.9, noise=0.002)
        status, text, _ = call(compare, old, new)
        self.assertEqual(status, 0)
        self.assertIn("0 slower, 84 faster", text)
        status, text, _ = call(compare, old, old)
        self.assertEqual((status, "84 no difference" in text), (0, True))

    def test_small_slowdown_is_no_slowdown(self):
        old, new = self.files(1.02, noise=0.001)
        self.assertEqual(call(compare, old, new)[0], 0)

    def test_limit_that_moved(self):
        old, new = self.files(1.10, roof_factor=1.10, noise=0.002)
        status, text, _ = call(compare, old, new)
        self.assertEqual(status, 0)
        self.assertIn("0 slower, 0 faster, 84 the machine's limit moved too", text)

    def test_without_limit_time_decides(self):
        old, new = self.files(1.10, roof_factor=1.10, noise=0.002)
        for path in (old, new):
            with open(path, encoding="utf-8") as file:
                document = json.load(file)
            for row in document["benchmarks"]:
                del row["roof_ratio"]
            self.write(os.path.basename(path), document)
        self.assertEqual(call(compare, old, new)[0], 1)

    def test_unusable(self):
        old, _ = self.files(1)
        self.assertEqual(call(compare, old, self.write("bad.json", "{"))[0], 2)
        other = {"benchmarks": [{"name": "other", "real_time": 1, "time_unit": "ns"}]}
        self.assertEqual(call(compare, old, self.write("other.json", other))[0], 2)

    def test_markdown(self):
        old, new = self.files(1.06, noise=0.002)
        with open(new, encoding="utf-8") as file:
            document = json.load(file)
        evil = {**document["benchmarks"][0], "name": synthetic.HOSTILE, "run_name": synthetic.HOSTILE}
        document["benchmarks"].append(evil)
        status, text, _ = call(compare, "--markdown", old, self.write("new.json", document))
        self.assertEqual(status, 1)
        table = [line for line in text.splitlines() if line.startswith("| `apply/")]
        self.assertEqual(len(table), 84)
        for line in table:
            self.assertEqual(len(re.findall(r"(?<!\\)\|", line)), 9, line)
            # 6 % slower at 0.2 % noise: all 15 x 15 pairs in one direction, p of complete separation.
            self.assertRegex(line, r"\| 1\.0\d\d \| 225 \| 1\.3e-08 \| 1\.0\d\d \| slower \|$")
        hostile = [line for line in text.splitlines() if "alert" in line]
        self.assertEqual(len(hostile), 1)
        # Inside one code span: no backtick but the two around it, no control or direction character.
        span = hostile[0].partition(": ")[2]
        self.assertTrue(span.startswith("`") and span.endswith("`"), span)
        self.assertNotIn("`", span[1:-1])
        self.assertTrue(span.isprintable(), span)


class Converting(InDirectory):
    """Each output against the fields that its reader takes."""

    def setUp(self):
        super().setUp()
        self.document = synthetic.document(3)
        entry = synthetic.entry(synthetic.HOSTILE + "/a b", 0, 1, 10.0, 11.0, 16, 1e6)
        self.document["benchmarks"].append(entry)
        self.path = self.write("run.json", self.document)

    def convert(self, tool, *more):
        status, text, errors = call(convert, "--to", tool, *more, self.path)
        self.assertEqual((status, errors), (0, ""))
        return text

    def median_of(self, name, field):
        return stats.median([row[field] for row in self.document["benchmarks"] if row["name"] == name])

    def test_github(self):
        rows = json.loads(self.convert("github"))
        self.assertEqual(len(rows), 85)
        self.assertEqual(len({row["name"] for row in rows}), 85)
        for row in rows:
            self.assertEqual(row["unit"], "GB/s")
            self.assertIsInstance(row["value"], float)
            self.assertIsInstance(row["range"], str)
            self.assertIsInstance(row["extra"], str)
        self.assertAlmostEqual(rows[0]["value"],
                               self.median_of(rows[0]["name"], "bytes_per_second") * 1e-9)

    def test_bencher(self):
        rows = json.loads(self.convert("bencher"))
        self.assertEqual(len(rows), 85)
        for name, measures in rows.items():
            for values in measures.values():
                self.assertEqual(set(values), {"value", "lower_value", "upper_value"})
                self.assertLessEqual(values["lower_value"], values["value"])
                self.assertLessEqual(values["value"], values["upper_value"])
            self.assertEqual(set(measures), {"throughput", "latency", "limit-ratio"})
        own = rows[synthetic.SLOWER]
        for measure, field, scale in (("latency", "real_time", 1), ("limit-ratio", "roof_ratio", 1),
                                      ("throughput", "bytes_per_second", 1e-9)):
            self.assertAlmostEqual(own[measure]["value"],
                                   self.median_of(synthetic.SLOWER, field) * scale)

    def test_lnt(self):
        report = json.loads(self.convert("lnt"))
        self.assertEqual(report["format_version"], "2")
        self.assertRegex(report["machine"]["name"], r"^[A-Za-z0-9_.-]+$")
        self.assertEqual(report["run"]["llvm_project_revision"], synthetic.commit_of(3))
        self.assertEqual(report["run"]["start_time"], "2001-01-04T12:00:00")
        self.assertEqual(len(report["tests"]), 85)
        test = next(test for test in report["tests"] if test["name"] == synthetic.SLOWER)
        self.assertEqual(len(test["execution_time"]), 5)
        own = [row for row in self.document["benchmarks"] if row["name"] == synthetic.SLOWER]
        for ours, row in zip(test["execution_time"], own):
            self.assertAlmostEqual(ours, row["real_time"] * 1e-9)
        for ours, row in zip(test["score"], own):
            self.assertAlmostEqual(ours, row["bytes_per_second"] * 1e-9)
        self.assertEqual(set(test), {"name", "execution_time", "score"})
        self.assertEqual(set(report), {"format_version", "machine", "run", "tests"})
        report = json.loads(self.convert("lnt", "--lnt-order-field", "run_order", "--lnt-order", "17"))
        self.assertEqual(report["run"]["run_order"], "17")

    def test_benchstat(self):
        lines = self.convert("benchstat").splitlines()
        rows = [line for line in lines if line.startswith("Benchmark")]
        self.assertEqual(len(rows), 84 * 5 + 1)
        form = re.compile(r"^Benchmark[A-Z]\S*(/[^\s=]+=\S+|/\S+)* \d+ [0-9.e+-]+ ns/op [0-9.e+-]+ B/s$")
        for line in rows:
            self.assertRegex(line, form)
        self.assertTrue(rows[0].startswith(
            "BenchmarkApply/isa=scalar/dtype=f32/pair=half/d=128/hq=32/hkv=8/seq=1/real_time "), rows[0])
        first = self.document["benchmarks"][0]
        _, iterations, time, _, rate, _ = rows[0].split()
        self.assertEqual(int(iterations), first["iterations"])
        self.assertAlmostEqual(float(time) / first["real_time"], 1, places=5)
        self.assertAlmostEqual(float(rate) / first["bytes_per_second"], 1, places=5)
        for line in lines:
            self.assertRegex(line, r"^(Benchmark\S+ .*|[a-z]+: .*|)$")

    def test_conbench(self):
        with open(self.path, encoding="utf-8") as file:
            self.assertEqual(self.convert("conbench"), file.read())
        for missing in ("repetition_index", "cpu_time", "bytes_per_second"):
            document = copy.deepcopy(self.document)
            del document["benchmarks"][0][missing]
            document["benchmarks"][0].pop("items_per_second")
            path = self.write("bad.json", document)
            self.assertEqual(call(convert, "--to", "conbench", path)[0], 2, missing)


class Pages(InDirectory):
    def build(self, *more):
        paths = synthetic.write(os.path.join(self.directory, "in"))
        site = os.path.join(self.directory, "site")
        status, out, errors = call(dashboard, "--output", site, *more, *paths)
        self.assertEqual((status, errors), (0, ""))
        with open(os.path.join(site, "index.html"), encoding="utf-8") as file:
            return site, paths, file.read()

    def test_changes(self):
        _, paths, _ = self.build()
        runs, _ = results.load_history(paths)
        found = {change["name"]: change for change in dashboard.collect(runs)["changes"]}
        # What synthetic_history.known_steps says, and the place within three runs.
        for name, run, step, kind in ((synthetic.SLOWER, 30, -0.10, "slower"),
                                      (synthetic.FASTER, 20, 0.15, "faster"),
                                      (synthetic.MACHINE, 25, -0.12, "limit")):
            self.assertEqual(found[name]["kind"], kind)
            self.assertLessEqual(abs(found[name]["run"] - run), 3)
            self.assertAlmostEqual(found[name]["step"], step, delta=0.02)
        # 82 other cells without a change: at most one in 60 may be a false alarm.
        self.assertLessEqual(len(found), 3 + 2)

    def test_page_is_closed(self):
        site, paths, text = self.build("--note", "synthetic <b>&")
        self.assertIn("synthetic &lt;b&gt;&amp;", text)
        self.assertNotIn("{policy}", text)
        self.assertIn("default-src 'none'", text)
        # The only things that name another file are the links to raw/, which a script makes.
        self.assertNotRegex(text, r"https?://(?!www\.w3\.org/2000/svg)")
        self.assertNotRegex(text, r"<(img|iframe|object|embed)\b")
        self.assertEqual(re.findall(r"<link[^>]*>", text), ['<link rel="icon" href="data:,">'])
        self.assertEqual(len(re.findall(r"<script\b", text)), 2)
        self.assertEqual(len(re.findall(r"</script", text)), 2)
        data = re.search(r'id="data">(.*?)</script>', text, re.S).group(1)
        self.assertNotIn("<", data)
        self.assertIn(f"{synthetic.HOSTILE}/isa:{synthetic.HOSTILE}/seq:16/real_time",
                      json.loads(data)["names"])
        for path, run in zip(paths, json.loads(data)["runs"]):
            with open(path, "rb") as ours, open(os.path.join(site, "raw", run["file"]), "rb") as copied:
                self.assertEqual(ours.read(), copied.read())

    def test_hostile_file_names(self):
        path = self.write("a\"><b>.json", synthetic.document(0))
        site = os.path.join(self.directory, "site")
        status, _, errors = call(dashboard, "--output", site, path, self.write("bad.json", "{"))
        self.assertEqual(status, 0)
        self.assertEqual(errors.count("not used:"), 1)
        self.assertEqual(os.listdir(os.path.join(site, "raw")), ["0000-a-b.json"])
        self.assertEqual(call(dashboard, "--output", site, self.write("bad.json", "{"))[0], 2)


class InBrowser(Pages):
    """Runs for `browser` only."""

    PROBE = """(() => {
        const shown = (node) => getComputedStyle(node);
        const marks = [...document.querySelectorAll("line.mark")];
        return {
            drawn: document.documentElement.dataset.drawn,
            width: innerWidth, needed: document.documentElement.scrollWidth,
            charts: document.querySelectorAll("figure svg").length,
            panels: document.querySelectorAll("figure").length,
            dashed: document.querySelectorAll("figure path.dashed").length,
            marks: marks.map((m) => [m.getAttribute("class"), shown(m).stroke]),
            changes: [...document.querySelectorAll("main table")][0].rows.length - 1,
            links: [...document.querySelectorAll("a")].map((a) => a.href),
            background: shown(document.body).backgroundColor,
            text: shown(document.body).color,
            small: Math.min(...[...document.querySelectorAll("body *")].filter(
                (n) => n.childElementCount === 0 && n.textContent && n.getBoundingClientRect().width)
                .map((n) => parseFloat(shown(n).fontSize) * (n.ownerSVGElement
                    ? n.ownerSVGElement.getBoundingClientRect().width / n.ownerSVGElement.viewBox.baseVal.width
                    : 1))),
            labels: [...document.querySelectorAll("figure svg")].map(
                (chart) => [...chart.querySelectorAll("text")].map((t) => t.textContent)),
            clipped: [...document.querySelectorAll("svg text")].filter((t) => {
                const box = t.getBoundingClientRect(), all = t.ownerSVGElement.getBoundingClientRect();
                return box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 ||
                    box.bottom > all.bottom + 1;
            }).map((t) => t.textContent),
            overlapping: [...document.querySelectorAll("main svg")].flatMap((chart) => {
                const boxes = [...chart.querySelectorAll("text")].map(
                    (t) => [t.textContent, t.getBoundingClientRect()]);
                return boxes.flatMap(([a, p], i) => boxes.slice(i + 1).filter(([, q]) =>
                    p.left < q.right && q.left < p.right && p.top + 2 < q.bottom && q.top + 2 < p.bottom)
                    .map(([b]) => a + " over " + b));
            }),
            cut: [...document.querySelectorAll("td")].filter((cell) => {
                const box = cell.getBoundingClientRect();
                return box.left < 0 || box.right > innerWidth + 1;
            }).length,
            bold: document.querySelectorAll("b, img, script:not(body > script)").length,
        };
    })()"""

    # The browser class tests the page alone.
    test_changes = test_page_is_closed = test_hostile_file_names = None

    def test_in_browser(self):
        site, _, _ = self.build("--note", "Synthetic history: made by a formula, not measured")
        url = pathlib.Path(site, "index.html").as_uri()
        pictures = os.environ.get("SCREENSHOTS")
        backgrounds = {}
        with browser.Browser(browser.find()) as one:
            for width in (400, 1600):
                for dark in (False, True):
                    one.open(url, width, dark=dark)
                    page = one.evaluate(self.PROBE)
                    self.assertEqual(one.complaints(), [])
                    self.assertEqual(one.requests(), [url])
                    self.assertEqual((page["drawn"], page["width"]), ("yes", width))
                    self.assertLessEqual(page["needed"], width, "wider than the window")
                    # f32 and bf16 in two pairings: throughput and ratio each, three sets in each.
                    self.assertEqual((page["panels"], page["charts"]), (4, 8))
                    self.assertEqual(page["dashed"], 12)
                    self.assertGreaterEqual(page["small"], 9, "text too small to read")
                    # Each axis with its unit; nothing cut off, nothing over anything else.
                    for unit, labels in zip(["GB/s", "time / limit"] * 4, page["labels"]):
                        self.assertIn(unit, labels)
                        self.assertIn("tokens", labels)
                    self.assertEqual(page["clipped"], [])
                    self.assertEqual(page["overlapping"], [])
                    self.assertEqual(page["cut"], 0)
                    self.assertIn(page["changes"], range(3, 6))
                    self.assertEqual(page["bold"], 0)
                    self.assertEqual(len([l for l in page["links"] if "/raw/" in l]), 40)
                    self.assertTrue(all(os.path.exists(l[len("file://"):]) for l in page["links"]))
                    backgrounds[dark] = (page["background"], page["text"])
                    if pictures:
                        os.makedirs(pictures, exist_ok=True)
                        name = f"{width}-{'dark' if dark else 'light'}.png"
                        one.screenshot(os.path.join(pictures, name), whole=True)
            self.assertNotEqual(backgrounds[False], backgrounds[True])

            # The colours of the marks: red for slower, green for faster, grey where the limit moved.
            one.open(url, 1600)
            for name, kind in ((synthetic.SLOWER, "slower"), (synthetic.FASTER, "faster"),
                               (synthetic.MACHINE, "limit")):
                one.evaluate(f"""(() => {{
                    const select = [...document.querySelectorAll("select")].at(-1);
                    select.value = {json.dumps(name)};
                    select.dispatchEvent(new Event("change"));
                }})()""")
                marks = one.evaluate(self.PROBE)["marks"]
                self.assertEqual([mark[0] for mark in marks], ["mark " + kind], name)
                red, green, blue = map(int, re.findall(r"\d+", marks[0][1])[:3])
                if kind == "limit":
                    self.assertLess(max(red, green, blue) - min(red, green, blue), 40)
                else:
                    self.assertEqual(red > green, kind == "slower")

            # The hostile name is on the page, as text.
            jobs = one.evaluate("""(() => {
                const select = document.querySelectorAll("select")[2];
                select.selectedIndex = select.options.length - 1;
                select.dispatchEvent(new Event("change"));
                return [select.value, document.querySelectorAll("figure").length];
            })()""")
            self.assertEqual(jobs, [synthetic.HOSTILE.split("/")[0], 1])
            self.assertEqual(one.complaints(), [])

            # An older run of the history, and another cell by a click on a point.
            shown = one.evaluate("""(() => {
                const [, commit, job] = document.querySelectorAll("select");
                job.selectedIndex = 0;
                commit.selectedIndex = commit.options.length - 1;
                commit.dispatchEvent(new Event("change"));
                document.querySelector("figure circle").dispatchEvent(new Event("click"));
                return [document.querySelectorAll("figure").length,
                        [...document.querySelectorAll("select")].at(-1).value];
            })()""")
            self.assertEqual(shown[0], 4)
            self.assertIn("/seq:1/", shown[1])
            self.assertEqual(one.complaints(), [])


if __name__ == "__main__":
    which = sys.argv[2]
    cases = {"tools": (Statistics, Reading, Comparing, Converting, Pages), "browser": (InBrowser,)}[which]
    if which == "browser" and browser.find() is None:
        print("skipped: chromium is not installed")
        sys.exit(77)
    suite = unittest.TestSuite()
    for case in cases:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    outcome = unittest.TextTestRunner(verbosity=2).run(suite)
    sys.exit(0 if outcome.wasSuccessful() and outcome.testsRun > 0 else 1)
