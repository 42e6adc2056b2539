#!/usr/bin/env node
// Runs the binary from the package of this platform.
"use strict";
const { spawnSync } = require("child_process");

const name = `asterisk-rca-${process.platform}-${process.arch}`;
let binary;
try {
  binary = require.resolve(`${name}/bin/asterisk`);
} catch {
  console.error(`asterisk-rca has no binary here: the package ${name} is not installed.`);
  console.error("If there is one for this platform, install again with optional dependencies.");
  process.exit(2);
}
const ran = spawnSync(binary, process.argv.slice(2), { stdio: "inherit" });
if (ran.error) {
  console.error(ran.error.message);
  process.exit(2);
}
if (ran.signal) {
  process.kill(process.pid, ran.signal);
}
process.exit(ran.status ?? 1);
