// The built program, if there is one, and projects to try it on.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import * as path from "node:path";
import { repository } from "./files.mjs";

const built = path.join(repository, "target/debug/asterisk");

/** The program: of the variable ASTERISK, or as built in the repository. */
export const program = process.env.ASTERISK ?? (existsSync(built) ? built : undefined);

/** Why tests of a command cannot run, or `false`. In CI they fail instead. */
export function skipped(...command) {
  if (process.env.CI) {
    return false;
  }
  if (program === undefined) {
    return "there is no built program: cargo build, or set ASTERISK";
  }
  const { status } = spawnSync(program, [...command, "--help"], { timeout: 30_000 });
  return status === 0 ? false : `${program} has no command \`${command.join(" ")}\``;
}

/** A project in a temporary directory, which is removed after the test. */
export function project(context, ...init) {
  const directory = mkdtempSync(path.join(tmpdir(), "asterisk-"));
  context.after(() => rmSync(directory, { recursive: true, force: true }));
  asterisk(directory, "init", ...init, ".");
  return directory;
}

/** Runs a command in a directory, and returns what it prints. */
export function asterisk(directory, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: directory, encoding: "utf8", timeout: 120_000 });
  if (error !== undefined || (status !== 0 && status !== 1)) {
    throw new Error(`asterisk ${args.join(" ")}: ${error ?? stderr}`);
  }
  return stdout;
}
