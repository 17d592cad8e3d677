"""The page of `spark-lineage show`: one file, whose data cannot become markup and which sends no request."""

from __future__ import annotations

import base64
import html
import json
import re

from airflow_provider_spark_lineage.openlineage.viewer.page import frame_of, page_of

HOSTILE = "</script><script>alert(1)</script><!-- \"' \u2028 & <b>"
LISTED = {"version": 1, "title": HOSTILE, "notes": [HOSTILE], "runs": []}


def data_of(page: str) -> str:
    return re.search(r'id="spark-lineage">(.*?)</script>', page, re.DOTALL)[1]


def imports_of(page: str) -> dict[str, str]:
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)[1]
    return {
        name: base64.b64decode(url.split(",")[1]).decode()
        for name, url in json.loads(found)["imports"].items()
    }


def test_names_in_the_data_cannot_end_the_script_element():
    """The data of a page is what other people named their tables."""
    page = page_of(LISTED)
    assert json.loads(data_of(page)) == LISTED
    assert "<" not in data_of(page)
    assert page.count("<script") == 3


def test_every_import_of_a_module_is_in_the_page():
    """A module that is missing would be a request, and the page is used offline."""
    modules = imports_of(page_of(LISTED))
    assert "spark-lineage/page.js" in modules
    for source in modules.values():
        for imported in re.findall(
            r'^(?:import|export)\b[^;]*?\bfrom "([^"]+)"|^import "([^"]+)"', source, re.MULTILINE
        ):
            assert "".join(imported) in modules


def test_the_policy_of_the_page_forbids_requests():
    policy = html.unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', page_of(LISTED))[1])
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert "*" not in policy


def test_a_frame_has_the_whole_page_as_one_attribute():
    """A notebook shows it sandboxed: no access to the notebook's page and its tokens."""
    frame = frame_of(LISTED, "text <of> explain")
    [source] = re.findall(r'srcdoc="([^"]*)"', frame)
    assert html.unescape(source) == page_of(LISTED, "text <of> explain")
    assert "allow-same-origin" not in frame
