#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the HTML site from README.md, docs/ and the man pages, and checks all its links.

site.py BUILD      writes BUILD/site; fails if a link or an anchor leads nowhere
site.py --check D  checks the links of the HTML files below D only
"""
import html.parser
import os
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parent.parent


def man_pages():
    """All but those that only name another one."""
    pages = [p for p in (ROOT / "docs/man").glob("*.[1-8]") if not p.read_text().startswith(".so")]
    return sorted(pages, key=lambda p: (p.suffix, p.name))


def linked(text, prefix):
    """A man page's HTML, in which the names of our own pages are links."""
    for page in man_pages():
        name, section = page.name.rsplit(".", 1)
        escaped = re.escape(name).replace("\\-", "(?:-|&#x2010;)")
        link = f'<a href="{prefix}{page.name}.html"><b>{name}</b>({section})</a>'
        text = re.sub(rf"<b>{escaped}</b>\({section}\)", link, text)
    return text


def man_sources(out):
    """Each man page as a page of raw HTML, and a list of them."""
    out.mkdir()
    index = ["# Man pages", "", "| page | |", "| --- | --- |"]
    for page in man_pages():
        mandoc = ["mandoc", "-T", "html", "-O", "fragment", page]
        body = subprocess.run(mandoc, check=True, capture_output=True, text=True).stdout
        name = "%s(%s)" % tuple(page.name.rsplit(".", 1))
        # markdown takes a line without a blank one after it for the same block of HTML
        body = re.sub(r"\n\s*\n", "\n", linked(body, ""))
        (out / (page.name + ".md")).write_text(f"# {name}\n\n<div class=\"man\">\n{body}</div>\n")
        what = re.search(r"^\.SH NAME\n.*?\\- (.*)$", page.read_text(), re.M).group(1)
        index.append(f"| [{name}]({page.name}.md) | {what} |")
    (out / "index.md").write_text("\n".join(index) + "\n")


def figures(out):
    """All figures on one page."""
    lines = ["# Figures", ""]
    for figure in sorted(out.glob("*.svg")):
        text = f", [as text]({figure.stem}.txt)" if (out / f"{figure.stem}.txt").exists() else ""
        lines += [f"## {figure.stem}", "", f"![{figure.stem}]({figure.name})", ""]
        lines += [f"[Picture]({figure.name}){text}", ""]
    (out / "index.md").write_text("\n".join(lines))


def indented(text):
    """Lists with the indentation that Python's Markdown wants: 4 columns for each level. GitHub takes 2
    or 3 as well."""
    out, fenced, in_list, blank, blanks = [], False, False, False, False
    for line in text.split("\n"):
        depth = len(line) - len(line.lstrip(" "))
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and depth == 0 and line:
            item = bool(re.match(r"(-|\d+\.) ", line))
            if item and in_list and blanks and not blank:
                out.append("") # after an item of several paragraphs
            in_list = item or (in_list and not blank)
            blanks = False
        elif not fenced and in_list and depth >= 2:
            line = " " * (4 if depth < 4 else 8 if depth < 6 else depth + 2) + line.lstrip(" ")
        blank = not line
        blanks = blanks or blank
        out.append(line)
    return "\n".join(out)


def relinked(text, top):
    """Links of a Markdown source, as they are in the site: man pages are pages, README.md is the first one."""
    def target(match):
        url = match.group(2)
        if "://" in url:
            return match.group(0)
        if top:
            url = re.sub(r"^docs/", "", url)
        else:
            url = re.sub(r"^\.\./", "", url)
        url = re.sub(r"^README\.md", "index.md", url)
        url = re.sub(r"(man/[\w-]+\.[1-8])$", r"\1.md", url)
        url = re.sub(r"^figures/?$", "figures/index.md", url)
        return f"{match.group(1)}({url})"
    return re.sub(r"(\])\(([^)\s]+)\)", target, text)


def sources(src):
    shutil.rmtree(src, ignore_errors=True)
    src.mkdir(parents=True)
    for page in [ROOT / "README.md", ROOT / "CHANGELOG.md"]:
        name = "index.md" if page.name == "README.md" else page.name
        (src / name).write_text(indented(relinked(page.read_text(), True)))
    for page in (ROOT / "docs").glob("*.md"):
        (src / page.name).write_text(indented(relinked(page.read_text(), False)))
    for directory in ["figures", "examples"]:
        shutil.copytree(ROOT / "docs" / directory, src / directory)
    figures(src / "figures")
    shutil.copy(ROOT / "docs/site.css", src)
    for name in ["LICENSE", "CITATION.cff"]:
        shutil.copy(ROOT / name, src)
    man_sources(src / "man")


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.ids, self.links = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        for key, value in attrs:
            if key in ("id", "name") and value:
                self.ids.add(value)
            elif key in ("href", "src") and value:
                self.links.append(value)


def broken_links(site):
    pages = {p: Page(p.read_text()) for p in site.rglob("*.html") if p.name != "404.html"}
    for page, content in sorted(pages.items()):
        for link in content.links:
            url = urllib.parse.urlparse(link)
            if url.scheme or url.netloc:
                continue
            target = pathlib.Path(os.path.normpath(page.parent / urllib.parse.unquote(url.path))) if url.path else page
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                yield f"{page.relative_to(site)}: {link}: there is no such file"
            elif url.fragment and target in pages and urllib.parse.unquote(url.fragment) not in pages[target].ids:
                yield f"{page.relative_to(site)}: {link}: there is no such anchor"


def check(site):
    broken = list(broken_links(site))
    print("\n".join(broken) if broken else f"all links in {site} lead somewhere")
    return 1 if broken else 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        return check(pathlib.Path(sys.argv[2]).resolve())
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    build = pathlib.Path(sys.argv[1]).resolve()
    sources(build / "site-src")
    environment = dict(os.environ, FTRMA_SITE_SRC=str(build / "site-src"), FTRMA_SITE=str(build / "site"))
    mkdocs = ["mkdocs", "build", "--quiet", "--clean", "-f", ROOT / "mkdocs.yml"]
    if subprocess.run(mkdocs, env=environment).returncode != 0:
        return 1
    return check(build / "site")


if __name__ == "__main__":
    sys.exit(main())
