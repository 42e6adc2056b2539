// Files of the repository.

import { readdirSync, readFileSync } from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";

export const extension = fileURLToPath(new URL("../..", import.meta.url));
export const repository = path.resolve(extension, "../..");

/** The files of a directory of the repository with an ending, with their texts. */
export function files(directory, ending) {
  const root = path.join(repository, directory);
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => ({ name: `${directory}/${name}`, text: readFileSync(path.join(root, name), "utf8") }));
}

export function read(name) {
  return readFileSync(path.join(extension, name), "utf8");
}
