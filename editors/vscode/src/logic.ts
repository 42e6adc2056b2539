// The parts of the extension that do not use VS Code, for tests.

export * from "./program";
export * from "./project";
export * from "./results";
