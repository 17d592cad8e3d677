// Airflow's tab: a React component of ten lines around the viewer, and the routes that it asks.
//
// Airflow imports this module once, and takes the component from one of the two names.

import { mount } from "./viewer.js";

const API = new URL("../../v1/", import.meta.url);
const SENTENCES = {
  401: "Your session has ended: sign in again.",
  403: "You have no permission to see the lineage of this DAG.",
};

/** @param {string} path @param {Record<string, string | number | null | undefined>} query */
async function ask(path, query) {
  const url = new URL(path, API);
  for (const [name, value] of Object.entries(query)) if (value != null) url.searchParams.set(name, String(value));
  const response = await fetch(url, { headers: bearer(), credentials: "same-origin" }).catch(() => {
    throw new Error("The server could not be reached.");
  });
  const body = await response.json().catch(() => null);
  if (response.ok && body) return body;
  const told = SENTENCES[/** @type {keyof typeof SENTENCES} */ (response.status)] ?? body?.detail;
  const unknown = `The server answered with ${response.status}, and nothing that can be read.`;
  throw new Error(typeof told === "string" ? told : unknown);
}

/** Airflow 3.1.0 takes no cookie; its page keeps the token. */
function bearer() {
  const token = localStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token.replaceAll('"', "")}` } : undefined;
}

/** @param {Props} props @returns {Source} */
function sourceOf({ dagId, runId, taskId, mapIndex }) {
  const dag = `dags/${encodeURIComponent(dagId)}`;
  const map_index = Number(mapIndex ?? -1);
  if (!taskId) {
    return {
      load: () => (runId ? ask(`${dag}/run`, { run_id: runId }) : ask(`${dag}/latest`, {})),
      previous: async (id) => (await ask(`${dag}/run`, { run_id: id })).document,
    };
  }
  /** @param {string | undefined} run_id @param {string | number | null} [try_number] */
  const task = (run_id, try_number) => ask(`${dag}/task`, { run_id, task_id: taskId, map_index, try_number });
  const previous = async (/** @type {string} */ id) => (await task(id)).document;
  if (runId) {
    const shown = () => new URLSearchParams(location.search).get("try_number");
    return { load: ({ try: number }) => task(runId, number ?? shown()), previous };
  }
  return {
    load: () => ask(`${dag}/history`, { task_id: taskId, map_index }),
    previous,
    open: (id) => {
      const base = location.pathname.slice(0, location.pathname.indexOf("/dags/"));
      location.assign(`${base}/${dag}/runs/${encodeURIComponent(id)}/tasks/${encodeURIComponent(taskId)}`);
    },
  };
}

/** The page's own address, of which only our keys change. */
const address = {
  read: () => new URLSearchParams(location.search),
  write: (/** @type {URLSearchParams} */ parameters) => {
    const search = parameters.toString();
    history.replaceState(history.state, "", `${location.pathname}${search && `?${search}`}${location.hash}`);
  },
};

// Airflow's page may be wider than a narrow window, which cuts off its right side: the viewer stays in the window.
/** @param {HTMLElement} place @returns {() => void} what ends it */
function keptInWindow(place) {
  const fit = () => {
    place.style.maxWidth = `${Math.max(320, document.documentElement.clientWidth - place.getBoundingClientRect().left)}px`;
  };
  const watch = new ResizeObserver(fit);
  watch.observe(place.parentElement ?? place);
  addEventListener("resize", fit);
  fit();
  return () => {
    watch.disconnect();
    removeEventListener("resize", fit);
  };
}

/** @param {Props} props */
function SparkLineage({ dagId, runId, taskId, mapIndex }) {
  const { createElement, useEffect, useRef } = /** @type {any} */ (globalThis).React;
  const place = useRef(null);
  const source = () => sourceOf({ dagId, runId, taskId, mapIndex });
  useEffect(() => {
    const element = /** @type {any} */ (place.current);
    const ends = [mount(element, source(), { address }), keptInWindow(element)];
    return () => ends.forEach((end) => end());
  }, [dagId, runId, taskId, mapIndex]);
  return createElement("div", { ref: place, style: { height: "100%" } });
}

Object.assign(globalThis, { "Spark lineage": SparkLineage, AirflowPlugin: SparkLineage });
