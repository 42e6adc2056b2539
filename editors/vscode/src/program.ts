// Starts the program `asterisk` and reads what it prints.

import { execFile } from "node:child_process";
import { homedir } from "node:os";
import * as path from "node:path";

/** What a command printed. */
export interface Output {
  code: number;
  stdout: string;
  stderr: string;
}

/** The program could not be started. */
export class MissingProgram extends Error {
  constructor(readonly program: string) {
    super(`Cannot start \`${program}\`. Install Asterisk, or set \`asterisk.path\` to the program.`);
  }
}

/** The program reported an error; the message is what it printed first. */
export class ProgramError extends Error {
  constructor(
    message: string,
    readonly output: Output,
  ) {
    super(message);
  }
}

/** The program that a setting names, with `~` and `${workspaceFolder}` replaced. */
export function programOf(setting: string, folder: string | undefined): string {
  const name = setting.trim() || "asterisk";
  const here = name.replaceAll("${workspaceFolder}", folder ?? ".");
  const there = here === "~" || here.startsWith("~/") ? path.join(homedir(), here.slice(1)) : here;
  // A path is relative to the folder, a bare name is looked up in PATH.
  return /[\\/]/.test(there) && folder !== undefined ? path.resolve(folder, there) : there;
}

/** Runs a command to its end, whatever its exit code. */
export function run(program: string, args: readonly string[], cwd: string, signal?: AbortSignal): Promise<Output> {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NO_COLOR: "1" };
    execFile(program, args, { cwd, env, maxBuffer: 256 << 20, ...(signal && { signal }) }, (error, stdout, stderr) => {
      if (error === null) {
        resolve({ code: 0, stdout, stderr });
      } else if (typeof error.code === "number") {
        resolve({ code: error.code, stdout, stderr });
      } else if (error.code === "ENOENT" || error.code === "EACCES") {
        reject(new MissingProgram(program));
      } else {
        reject(error);
      }
    });
  });
}

/** The JSON that a command printed. Commands that find something wrong print it too, and exit with another code. */
export function parseJson(output: Output): unknown {
  try {
    return JSON.parse(output.stdout);
  } catch {
    throw new ProgramError(firstMessage(output), output);
  }
}

/** The message of the first diagnostic among what a command printed to its standard error. */
export function firstMessage({ code, stderr }: Output): string {
  const message = stderr.split("\n").map((line) => line.match(/^\s*[×x⚠!]\s+(.*)$/u)?.[1]).find((line) => line !== undefined);
  const first = message ?? stderr.split("\n").find((line) => line.trim() !== "");
  return first?.trim() ?? `asterisk exited with code ${code}`;
}
