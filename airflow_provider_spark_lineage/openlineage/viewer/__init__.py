"""Picture of lineage: OpenLineage events of any producer as documents, and what draws them in a browser.

`document` reads the events of one run, `composed` joins the documents of several, `page` writes an HTML file.
"""
