# SPDX-License-Identifier: Apache-2.0
"""What `make site` changes while MkDocs builds the pages of docs/: anchors are GitHub's, links to the sources outside of docs/
become text, and the contents lead to the API that Doxygen has made."""

import pathlib
import re

import pages
from mkdocs.structure.nav import Link

API = "api/index.html"
LONG = 24  # characters: what is longer may be broken in a table


def on_config(config):
    config.mdx_configs.setdefault("toc", {}).update(slugify=pages.slug, permalink=True)
    return config


def on_nav(nav, config, files):
    reference = nav.items[-1]
    link = Link("API", API)
    link.parent = reference
    reference.children.insert(0, link)
    return nav


def on_page_markdown(markdown, page, config, files):
    here, docs = pathlib.Path(page.file.abs_src_path).parent, pathlib.Path(config.docs_dir)
    for link in reversed(pages.links(markdown)):
        place = link.target.partition("#")[0]
        file = (here / place).resolve()
        if place and (not file.is_relative_to(docs) or file.is_relative_to(docs / "man")):
            markdown = markdown[:link.start - 1] + link.text + markdown[link.end:]
    return markdown


def breakable(cell):
    """Long names in a table may be broken behind a part of the name."""
    return re.sub(rf"<code>([^<]{{{LONG},}})</code>",
                  lambda code: "<code>" + re.sub(r"([_./])(?=\w)", r"\1<wbr>", code[1]) + "</code>", cell[0])


def on_page_content(html, page, config, files):
    html = re.sub(r"<td>.*?</td>", breakable, html, flags=re.S)
    return html.replace("<td>API</td>", f'<td><a href="{API}">API</a></td>') if page.is_homepage else html
