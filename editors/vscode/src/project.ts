// A project: its directories, its runs, and the kinds of its YAML files.

import * as path from "node:path";
import { list, text } from "./results";

/** The directories of a project, as `asterisk config --format json` prints them. */
export interface Directories {
  root: string;
  /** Where the project's own scripts are. */
  scripts: string;
  /** Where the directories of runs are. */
  out: string;
}

export function directories(config: unknown, cwd: string): Directories {
  const root = text(config, "root") || cwd;
  const value = (name: string): unknown => list(config, "settings").find((setting) => text(setting, "name") === name);
  const scripts = text(value("scripts"), "value") || "scripts";
  const out = text(value("out"), "value") || path.join(".asterisk", "investigations");
  return { root, scripts: path.resolve(root, scripts), out: path.resolve(root, out) };
}

/** There is nothing recorded that a command could show. */
export class NoRun extends Error {
  constructor(readonly project: string) {
    super("There is no run yet: `asterisk run` makes one.");
  }
}

/** The id of the latest run, as `asterisk status --format json` lists them: newest first. */
export function latestRun(status: unknown): string | undefined {
  return text(list(status, "runs")[0], "run") || undefined;
}

/** The page of a run. */
export function reportOf(out: string, run: string): string {
  return path.join(out, run, "report.html");
}

/** A case of a run, to select one of. */
export interface Case {
  run: string;
  case: string;
  name: string;
  /** What it came to; empty if there is no verdict. */
  defect: string;
  title: string;
  status: string;
}

/** The cases that the language server knows (`asterisk/cases`): `{ runs: [{ run, cases: [{ case, name, .. }] }] }`. */
export function cases(answer: unknown): Case[] {
  return list(answer, "runs").flatMap((run) =>
    list(run, "cases").map((found) => ({
      run: text(run, "run"),
      case: text(found, "case"),
      name: text(found, "name") || text(found, "case"),
      defect: text(found, "defect"),
      title: text(found, "title"),
      status: text(found, "status"),
    })),
  );
}

/** The outcome of a case in a few words: its defect and title, or else its status. */
export function outcome({ defect, title, status }: Case): string {
  return [defect, title].filter((part) => part !== "").join(": ") || status;
}

/** Whether two cases are the same one of the same run. */
export function isSame(one: Pick<Case, "run" | "case"> | undefined, other: Pick<Case, "run" | "case"> | undefined): boolean {
  return one !== undefined && one.run === other?.run && one.case === other.case;
}

/** A text of the server as Markdown: pages that start with a heading are, others are lines to show as they are. */
export function asMarkdown(title: string, text: string): string {
  return text.startsWith("# ") ? text : `# ${title}\n\n\`\`\`text\n${text.trimEnd()}\n\`\`\`\n`;
}

/** The arguments of `asterisk explain`. */
export function explainArguments(run: string, found: string): string[] {
  return ["explain", run, "--case", found, "--format", "markdown"];
}

/** The kind of a YAML file of a project, for `asterisk doc --schema KIND`. */
export function schemaKind(file: string): string | undefined {
  const name = file.split(/[\\/]/).slice(-4).join("/");
  const stem = name.match(/([^/]*)\.ya?ml$/)?.[1];
  if (stem === undefined) {
    return undefined;
  }
  if (/(?:^|\/)asterisk\.yaml$/.test(name)) {
    return "project";
  }
  for (const [directory, kind] of [["domains", "domain"], ["signatures", "signatures"], ["scorecards", "scorecard"]] as const) {
    if (name.includes(`data/${directory}/`)) {
      return kind;
    }
  }
  if (/(?:^|\/)data\/[^/]*$/.test(name)) {
    return DATA.includes(stem) ? stem : undefined;
  }
  return name.includes("pipelines/") && !/(?:^|[-_.])policy$/.test(stem) ? "pipeline" : undefined;
}

/** The data files that have a form, by their stems. */
export const DATA: readonly string[] = [
  "ci",
  "elements",
  "evidence",
  "frames",
  "learn",
  "learned",
  "personas",
  "policy",
  "reading",
  "recall",
  "roots",
  "teams",
  "terms",
  "tracker",
];

/** The directories of projects: those with an `asterisk.yaml`, and the folders of the workspace that have none. */
export function roots(files: readonly string[], folders: readonly string[]): string[] {
  const found = files.map((file) => path.dirname(file));
  const bare = folders.filter((folder) => !found.some((directory) => isWithin(directory, folder)));
  return [...new Set([...found, ...bare])].sort();
}

/** The innermost of some directories that a file is in. */
export function ownerOf(file: string, directories: Iterable<string>): string | undefined {
  const around = [...directories].filter((directory) => isWithin(file, directory));
  return around.sort((one, other) => other.length - one.length)[0];
}

function isWithin(file: string, directory: string): boolean {
  const below = path.relative(directory, file);
  return below !== ".." && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below);
}
