// A project: its directories, its runs, and the kinds of its YAML files.

import * as path from "node:path";
import { isObject, list, text } from "./results";

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
  /** What it came to, in a few words. */
  detail: string;
  selected: boolean;
}

/** The cases that the language server knows (`asterisk/cases`): `{ runs: [{ run, cases: [{ case, name, .. }] }] }`. */
export function cases(answer: unknown): Case[] {
  const selected = isObject(answer) && isObject(answer["selected"]) ? answer["selected"] : undefined;
  return list(answer, "runs").flatMap((run) =>
    list(run, "cases").map((found) => {
      const id = { run: text(run, "run"), case: text(found, "case") };
      const parts = [text(found, "defect"), text(found, "title") || text(found, "status")];
      return {
        ...id,
        name: text(found, "name") || id.case,
        detail: parts.filter((part) => part !== "").join(", "),
        selected: selected !== undefined && text(selected, "run") === id.run && text(selected, "case") === id.case,
      };
    }),
  );
}

/** The arguments of `asterisk explain`. */
export function explainArguments(run: string | undefined, found: string | undefined): string[] {
  return ["explain", run ?? "latest", ...(found === undefined ? [] : ["--case", found]), "--format", "markdown"];
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

/** The nearest directory from a file upward, within a folder, that is a project: it has `asterisk.yaml` or `.asterisk`. */
export function projectOf(file: string, folder: string, exists: (path: string) => boolean): string {
  for (let directory = path.dirname(file); ; directory = path.dirname(directory)) {
    const below = path.relative(folder, directory);
    if (below.startsWith("..") || path.isAbsolute(below)) {
      return folder;
    }
    if (exists(path.join(directory, "asterisk.yaml")) || exists(path.join(directory, ".asterisk"))) {
      return directory;
    }
    if (below === "") {
      return folder;
    }
  }
}
