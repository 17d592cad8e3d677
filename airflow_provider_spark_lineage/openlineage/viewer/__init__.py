"""Picture of lineage: OpenLineage events of any producer as documents, and what draws them in a browser.

`document` reads the events of one run, `composed` joins the documents of several, `page` writes an HTML file.

The browser draws view documents and does not know OpenLineage. `static/` has plain ES modules, without a
build step and without dependencies: `mount(element, source)` draws into a shadow root, and a source is an
object with `load` and `previous`. Sources are the page's own data (`page.js`) and Airflow's routes
(`plugin.js`); a notebook shows a page in a frame. Documents are untrusted, because authors of DAGs can write
XComs: names become text nodes, never markup. Keys that are pressed in the viewer do not reach the page around
it, where a letter may be a shortcut.
"""
