// Types of the viewer, for the editor and for `scripts/viewer_types.sh`: no browser reads this file. Its names are global.

// ---- The view document and the answer, as document.js leaves them

interface Statistics { rows?: number; size_bytes?: number; files?: number }

interface Dataset {
  namespace: string;
  name: string;
  /** The shortest distinct end of the name. */
  label: string;
  read: boolean;
  written: boolean;
  columns: { name: string; type: string }[];
  has_schema: boolean;
  change: string;
  previous: { namespace: string; name: string } | null;
  reads: Statistics;
  writes: Statistics;
  checks: Check[];
  metrics: string[];
  format: string;
  catalog: string;
  /** No event says that it was written. */
  unfinished: boolean;
  /** How many jobs that read or write it are not in the document. */
  beyond: number;
}

/** The result of a check; texts, empty if they are unknown. */
interface Check {
  status: string;
  name: string;
  column: string;
  severity: string;
  expected: string;
  found: string;
  /** Why there is no result. */
  problem: string;
  task: number | null;
}

interface Line { from: number; to: number }

interface Flow extends Line { task: number | null }

interface Edge extends Line {
  field: string;
  /** Null: the field decides which rows the output has. */
  column: string | null;
  type: string;
  subtype: string;
  masking: boolean;
}

/** What reads and writes: numbers of datasets. */
interface Step { reads: number[]; writes: number[] }

interface Task extends Step { title: string; task_id: string; map_index: number | null; state: string; note: string }

interface Execution extends Step {
  number: number;
  name: string;
  began: string;
  ended: string;
  state: string;
  rows: number | null;
  /** The beginning of its statement, or the line of the program that ran it. */
  statement: string;
}

interface Failure { message: string; error_class: string; sql_state: string; execution: string; fragment: string }

interface Gap { where: string; kind: string | null; reason: string; dataset: number | null; column: string | null; task: number | null }

interface ViewDocument {
  version: number;
  title: string;
  run: { state: string; began: string; ended: string; engine: string; task_id: string };
  datasets: Dataset[];
  flows: Flow[];
  edges: Edge[];
  /** All rows of one dataset lead to all rows of another. Empty: not known of these runs. */
  rows: Link[];
  tasks: Task[];
  executions: Execution[];
  failures: Failure[];
  gaps: Gap[];
  /** Of no single dataset. */
  checks: Check[];
  bottlenecks: { kind: string; message: string }[];
  facts: { name: string; text: string }[];
  links: { name: string; href: string }[];
  planned: boolean;
  reports_gaps: boolean;
  /** Sentences about what could not be read. */
  problems: string[];
}

interface Past {
  id: string;
  label: string;
  state: string;
  began: string;
  rows: number | null;
  size_bytes: number | null;
  schema_changed: boolean;
  edges_changed: boolean;
}

interface Answer {
  kind: string;
  document: ViewDocument | null;
  reason: { sentence: string; command: string } | null;
  /** Which run this is, where the reader has not chosen it. */
  about: string;
  notes: string[];
  tries: number[];
  try: number | null;
  previous: { id: string; label: string }[];
  history: Past[];
}

/** Returns what a value means, or undefined if it has another shape. */
type Reader = (value: any, problems: string[]) => any;

// ---- Traces and differences

/** For each dataset: its columns, and the numbers of their edges. */
type Ends = Map<string | null, number[]>[];

interface Trace { datasets: Set<number>; columns: Map<number, Set<string | null>>; edges: Set<number> }

interface Change { sign: "+" | "−" | "~"; what: string; dataset: Dataset; column?: string | null; from?: string; to?: string }

interface Amount { dataset: Dataset; what: "rows" | "size_bytes"; before: number; now: number }

// ---- Layout and picture

interface Link { from: number; to: number }

interface Place { key: string[]; width: number; height: number; last: boolean }

interface Places {
  x: number[];
  y: number[];
  /** The points of each layer from top to bottom: boxes, and behind them bends of links. */
  layers: number[][];
  turned: Set<number>;
  /** The bends of each link. */
  bends: number[][];
}

interface Box extends Place {
  kind: "dataset" | "task" | "more";
  index: number;
  /** The datasets of a box that stands for many. */
  members: number[];
}

interface Picture {
  boxes: Box[];
  links: Link[];
  /** Of each dataset, and behind them of each task. */
  boxOf: number[];
}

interface Row {
  /** Null: all rows of the dataset. */
  name: string | null;
  /** Columns that are not shown. */
  more: number;
  traced: boolean;
}

// ---- The viewer

interface Source {
  load: (which: { try: number | null }) => Promise<unknown>;
  previous: (id: string) => Promise<unknown>;
  open?: (id: string) => void;
}

interface Address { read: () => URLSearchParams; write: (parameters: URLSearchParams) => void }

interface Opened {
  dataset: number | null;
  opened: Set<number>;
  /** Rows shown of a dataset. */
  most: Map<number, number>;
  filters: Map<number, string>;
  /** How many datasets with the same lines get a box of their own. */
  sides: number;
}

interface State extends Opened {
  /** Undefined: none; null: all rows of the dataset. */
  column: string | null | undefined;
  tab: string;
  vs: string;
  /** Whether a trace goes on from all rows to columns. */
  byRows: boolean;
  /** Datasets that stay lit while the others are dimmed. */
  lit: number[] | null;
  /** The name of the button that lit them. */
  lightOf: string | null;
}

interface GraphState extends Opened { trace: Trace | null; lit: Set<number> | null }

/** What is drawn. */
interface Scene {
  document: ViewDocument;
  state: GraphState;
  picture: Picture;
  places: Places;
  tops: number[];
  heights: number[];
  rows: Row[][];
  /** Datasets and columns with a gap, as JSON. */
  withGap: Set<string>;
  /** Of each dataset, what its box has as title. */
  titles: string[];
  /** Of each task, what its pill has as title. */
  taskTitles: string[];
}

interface Acts {
  select: (dataset: number) => void;
  toggle: (dataset: number) => void;
  more: (dataset: number) => void;
  moreOfSide: () => void;
  trace: (dataset: number, column: string | null) => void;
  followRows: () => void;
  leave: () => void;
  light: (datasets: number[] | null, name?: string) => void;
  filter: (dataset: number, text: string) => void;
  compare: (id: string) => void;
}

interface Context {
  document: ViewDocument;
  answer: Answer;
  state: State;
  act: Acts;
  source: { previous: (id: string) => Promise<ViewDocument | null>; open?: (id: string) => void };
  trace: Trace | null;
}

interface Tab { id: string; title: string; draw: (context: Context) => Node }

/** What Airflow gives to the component of a tab. */
interface Props { dagId: string; runId?: string; taskId?: string; mapIndex?: string }

/** A run of the standalone page. */
interface PageRun { key: string; group: string; label: string; time: string; state: string; answer: any }

interface Point { x: number; y: number }

interface Region { left: number; right: number; top: number; bottom: number }

/** What an element holds: lists hold more of it. */
type Child = Node | string | number | null | undefined | false | any[];

/** Functions are listeners; null, undefined and false leave an attribute out. */
type Attributes = Record<string, any>;
