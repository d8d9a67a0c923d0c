#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# browser_inspect.sh TOOL [DIRECTORY]
# Opens pages of rope inspect in a headless Chromium, at two widths and in both themes: nothing in the console, no
# request but for the page, nothing wider than the window, no text too small or too faint.  Screenshots go to
# DIRECTORY.  Skipped without Python or Chromium.
set -eu
for program in python3 chromium; do
    command -v $program >/dev/null || {
        echo "skipped: no $program"
        exit 77
    }
done
tests=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in llama-3.1-8b qwen2-vl-7b gemma-3-4b deepseek-v3 phi-3-vision smollm3-3b; do
    "$1" inspect "$name" -o "$work/$name.html" >/dev/null
done
cat >"$work/<script>document.title = 'evil'<&amp;script>.json" <<'JSON'
{"model_type": "<script>document.title = 'evil'</script>", "head_dim": 8, "num_hidden_layers": 1200,
 "num_attention_heads": 1, "rope_theta": 1e4, "<img src=x onerror=alert(1)>": 1,
 "rope_scaling": {"type": "linear", "factor": 2, "<img src=http://127.0.0.1:9/x onerror=alert(1)>": 1}}
JSON
(cd "$work" && "$1" inspect '<script>'*.json -o hostile.html >/dev/null)
exec python3 -B - "$tests" "$work" "${2-}" <<'PYTHON'
import glob
import os
import sys

sys.path.insert(0, sys.argv[1])
import browser

# Texts of a page that are smaller on the screen than 10 pixels, or less than 4.5 in contrast to what is below them.
UNREADABLE = """
(() => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (color) => {
    const part = channels(color).slice(0, 3).map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
  };
  const ground = (element) => {
    const rect = element.previousElementSibling;
    if (element.localName === 'text' && rect?.localName === 'rect') {
      const [inner, outer] = [element.getBoundingClientRect(), rect.getBoundingClientRect()];
      const fill = getComputedStyle(rect).fill;
      if (inner.bottom <= outer.bottom + 1 && fill !== 'none') return fill;
    }
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor;
      if (channels(color)[3] !== 0) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  const bad = [];
  document.querySelectorAll('details').forEach((element) => element.open = true);
  document.querySelectorAll('h1, h2, p, li, dt, dd, figcaption, summary, th, td, .key, svg text').forEach((element) => {
    if (!element.textContent.trim()) return;
    const style = getComputedStyle(element);
    const svg = element.closest('svg');
    const scale = svg ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : 1;
    const color = svg ? style.fill : style.color;
    const [a, b] = [light(color), light(ground(element))].sort((x, y) => y - x);
    const size = parseFloat(style.fontSize) * scale;
    const contrast = (a + 0.05) / (b + 0.05);
    if (size < 10 || contrast < 4.5)
      bad.push(`${element.textContent}: ${size.toFixed(1)} px, contrast ${contrast.toFixed(1)}`);
  });
  return bad.slice(0, 5);
})()
"""

failures = 0


def check(what, good, found):
    global failures
    if not good:
        failures += 1
        print(f"{what}: {found}")


pages = sorted(glob.glob(sys.argv[2] + "/*.html"))
check("pages", len(pages) == 7, pages)
with browser.Browser(browser.find()) as page:
    for path in pages:
        for width in (400, 1600):
            for dark in (False, True):
                name = f"{os.path.basename(path)[:-5]}-{width}-{'dark' if dark else 'light'}"
                page.open("file://" + path, width, dark=dark)
                if sys.argv[3]:
                    page.screenshot(f"{sys.argv[3]}/{name}.png", whole=True)
                bad = page.evaluate(UNREADABLE)
                check(name + ": unreadable", bad == [], bad)
                wide = page.evaluate("document.documentElement.scrollWidth")
                check(name + ": width", wide <= width, wide)
                figures = page.evaluate("document.querySelectorAll('figure > svg').length")
                check(name + ": figures", figures >= 3, figures)
                title = page.evaluate("document.title")
                check(name + ": title", title.startswith("Rotations of "), title)
                evil = page.evaluate("document.querySelectorAll('script, img, link, iframe').length")
                check(name + ": elements that do something", evil == 0, evil)
                back = page.evaluate("getComputedStyle(document.body).backgroundColor")
                check(name + ": theme", back == ("rgb(18, 21, 27)" if dark else "rgb(255, 255, 255)"), back)
                check(name + ": console", not page.complaints(), page.complaints())
                check(name + ": requests", len(page.requests()) == 1, page.requests())
print(f"{len(pages)} pages, {failures} failures")
sys.exit(failures != 0)
PYTHON
