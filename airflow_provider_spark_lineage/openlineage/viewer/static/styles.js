// The looks, in light and dark. The part of the graph goes along with an exported picture.

export const LIGHT = `--surface:#fff;--raised:#f6f7f9;--line:#d5dae1;--text:#1b2430;--muted:#566172;--accent:#0b5fc0;
--soft:#e7f0fb;--read:#3d7ab8;--written:#1e7a49;--indirect:#7446bd;--bad:#b3261e;--bad-soft:#fdeeec;--warn:#855400;--warn-soft:#fff5de;`;

export const DARK = `--surface:#13171e;--raised:#1b212a;--line:#343d4b;--text:#e3e8ee;--muted:#9ca8b8;--accent:#73b5ff;
--soft:#1d2f47;--read:#6aa8e8;--written:#58bf86;--indirect:#bea0f5;--bad:#ff8f85;--bad-soft:#3a2022;--warn:#f0bb52;--warn-soft:#332a17;`;

const MONO = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace";

export const GRAPH_STYLE = `
text{font:12px ${MONO};fill:var(--text);color:var(--text)}
.frame{fill:var(--surface);stroke:var(--line)}
.title{font-weight:600;font-size:13px}
.detail{font:11.5px system-ui,sans-serif;fill:var(--muted);color:var(--muted)}
.mark,.check.warn{fill:var(--warn);color:var(--warn)} .check.bad{fill:var(--bad);color:var(--bad)} .check.good{fill:var(--written);color:var(--written)}
.hit{fill:transparent}
.side{fill:var(--read)} .written .side{fill:var(--written)} .both .side{fill:var(--accent)}
.unfinished .frame{stroke:var(--muted);stroke-dasharray:5 4} .unfinished .side{fill:var(--muted)}
.more .frame{stroke-dasharray:2 3} .task .frame{fill:var(--raised)} .task .title{font-size:12px;text-anchor:middle}
.failed .frame{stroke:var(--bad)}
.selected .frame{stroke:var(--accent);stroke-width:2}
.whole .name{font:italic 12px system-ui,sans-serif;fill:var(--muted);color:var(--muted)}
.traced .hit{fill:var(--soft)} .traced .name{fill:var(--accent);color:var(--accent);font-weight:600}
.flow,.edge{fill:none;stroke:var(--muted);stroke-opacity:.55} .flow.back{stroke-dasharray:8 3 2 3}
.edge{stroke:var(--accent);stroke-width:1.6;stroke-opacity:.9} .indirect{stroke:var(--indirect);stroke-dasharray:5 4}
.kind{font:11px system-ui,sans-serif;fill:var(--text);color:var(--text);paint-order:stroke;stroke:var(--surface);stroke-width:4px}
.dim .frame{stroke-opacity:.5} .dim .title,.dim .name{fill:var(--muted);color:var(--muted);font-weight:400} .dim .side,.dim .mark,.dim .check{opacity:.35}
path.dim{stroke-opacity:.16}
`;

