// A run as the server gives it, and walking through it. Nothing here needs VS Code, so that it can be tested without.

export interface Position {
  line: number;
  character: number;
}

export interface Location {
  uri: string;
  range: { start: Position; end: Position };
}

export interface Change {
  thread: string | null;
  variable: string;
  before: string;
  after: string;
}

export interface Step {
  step: number;
  thread: string | null;
  statement: string;
  location: Location | null;
  changes: Change[];
  /** Whether it is one of the steps that are repeated for ever. */
  repeated?: boolean;
}

export interface Run {
  target: string;
  threads: number;
  steps: Step[];
  violation: { location: Location | null; threads: string[] };
}

/** What stands behind a line while a step is shown. */
export function describe(step: Step): string {
  const changes = step.changes.map((c) => `${c.thread ? c.thread + "." : ""}${c.variable}: ${c.before} → ${c.after}`);
  return [`${step.repeated ? "↻ " : ""}${step.step}`, step.thread, changes.join(", ")].filter((part) => part).join("  ");
}

/** Walks through a run: before the first step, at each step, and at the violation. */
export class Walk {
  private at = 0;

  constructor(readonly run: Run) {}

  /** The place to show, and what to say there. */
  get here(): { location: Location | null; text: string } {
    const step = this.run.steps[this.at];
    if (step) return { location: step.location, text: describe(step) };
    const { location, threads } = this.run.violation;
    return { location, text: `violated: ${this.run.target}${threads.length ? " by " + threads.join(", ") : ""}` };
  }

  next(): void {
    this.at = Math.min(this.at + 1, this.run.steps.length);
  }

  previous(): void {
    this.at = Math.max(this.at - 1, 0);
  }
}
