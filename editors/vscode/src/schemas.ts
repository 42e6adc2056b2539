// JSON Schemas for the YAML extension by Red Hat, by `asterisk doc --schema`.

import * as vscode from "vscode";
import type { Host } from "./host";
import { schemaKind } from "./project";
import type { Projects } from "./projects";

const SCHEME = "asterisk-schema";

/** The part of the YAML extension's interface that is used here. */
interface Yaml {
  registerContributor(
    schema: string,
    requestSchema: (resource: string) => string | undefined,
    requestContent: (uri: string) => Promise<string> | string,
  ): boolean;
}

export async function registerSchemas(host: Host, projects: Projects): Promise<void> {
  const extension = vscode.extensions.getExtension<Yaml>("redhat.vscode-yaml");
  if (extension === undefined || !vscode.workspace.getConfiguration("asterisk").get<boolean>("schemas", true)) {
    return;
  }
  const yaml = extension.isActive ? extension.exports : await extension.activate();
  const known = new Map<string, Promise<string>>();
  const content = (uri: string): Promise<string> => {
    const kind = uri.slice(`${SCHEME}://schema/`.length);
    // The schemas are those of the program, whatever the project.
    const project = projects.current() ?? projects.all()[0];
    const found = known.get(kind) ?? host.run(["doc", "--schema", kind], project?.root ?? ".").then((output) => output.stdout);
    known.set(kind, found);
    return found;
  };
  const schema = (resource: string): string | undefined => {
    const kind = schemaKind(vscode.Uri.parse(resource).path);
    return kind === undefined ? undefined : `${SCHEME}://schema/${kind}`;
  };
  yaml.registerContributor(SCHEME, schema, content);
}