export const STYLE = `
:host{display:block;height:100%}
*{box-sizing:border-box}
.viewer{${LIGHT}height:100%;min-height:30rem;display:flex;flex-direction:column;overflow:auto;background:var(--surface);
color:var(--text);font:13px/1.5 system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif;container-type:inline-size;color-scheme:light}
.viewer.dark{${DARK}color-scheme:dark}
h2,h3,h4,p,ul{margin:0;padding:0} h2{font-size:16px} h3{font-size:15px;overflow-wrap:anywhere} ul{list-style:none}
h4{font-size:12px;color:var(--muted);font-weight:600;margin:14px 0 4px}
button,select,input,a.link{font:inherit;color:inherit;background:var(--surface);border:1px solid var(--line);border-radius:6px;
min-height:28px;padding:2px 9px}
button{cursor:pointer} button:hover,.hit:hover{background:var(--raised)} a{color:var(--accent)}
:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
button.ref{border-color:transparent;background:none;padding:1px 5px;min-height:24px;min-width:24px;font:12px/1.5 ${MONO};color:var(--accent);text-align:left;overflow-wrap:anywhere}
button.ref:hover{background:var(--soft)} button[aria-pressed=true]{background:var(--soft);font-weight:600}
.muted{color:var(--muted)} .bad{color:var(--bad)} .warn{color:var(--warn)} .good{color:var(--written)}
header{display:flex;flex-wrap:wrap;gap:6px 14px;align-items:center;padding:10px 14px;border-bottom:1px solid var(--line)}
header .facts{flex-basis:100%;order:1} header h2{min-width:0;overflow-wrap:anywhere} header .find{margin-left:auto}
.state{border-radius:99px;padding:0 9px;background:var(--raised);border:1px solid var(--line)}
.state.bad{background:var(--bad-soft);border-color:var(--bad)}
.about{padding:6px 14px;border-bottom:1px solid var(--line)}
.note,.failure{padding:6px 14px;background:var(--warn-soft);overflow-wrap:anywhere} .failure{background:var(--bad-soft)}
.failure pre{max-height:24em;overflow:auto;margin:4px 0;white-space:pre-wrap;font:12px/1.5 ${MONO}}
.middle{flex:1 0 300px;display:flex;min-height:0}
.canvas{flex:1;position:relative;min-width:0;background:var(--raised);display:flex;flex-direction:column}
svg.graph{flex:1 1 0;min-height:0;width:100%;cursor:grab;touch-action:pan-y;user-select:none;outline:none} svg.graph:active{cursor:grabbing}
svg.graph:focus-visible{outline:2px solid var(--accent);outline-offset:-2px} [role=button]{cursor:pointer}
.graph .hit:hover{fill:var(--soft)} .graph:focus-visible .cursor .hit,.graph:focus-visible .cursor .frame{stroke:var(--accent);stroke-width:2}
.below{display:flex;flex-wrap:wrap;justify-content:space-between;align-items:center;gap:4px 12px;padding:4px 10px}
.canvas .empty{position:absolute;inset:0;pointer-events:none}
.tools{display:flex;gap:4px}
.legend{color:var(--muted)}
.legend i{display:inline-block;width:26px;border-top:2px solid var(--accent);vertical-align:middle;margin:0 6px} .legend i.indirect{margin-left:12px} .legend i.indirect{border-top:2px dashed var(--indirect)}
aside{width:340px;border-left:1px solid var(--line);padding:12px 14px;overflow:auto}
aside .top{display:flex;justify-content:space-between;gap:8px;align-items:start}
.copy{display:flex;gap:4px;margin:4px 0} .copyable{flex:1;min-width:0;font:12px/1.5 ${MONO}}
li.column{padding:2px 0;border-top:1px solid var(--line)} li li{padding-left:14px;color:var(--muted)}
.tabs{display:flex;flex-wrap:wrap;gap:2px;padding:4px 10px 0;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.tabs button{border:0;border-radius:6px 6px 0 0;border-bottom:2px solid transparent;color:var(--muted);background:none}
.tabs button[aria-selected=true]{color:var(--text);border-color:var(--accent);font-weight:600}
.pane{flex:0 1 260px;min-height:170px;overflow:auto;padding:8px 14px}
.bar{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin-bottom:6px}
table{border-collapse:collapse;width:100%} th,td{text-align:left;padding:3px 10px 3px 0;border-bottom:1px solid var(--line);vertical-align:baseline;overflow-wrap:break-word}
th{color:var(--muted);font-weight:600;white-space:nowrap} tbody th[scope=rowgroup]{padding-top:12px;color:var(--text)}
.find{position:relative} .found{position:absolute;z-index:2;right:0;width:min(26rem,90cqw);max-height:20rem;overflow:auto;background:var(--surface);
border:1px solid var(--line);border-radius:8px;box-shadow:0 6px 24px #0003;padding:4px} .found [role=option]{padding:4px 8px;border-radius:5px;overflow-wrap:anywhere;cursor:pointer}
.found [aria-selected=true]{background:var(--soft)}
.empty{margin:auto;padding:32px;max-width:38rem;text-align:center} .empty .copy{justify-content:center;max-width:26rem;margin:12px auto}
code{font:12px/1.5 ${MONO};overflow-wrap:anywhere} .failure button{margin:4px 0}
.spark{vertical-align:middle} .spark polyline{fill:none;stroke:var(--accent);stroke-width:1.5}
.viewer.page{flex-direction:row;height:100vh} .page nav{width:260px;display:flex;flex-direction:column;background:var(--raised);border-right:1px solid var(--line)}
.page nav[hidden]{display:none} .page .head{padding:10px 10px 4px} .page .head input{width:100%;margin-bottom:6px}
.page .list{flex:1;min-height:0;overflow:auto;padding:0 10px 10px;background:linear-gradient(var(--raised) 30%,transparent),linear-gradient(transparent,var(--raised) 70%) 0 100%,
radial-gradient(farthest-side at 50% 0,#0003,transparent),radial-gradient(farthest-side at 50% 100%,#0003,transparent) 0 100%;
background-size:100% 36px,100% 36px,100% 12px,100% 12px;background-attachment:local,local,scroll,scroll;background-repeat:no-repeat} .page .here{flex:1;min-width:0;min-height:0} .page main{display:flex;flex-direction:column}
.page nav button{display:block;width:100%;text-align:left;border-color:transparent;background:none;overflow-wrap:anywhere}
.page nav [aria-current]{background:var(--soft);font-weight:600}
@container (max-width:700px){.middle{flex-direction:column;flex:none} .canvas{flex:none;height:320px} aside{width:auto;border-left:0;border-top:1px solid var(--line)}
.pane{flex:none;max-height:none} .tools,.legend{font-size:12px}}
@media (max-width:700px){.viewer.page{flex-direction:column} .page nav{width:auto;max-height:220px;border-right:0;border-bottom:1px solid var(--line)}}
@media print{.viewer,.viewer.dark{${LIGHT}height:auto;overflow:visible} button:not(.ref),input,select,.tools,.tabs,.page nav{display:none} .pane,aside{overflow:visible;max-height:none}}
${GRAPH_STYLE}
`;

// Give a shadow root the looks, without a style element: pages may forbid these.
/** @param {ShadowRoot} root */
export function dress(root) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(STYLE);
  root.adoptedStyleSheets = [sheet];
}

// Follow the theme of the page, else of the system. Returns what ends it.
/** @param {Element} viewer */
export function followTheme(viewer) {
  const page = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const apply = () => {
    const own = ["dark", "light"].find((name) => page.classList.contains(name));
    viewer.classList.toggle("dark", own ? own === "dark" : system.matches);
  };
  const watch = new MutationObserver(apply);
  watch.observe(page, { attributes: true, attributeFilter: ["class"] });
  system.addEventListener("change", apply);
  apply();
  return () => {
    watch.disconnect();
    system.removeEventListener("change", apply);
  };
}
